"""The items that show a finding best, by name, with the own answer and the others'."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from tracker import queries
from tracker.audit.evidence import Evidence
from tracker.audit.kind import Flag, Key
from tracker.audit.kinds import KINDS
from tracker.core.tallies import Answer, Pattern, pattern_without
from tracker.projects.categories import category_names
from tracker.projects.items import item_names_of
from tracker.queries import Selection

Row = dict[str, Any]

_PAIR_DEPTH = 20  # times as many items of each of a pair, to find those that both answered alike


def finding_examples(
    connection: Connection,
    selection: Selection,
    evidence: Evidence,
    flags: Collection[Flag],
    most: int,
) -> dict[Key, list[Row]]:
    """Return up to ``most`` items for each finding, the most telling first.

    A row has ``item``, ``answer`` and ``others`` (how many gave each answer); of answers given
    again ``answer`` and ``again``; of fast answers ``seconds`` and ``others_seconds``. If the own
    answer has a confidence or a comment, so has its row.
    """
    rows_of = {flag.key: KINDS[flag.kind].rows for flag in flags}
    who = {
        rows: {flag.annotator for flag in flags if rows_of[flag.key] == rows}
        for rows in ("fastest", "changed")
    }
    wanted = {
        flag.key: best_answers_for_finding(flag, evidence, most)
        for flag in flags
        if rows_of[flag.key] == "answers"
    }
    found = _items(connection, selection, wanted, most, evidence.model_ids)
    fast = queries.select_fastest_items(connection, selection, who["fastest"], most)
    changed = queries.select_changed_examples(connection, selection, who["changed"], most)

    listed: list[Sequence[tuple[Any, ...]]] = [*found.values(), *fast.values(), *changed.values()]
    words = _Words(
        item_names_of(
            connection, selection.question.project, sorted({i for one in listed for i, *_ in one})
        ),
        category_names(connection, selection.question),
    )
    rows = {key: [words.answer(*one) for one in shown] for key, shown in found.items()}
    _add_details(connection, selection, found, rows)
    for flag in flags:
        if rows_of[flag.key] == "fastest":
            rows[flag.key] = [words.timed(*one) for one in fast.get(flag.annotator, ())]
        elif rows_of[flag.key] == "changed":
            rows[flag.key] = [words.again(*one) for one in changed.get(flag.annotator, ())]
    return rows


def _add_details(
    connection: Connection,
    selection: Selection,
    found: Mapping[Key, Sequence[tuple[int, Answer, Pattern]]],
    rows: Mapping[Key, list[Row]],
) -> None:
    """Add the confidence and the comment to the rows of answers that have one of them."""
    items = {item for shown in found.values() for item, *_ in shown}
    annotators = {key[0] for key in found}
    told = queries.select_answer_details(connection, selection, annotators, items)
    for key, shown in found.items():
        for row, (item, *_) in zip(rows[key], shown, strict=True):
            if (key[0], item) in told:
                row["confidence"], row["comment"] = told[key[0], item]


def _items(
    connection: Connection,
    selection: Selection,
    wanted: Mapping[Key, list[tuple[Answer, Pattern]]],
    most: int,
    models: Collection[int],
) -> dict[Key, list[tuple[int, Answer, Pattern]]]:
    """Items of the answers wanted; of a pair, those that both answered alike."""
    keys: dict[int, set[tuple[Answer, Pattern]]] = {}
    for (annotator, _, _, other), answers in wanted.items():
        keys.setdefault(annotator, set()).update(answers)
        if other is not None and other not in models:
            keys.setdefault(other, set()).update(answers)
    depth = most * _PAIR_DEPTH if any(other for *_, other in wanted) else most
    of = queries.select_example_items(connection, selection, keys, depth)
    found = {}
    by_models = _answers_of_models(connection, selection, wanted, of, models)
    for key, answers in wanted.items():
        annotator, _, _, other = key
        rows = []
        for own, pattern in answers:
            both = None
            if other is not None:
                both = by_models.get((other, own)) or {*of.get((other, own, pattern), ())}
            items = of.get((annotator, own, pattern), ())
            rows += [(item, own, pattern) for item in items if both is None or item in both]
        found[key] = rows[:most]
    return found


def _answers_of_models(
    connection: Connection,
    selection: Selection,
    wanted: Collection[Key],
    of: Mapping[tuple[int, Answer, Pattern], list[int]],
    models: Collection[int],
) -> dict[tuple[int, Answer], set[int]]:
    """Return to which of the listed items a model that somebody copies gave which answer."""
    copied = {key[3] for key in wanted if key[3] is not None} & {*models}
    if not copied:
        return {}
    copying = {key[0] for key in wanted if key[3] in copied}
    met = {item for (who, *_), items in of.items() if who in copying for item in items}
    beside = replace(selection, only=frozenset(copied), left_out=frozenset())
    given: dict[tuple[int, Answer], set[int]] = {}
    for item, answers in queries.select_answers_to_items(connection, beside, met).items():
        for model, answer in answers:
            given.setdefault((model, answer), set()).add(item)
    return given


@dataclass(frozen=True)
class _Words:
    """Rows with names in place of numbers."""

    items: Mapping[int, str]
    categories: Mapping[int, str]

    def answer(self, item: int, own: Answer, pattern: Pattern) -> Row:
        others = {self._told(answer): n for answer, n in pattern_without(pattern, own)}
        return {"item": self.items[item], "answer": self._told(own), "others": others}

    def timed(self, item: int, seconds: float, others: float) -> Row:
        return {"item": self.items[item], "seconds": seconds, "others_seconds": others}

    def again(self, item: int, earlier: Answer, later: Answer) -> Row:
        told = {"answer": self._told(earlier), "again": self._told(later)}
        return {"item": self.items[item], **told}

    def _told(self, answer: Iterable[int]) -> str:
        return "+".join(self.categories[category] for category in answer)


def best_answers_for_finding(
    flag: Flag, evidence: Evidence, most: int
) -> list[tuple[Answer, Pattern]]:
    """Return the answers and patterns that show a finding best, enough for ``most`` items."""
    examples = KINDS[flag.kind].examples(flag, evidence)
    ranked = sorted(examples, key=lambda row: (-row[0], row[1]))
    found: list[tuple[Answer, Pattern]] = []
    items = 0
    for score, key, number in ranked:
        if score <= 0 or items >= most:
            break
        found.append(key)
        items += number
    return found
