"""A scripted year of a labeling project: the events, and every answer.

Reviews come in each week and get four answers each, while the crowd grows. In May a guideline
says at last what "neutral" is. In August somebody joins who calls everything positive, and goes
at the end of September. In October the answers from before the guideline are given again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tracker.simulate import Row, simulation_random

YEAR = 2025
_WEEKS = 51
_FIRST = datetime(YEAR, 1, 6, tzinfo=UTC)  # a Monday
_GUIDELINE = datetime(YEAR, 5, 5, tzinfo=UTC)
_RICO = "rico"
_RICO_JOINS, _RICO_LEAVES = datetime(YEAR, 8, 4, tzinfo=UTC), datetime(YEAR, 9, 29, tzinfo=UTC)
_REVISION = datetime(YEAR, 10, 6, tzinfo=UTC)
_REVISION_WEEKS = 4

NOTES = (
    (_GUIDELINE, "guideline v2"),
    (_REVISION, "revision of January to April"),
)
"""What the project's managers wrote down: a moment and a text."""

_CROWD = ("ann", "bob", "cem", "dia", "eva", "fay", "gus", "hal", "ida", "jon")
_AT_FIRST = 4
_A_NEW_ONE_EVERY = 7  # weeks
_ITEMS_EACH = 7  # a week, for every annotator there is
_ANSWERS = 4  # to an item
_CATEGORIES = ("negative", "neutral", "positive")
_RIGHT = {
    False: {"negative": 0.85, "neutral": 0.5, "positive": 0.85},
    True: {"negative": 0.92, "neutral": 0.88, "positive": 0.92},
}
"""How often an honest annotator is right, before the guideline and under it."""


@dataclass(frozen=True)
class Week:
    """A week's answers, and the first moment after it."""

    end: datetime
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class _Item:
    name: str
    truth: str
    annotators: tuple[str, ...]


def simulate_demo_year(seed: int = YEAR) -> Iterator[Week]:
    """Yield the weeks of the year, in order; the same for the same seed on every machine."""
    source = simulation_random("year", seed)
    old: list[_Item] = []
    number = 0
    for week in range(_WEEKS):
        begin = _FIRST + timedelta(weeks=week)
        crowd = _crowd(week)
        rows: list[Row] = []
        for _ in range(_ITEMS_EACH * len(crowd)):
            number += 1
            item = _new_item(number, crowd, begin, source)
            rows += _answers(item, begin, source)
            if begin < _GUIDELINE:
                old.append(item)
        turn = (begin - _REVISION).days // 7
        if 0 <= turn < _REVISION_WEEKS:
            for item in old[turn::_REVISION_WEEKS]:
                rows += _answers(item, begin, source)
        yield Week(begin + timedelta(weeks=1), tuple(rows))


def _crowd(week: int) -> Sequence[str]:
    return _CROWD[: _AT_FIRST + week // _A_NEW_ONE_EVERY]


def _new_item(number: int, crowd: Sequence[str], begin: datetime, source: random.Random) -> _Item:
    truth = _CATEGORIES[int(source.random() * len(_CATEGORIES))]
    chosen = sorted(crowd, key=lambda _: source.random())[:_ANSWERS]
    if _RICO_JOINS <= begin < _RICO_LEAVES and source.random() < 0.7:
        chosen[-1] = _RICO
    return _Item(f"review {number:05}", truth, tuple(sorted(chosen)))


def _answers(item: _Item, begin: datetime, source: random.Random) -> Iterator[Row]:
    right = _RIGHT[begin >= _GUIDELINE][item.truth]
    others = [category for category in _CATEGORIES if category != item.truth]
    for annotator in item.annotators:
        answer = item.truth if source.random() < right else others[int(source.random() * 2)]
        if annotator == _RICO:
            answer = "positive"
        moment = begin + timedelta(minutes=int(source.random() * 5 * 24 * 60))
        yield Row(item.name, annotator, answer, None, f"{moment:%Y-%m-%dT%H:%M}Z")
