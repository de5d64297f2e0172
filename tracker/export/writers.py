"""What is written as a document that another program reads, not as rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, JointPattern
from tracker.counts.annotator_patterns import select_item_joint_patterns
from tracker.counts.filter import AnswerFilter, select_answers
from tracker.export.consensus import ConsensusItem, consensus_by_item
from tracker.export.labels import ATTRIBUTE, item_columns, rows_with_items
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.names import is_numeric_category_name
from tracker.projects.questions import QuestionInfo


@dataclass
class Document:
    unit: str  # what it holds, such as a task
    parts: Generator[str, None, None] = field(default_factory=lambda: json_list(()))
    """Its text, piece by piece."""
    left_out: Counter[str] = field(default_factory=Counter)
    """What could not be written, with its number; whole once all parts are read."""
    number: int = 0  # of units that were written so far

    def counted(self, units: Iterable[str]) -> Generator[str, None, None]:
        for unit in units:
            self.number += 1
            yield unit


def json_list(values: Iterable[str]) -> Generator[str, None, None]:
    yield from _lines("[", values, "]")


def json_object(members: Iterable[str]) -> Generator[str, None, None]:
    yield from _lines("{", members, "}")


def encoded(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _lines(start: str, values: Iterable[str], end: str) -> Generator[str, None, None]:
    yield start
    between = "\n"
    for value in values:
        yield between + value
        between = ",\n"
    yield f"\n{end}\n"


# -- The consensus on spans as CoNLL: a token a line with its tag in IOB2 -------------------------


_TOKEN = re.compile(r"\w+|[^\w\s]")


def conll_document(
    connection: Connection, question: QuestionInfo, method: str, choice: AnswerFilter
) -> Document:
    """Return the tokens of each item with the tags of the spans that most annotators marked.

    Of spans that overlap the one with more votes is kept. A span of characters is widened to the
    edges of its tokens. Raises InvalidOption for a question that is not of spans.
    """
    if question.answers != "spans":
        raise InvalidOption(
            f"{question.description}, has no spans", "write rows, or --for label-studio"
        )
    document = Document("sentence")
    left_out = document.left_out
    items = consensus_by_item(connection, question, method, choice)
    in_tokens = question.offsets == "tokens"

    def sentences() -> Iterator[str]:
        for item in items:
            tokens = _tokens(item, in_tokens)
            if tokens is None:
                left_out["an item whose tokens are not known"] += 1
                continue
            spans = [row for row in item.rows if row["category"] is not None]
            tags = _tags(tokens, spans, left_out)
            lines = (f"{token}\t{tag}" for (token, _, _), tag in zip(tokens, tags, strict=True))
            yield "\n".join([f"# sent_id = {' '.join(item.name.split())}", *lines, "\n"])

    document.parts = document.counted(sentences())
    return document


Token = tuple[str, int, int]
"""Its text, and where it begins and ends."""


def _tokens(item: ConsensusItem, in_tokens: bool) -> list[Token] | None:
    if not in_tokens:
        words_and_signs = _TOKEN.finditer(item.text or "")
        return [(match[0], match.start(), match.end()) for match in words_and_signs] or None
    words = (item.text or "").split()
    length = item.known.get("n_tokens") or len(words)
    if not length:
        return None
    if len(words) != length:
        words = ["_"] * length
    return [(word, n, n + 1) for n, word in enumerate(words)]


def _tags(
    tokens: Sequence[Token], spans: list[dict[str, Any]], left_out: Counter[str]
) -> list[str]:
    tags = ["O"] * len(tokens)
    for span in sorted(spans, key=lambda row: (-row["confidence"], row["start"], -row["end"])):
        start, end, category = span["start"], span["end"], span["category"]
        inside = [n for n, (_, first, last) in enumerate(tokens) if first < end and last > start]
        if not inside:
            left_out["a span without a token"] += 1
        elif any(tags[n] != "O" for n in inside):
            left_out["a span that overlaps another"] += 1
        else:
            if tokens[inside[0]][1] != start or tokens[inside[-1]][2] != end:
                left_out["an edge of a span within a token: it was widened"] += 1
            tags[inside[0]] = f"B-{category}"
            for n in inside[1:]:
                tags[n] = f"I-{category}"
    return tags


# -- The consensus as predictions that Label Studio imports ---------------------------------------


_RATED = {"ordinal": "rating", "interval": "number", "ratio": "number"}
"""The controls that hold a number, by the scale that their answers are read with."""


def label_studio_document(
    connection: Connection,
    question: QuestionInfo,
    method: str,
    choice: AnswerFilter,
    *,
    control: str | None = None,
    on: str | None = None,
) -> Document:
    """Return tasks with the consensus as a prediction of each.

    The ``control`` (``from_name``) has the question's name by default; ``on`` is the name of the
    object and of its key in the data (``to_name``), by default ``text``. An item without a
    consensus is a task without a prediction. Raises InvalidOption for spans that are counted in
    tokens.
    """
    if question.answers == "spans" and question.offsets == "tokens":
        raise InvalidOption(
            f"{question.description}, has spans of tokens, and Label Studio counts characters",
            "write them with --for conll",
        )
    document = Document("task")
    tasks = _Tasks(
        question, f"consensus-{method}", control or question.name, on or "text", document.left_out
    )
    items = consensus_by_item(connection, question, method, choice)
    document.parts = json_list(document.counted(map(tasks.task, items)))
    return document


@dataclass
class _Tasks:
    question: QuestionInfo
    version: str
    control: str
    on: str
    left_out: Counter[str]

    def task(self, item: ConsensusItem) -> str:
        data: dict[str, Any] = {
            name.removeprefix(ATTRIBUTE): value
            for name, value in item.known.items()
            if value is not None and name.startswith(ATTRIBUTE)
        }
        data |= {"item": item.name} | ({} if item.text is None else {self.on: item.text})
        if item.text is None:
            self.left_out["the text of an item, which is not known"] += 1
        first = item.rows[0]
        predictions = []
        if first["category"] is None and (self.question.answers == "one" or first["tied"]):
            self.left_out["a consensus, because of a tie"] += 1
        else:
            filled = [row for row in item.rows if row["category"] is not None]
            predictions.append({
                "model_version": self.version,
                "score": min(row["confidence"] for row in item.rows),
                "result": self._result(filled, item.text) if filled else [],
            })  # fmt: skip
        number = int(item.name) if item.name.isdecimal() else item.name
        return encoded({"id": number, "data": data, "annotations": [], "predictions": predictions})

    def _result(self, rows: list[dict[str, Any]], text: str | None) -> list[dict[str, Any]]:
        if self.question.answers == "spans":
            regions = [("labels", self._span(row, text), row["confidence"]) for row in rows]
        else:
            kind, value = self._value([row["category"] for row in rows])
            regions = [(kind, value, None)]
        return [
            {"id": f"{self.control}-{n}", "from_name": self.control, "to_name": self.on,
             "type": kind, "value": value, **({} if score is None else {"score": score})}
            for n, (kind, value, score) in enumerate(regions, 1)
        ]  # fmt: skip

    def _value(self, categories: list[str]) -> tuple[str, dict[str, Any]]:
        kind = _RATED.get(self.question.scale)
        if kind and self.question.answers == "one" and is_numeric_category_name(categories[0]):
            number = float(categories[0])
            integral = number.is_integer()
            if integral or kind == "number":
                return kind, {kind: int(number) if integral else number}
        return "choices", {"choices": categories}

    @staticmethod
    def _span(row: dict[str, Any], text: str | None) -> dict[str, Any]:
        start, end = row["start"], row["end"]
        return {
            "start": start, "end": end,
            **({} if text is None else {"text": text[start:end]}), "labels": [row["category"]],
        }  # fmt: skip


# -- Soft labels: an object of items with each annotator's answer, and the answers' shares --------


_KEYS = {"text", "annotators", "annotations", "number of annotations", "soft_label"}


def lewidi_document(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter
) -> Document:
    """Return what each annotator answered to each item, and the share of each category.

    Of several categories an answer, each has the share of annotators who gave it (``"1"``) and
    who did not (``"0"``). Raises InvalidOption for a question of spans.
    """
    if question.answers == "spans":
        raise InvalidOption(f"{question.description} of spans, has no soft labels", "--for conll")
    people = annotator_names(connection, question.project)
    names = category_names(connection, question)
    items = item_names(connection, question.project)
    known = item_columns(connection, question.project)
    selection = select_answers(connection, question, choice)
    patterns = (
        (items[item], pattern)
        for item, pattern in select_item_joint_patterns(connection, selection)
    )
    document = Document("item")

    def labels_of(answer: Answer) -> Any:
        labels = [names[category] for category in answer]
        plain = len(labels) == 1 and "," not in labels[0]
        return labels[0] if plain else labels

    def members() -> Iterator[str]:
        with closing(rows_with_items(connection, question.project, patterns, known)) as rows:
            for name, pattern, *values in rows:
                text, facts = _facts(dict(zip(known, values, strict=True)), document.left_out)
                item = {
                    "text": text,
                    "annotators": ",".join(people[who] for who, _ in pattern),
                    "annotations": {people[who]: labels_of(answer) for who, answer in pattern},
                    "number of annotations": len(pattern),
                    "soft_label": _soft(pattern, names, question.answers == "several"),
                    **facts,
                }
                yield f"{encoded(name)}: {encoded(item)}"

    document.parts = json_object(document.counted(members()))
    return document


def _facts(known: dict[str, Any], left_out: Counter[str]) -> tuple[str, dict[str, str]]:
    facts = {
        name.removeprefix(ATTRIBUTE): value
        for name, value in known.items()
        if name.startswith(ATTRIBUTE) and value is not None
    }
    hidden = facts.keys() & _KEYS
    left_out.update(f"the attribute {name!r}" for name in sorted(hidden))
    return known.get("text") or "", {name: facts[name] for name in facts if name not in hidden}


def _soft(pattern: JointPattern, names: dict[int, str], several: bool) -> dict[str, Any]:
    votes = Counter(category for _, answer in pattern for category in answer)
    shares = {name: votes[category] / len(pattern) for category, name in names.items()}
    if not several:
        return shares
    return {name: {"0": 1 - share, "1": share} for name, share in shares.items()}
