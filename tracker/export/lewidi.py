"""Soft labels: an object of items with each annotator's answer, and the answers' shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from sqlalchemy import Connection

from tracker import queries
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, JointPattern
from tracker.export.documents import Document, encoded, json_object
from tracker.export.items import ATTRIBUTE, item_columns, rows_with_items
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.question import QuestionInfo
from tracker.queries import AnswerFilter

_KEYS = {"text", "annotators", "annotations", "number of annotations", "soft_label"}


def lewidi_document(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter
) -> Document:
    """Return what each annotator answered to each item, and the share of each category.

    Of several categories an answer, each has the share of annotators who gave it (``"1"``) and
    who did not (``"0"``). Raises InvalidOption for a question of spans.
    """
    if question.answers == "spans":
        raise InvalidOption(f"{question.told} of spans, has no soft labels", "--for conll")
    people = annotator_names(connection, question.project)
    names = category_names(connection, question)
    items = item_names(connection, question.project)
    known = item_columns(connection, question.project)
    selection = queries.select_answers(connection, question, choice)
    given = (
        (items[item], pattern)
        for item, pattern in queries.select_item_joint_patterns(connection, selection)
    )
    document = Document("item")

    def told(answer: Answer) -> Any:
        labels = [names[one] for one in answer]
        plain = len(labels) == 1 and "," not in labels[0]
        return labels[0] if plain else labels

    def members() -> Iterator[str]:
        with closing(rows_with_items(connection, question.project, given, known)) as rows:
            for name, pattern, *values in rows:
                text, facts = _facts(dict(zip(known, values, strict=True)), document.left_out)
                item = {
                    "text": text,
                    "annotators": ",".join(people[who] for who, _ in pattern),
                    "annotations": {people[who]: told(answer) for who, answer in pattern},
                    "number of annotations": len(pattern),
                    "soft_label": _soft(pattern, names, question.answers == "several"),
                    **facts,
                }
                yield f"{encoded(name)}: {encoded(item)}"

    document.parts = json_object(document.counted(members()))
    return document


def _facts(known: dict[str, Any], left_out: Counter[str]) -> tuple[str, dict[str, str]]:
    """Return an item's text, and its attributes but those that a key of the format hides."""
    facts = {
        name.removeprefix(ATTRIBUTE): value
        for name, value in known.items()
        if name.startswith(ATTRIBUTE) and value is not None
    }
    hidden = facts.keys() & _KEYS
    left_out.update(f"the attribute {name!r}" for name in sorted(hidden))
    return known.get("text") or "", {name: facts[name] for name in facts if name not in hidden}


def _soft(pattern: JointPattern, names: dict[int, str], several: bool) -> dict[str, Any]:
    votes = Counter(one for _, answer in pattern for one in answer)
    shares = {names[one]: votes[one] / len(pattern) for one in names}
    if not several:
        return shares
    return {name: {"0": 1 - share, "1": share} for name, share in shares.items()}
