"""The items that show a finding best, by name, with the own answer and the others'."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from tracker import queries
from tracker.audit.evidence import Evidence
from tracker.audit.kind import Flag, Key
from tracker.audit.kinds.category_bias import CATEGORY_BIAS
from tracker.audit.kinds.constant_category import CONSTANT_CATEGORY
from tracker.audit.kinds.copying import COPYING
from tracker.audit.kinds.low_gold_accuracy import LOW_GOLD_ACCURACY
from tracker.audit.kinds.severity_bias import SEVERITY_BIAS
from tracker.core.tallies import Answer, Pattern, answers_in, is_minority, without
from tracker.projects.categories import category_names
from tracker.projects.items import item_names_of
from tracker.queries import Selection

Row = dict[str, Any]

_FAST, _AGAIN = "too_fast", "low_self_agreement"
_PAIR_DEPTH = 20  # times as many items of each of a pair, to find those that both answered alike


def show_items(
    connection: Connection,
    selection: Selection,
    evidence: Evidence,
    flags: Collection[Flag],
    most: int,
) -> dict[Key, list[Row]]:
    """Up to ``most`` items for each finding, the most telling first.

    A row has ``item``, ``answer`` and ``others`` (how many gave each answer); of answers given
    again ``answer`` and ``again``; of fast answers ``seconds`` and ``others_seconds``.
    """
    of_kind = {kind: {f.annotator for f in flags if f.kind == kind} for kind in (_FAST, _AGAIN)}
    wanted = {
        flag.key: best_answers(flag, evidence, most) for flag in flags if flag.kind not in of_kind
    }
    found = _items(connection, selection, wanted, most)
    fast = queries.fastest_items(connection, selection, of_kind[_FAST], most)
    changed = queries.changed_items(connection, selection, of_kind[_AGAIN], most)

    listed: list[Sequence[tuple[Any, ...]]] = [*found.values(), *fast.values(), *changed.values()]
    words = _Words(
        item_names_of(
            connection, selection.project, sorted({i for one in listed for i, *_ in one})
        ),
        category_names(connection, selection.project),
    )
    rows = {key: [words.answer(*one) for one in shown] for key, shown in found.items()}
    for flag in flags:
        if flag.kind == _FAST:
            rows[flag.key] = [words.timed(*one) for one in fast.get(flag.annotator, ())]
        elif flag.kind == _AGAIN:
            rows[flag.key] = [words.again(*one) for one in changed.get(flag.annotator, ())]
    return rows


def _items(
    connection: Connection,
    selection: Selection,
    wanted: Mapping[Key, list[tuple[Answer, Pattern]]],
    most: int,
) -> dict[Key, list[tuple[int, Answer, Pattern]]]:
    """Items of the answers wanted; of a pair, those that both answered alike."""
    keys: dict[int, set[tuple[Answer, Pattern]]] = {}
    for (annotator, _, _, other), answers in wanted.items():
        keys.setdefault(annotator, set()).update(answers)
        if other is not None:
            keys.setdefault(other, set()).update(answers)
    depth = most * _PAIR_DEPTH if any(other for *_, other in wanted) else most
    of = queries.items_of_answers(connection, selection, keys, depth)
    found = {}
    for key, answers in wanted.items():
        annotator, _, _, other = key
        rows = []
        for own, pattern in answers:
            both = set(of.get((other, own, pattern), ())) if other is not None else None
            items = of.get((annotator, own, pattern), ())
            rows += [(item, own, pattern) for item in items if both is None or item in both]
        found[key] = rows[:most]
    return found


@dataclass(frozen=True)
class _Words:
    """Rows with names in place of numbers."""

    items: Mapping[int, str]
    categories: Mapping[int, str]

    def answer(self, item: int, own: Answer, pattern: Pattern) -> Row:
        others = {self._told(answer): n for answer, n in without(pattern, own)}
        return {"item": self.items[item], "answer": self._told(own), "others": others}

    def timed(self, item: int, seconds: float, others: float) -> Row:
        return {"item": self.items[item], "seconds": seconds, "others_seconds": others}

    def again(self, item: int, earlier: Answer, later: Answer) -> Row:
        told = {"answer": self._told(earlier), "again": self._told(later)}
        return {"item": self.items[item], **told}

    def _told(self, answer: Iterable[int]) -> str:
        return "+".join(self.categories[category] for category in answer)


_OF_A_CATEGORY = (CONSTANT_CATEGORY.name, CATEGORY_BIAS.name)


def telling(flag: Flag, own: Answer, pattern: Pattern, points: Mapping[int, float]) -> float:
    """How well an answer shows the finding, from 0 (not at all) to 1.

    A category's over-use by answers that hold it where few others do, its under-use the other way
    round; severity by answers on that side of the others' mean; copying by shared minority
    answers; everything else by disagreement.
    """
    others = answers_in(pattern) - 1
    if others < 1:
        return 0.0
    if flag.kind in _OF_A_CATEGORY and flag.category is not None:
        held = sum(count for answer, count in pattern if flag.category in answer)
        mine = flag.category in own
        share = (held - mine) / others
        over = (flag.observed or 0.0) > (flag.expected or 0.0)
        if mine != over:
            return 0.0
        return 1.0 - share if over else share
    if flag.kind == COPYING.name and not is_minority(own, pattern):
        return 0.0
    if flag.kind == SEVERITY_BIAS.name:
        place = points[own[0]]
        total = sum(points[answer[0]] * count for answer, count in pattern)
        off = place - (total - place) / others
        widest = max(points.values()) - min(points.values())
        way = 1.0 if (flag.effect.value or 0.0) > 0 else -1.0
        return max(way * off / widest, 0.0)
    return 1.0 - (dict(pattern)[own] - 1) / others


def best_answers(flag: Flag, evidence: Evidence, most: int) -> list[tuple[Answer, Pattern]]:
    """The own answers and patterns that show a finding best, enough of them for ``most`` items.

    Of ``low_gold_accuracy`` only answers that are wrong, the ones that most others had right.
    """
    ranked = sorted(_ranked(flag, evidence), key=lambda row: (-row[0], row[1]))
    found: list[tuple[Answer, Pattern]] = []
    items = 0
    for score, key, number in ranked:
        if score <= 0 or items >= most:
            break
        found.append(key)
        items += number
    return found


def _ranked(flag: Flag, evidence: Evidence) -> Iterator[tuple[float, tuple[Answer, Pattern], int]]:
    if flag.kind == LOW_GOLD_ACCURACY.name:
        wrong: dict[tuple[Answer, Pattern], tuple[float, int]] = {}
        for (truth, own, pattern), items in (evidence.gold or {}).get(flag.annotator, {}).items():
            if own != truth:
                share = dict(pattern).get(truth, 0) / answers_in(pattern)
                score, number = wrong.get((own, pattern), (0.0, 0))
                wrong[own, pattern] = (max(score, share + 1e-9), number + items)
        for key, (score, number) in wrong.items():
            yield score, key, number
        return
    points = evidence.points or {}
    for (own, pattern), items in evidence.tallies.counts.get(flag.annotator, {}).items():
        yield telling(flag, own, pattern, points), (own, pattern), items
