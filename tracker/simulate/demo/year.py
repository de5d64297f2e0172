"""A scripted year of a labeling project: the events, and every answer.

The reviews of a shop come in each week and get four answers each, while the crowd grows, and one
of a model. Much goes wrong, and nobody says so:

- Of a review that is of the delivery, half of the crowd says "off topic", and half how it sounds.
- One review of seven is in Dutch, which the crowd reads badly.
- Lea, who answers now and then, has the keys for "negative" and "positive" the wrong way round.
- In May a guideline says at last what "neutral" is.
- In June the backlog of a second shop comes in. Some of its texts are there already, under other
  keys, and in that week's file eva's column has slipped by one row.
- Hal, who joins in July and goes in November, pastes what the model says.
- At the end of August somebody joins who calls everything positive, and goes after four weeks.
- In October the answers from before the guideline are given again.
- From the end of November on everybody hurries.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import NamedTuple

from tracker.simulate.crowds import Row, draw_simulated_choice, simulation_random

YEAR = 2025
_WEEKS = 51
_FIRST = datetime(YEAR, 1, 6, tzinfo=UTC)  # a Monday
_GUIDELINE = datetime(YEAR, 5, 5, tzinfo=UTC)
_BACKLOG = datetime(YEAR, 6, 9, tzinfo=UTC)
_RICO_JOINS, _RICO_LEAVES = datetime(YEAR, 8, 25, tzinfo=UTC), datetime(YEAR, 9, 22, tzinfo=UTC)
_REVISION = datetime(YEAR, 10, 6, tzinfo=UTC)
_REVISION_WEEKS = 4
_HURRY = datetime(YEAR, 11, 24, tzinfo=UTC)

NOTES = (
    (_GUIDELINE, "guideline v2"),
    (_BACKLOG, "backlog of the second shop"),
    (_REVISION, "revision of January to April"),
)
"""What the project's managers wrote down: a moment and a text."""

_CROWD = ("ann", "bob", "cem", "dia", "eva", "fay", "gus", "hal", "ida", "jon")
_AT_FIRST = 4
_A_NEW_ONE_EVERY = 7  # weeks
_SAYS_OFF_TOPIC = frozenset(_CROWD[::2])
_SLIPPED, _PASTES, _SWAPS, _RICO = "eva", "hal", "lea", "rico"
_MODEL = "model"
_ITEMS_EACH = 7  # a week, for every annotator there is
_ANSWERS = 4  # of people to an item
_DUTCH, _OF_DELIVERY = 0.15, 0.06  # of the items
_NOW_AND_THEN, _RICOS = 0.05, 0.9  # of the items: lea's, and rico's while there
_BACKLOG_ITEMS, _KNOWN = 60, 12

_TONES = ("negative", "neutral", "positive")
_OFF_TOPIC = "off topic"
_RIGHT = {
    False: {"negative": 0.85, "neutral": 0.5, "positive": 0.85, _OFF_TOPIC: 0.95},
    True: {"negative": 0.95, "neutral": 0.92, "positive": 0.95, _OFF_TOPIC: 0.95},
}
"""How often an honest annotator is right, before the guideline and under it."""
_MODEL_RIGHT = 0.9
_IN_DUTCH = _IN_A_HURRY = 0.68
"""How many of the right answers are still right then."""
_PASTED = 0.97
_SWAPPED = {"negative": "positive", "positive": "negative"}

_THINGS = {
    "en": ("The lamp", "The coffee pot", "The chair for the garden", "The very large umbrella"),
    "nl": ("De lamp", "De koffiepot", "De stoel voor de tuin", "De zeer grote paraplu"),
}
_VERDICTS = {
    "en": ("broke very soon", "is what you see", "is truly lovely", "came by bicycle"),
    "nl": ("was meteen stuk", "is wat je koopt", "is erg prachtig", "kwam met de bus"),
}
"""A negative, a neutral and a positive one, and one of the delivery."""


class Answer(NamedTuple):
    """One answer as a row of an import; the language is kept as an attribute of the item."""

    item: str
    annotator: str
    kind: str
    category: str
    labeled_at: str
    text: str
    language: str


@dataclass(frozen=True)
class Week:
    """A week's answers, and the first moment after it."""

    end: datetime
    rows: tuple[Answer, ...]


@dataclass(frozen=True)
class _Item:
    name: str
    text: str
    language: str
    tone: str
    of_delivery: bool
    annotators: tuple[str, ...]


def simulate_demo_year(seed: int = YEAR) -> Iterator[Week]:
    """Yield the weeks of the year, in order; the same for the same seed on every machine."""
    source = simulation_random("year", seed)
    old: list[_Item] = []
    number = 0
    for week in range(_WEEKS):
        begin = _FIRST + timedelta(weeks=week)
        crowd = _crowd(week)
        items = []
        for _ in range(_ITEMS_EACH * len(crowd)):
            number += 1
            items.append(_new_item(f"review {number:05}", crowd, begin, source))
        if begin == _BACKLOG:
            items += _backlog(items[:_KNOWN], crowd, begin, source)
        if begin < _GUIDELINE:
            old += items
        turn = (begin - _REVISION).days // 7
        if 0 <= turn < _REVISION_WEEKS:
            items += old[turn::_REVISION_WEEKS]
        rows = [row for item in items for row in _answers(item, begin, source)]
        if begin == _BACKLOG:
            rows = _slipped(rows)
        yield Week(begin + timedelta(weeks=1), tuple(rows))


def _crowd(week: int) -> list[str]:
    """Return who is there in a week of the year."""
    hurried = _FIRST + timedelta(weeks=week) >= _HURRY
    crowd = _CROWD[: _AT_FIRST + week // _A_NEW_ONE_EVERY]
    return [name for name in crowd if not (hurried and name == _PASTES)]


def _new_item(name: str, crowd: Sequence[str], begin: datetime, source: random.Random) -> _Item:
    tone = draw_simulated_choice(_TONES, source)
    language = "nl" if source.random() < _DUTCH else "en"
    of_delivery = source.random() < _OF_DELIVERY
    chosen = sorted(crowd, key=lambda _: source.random())[:_ANSWERS]
    if source.random() < _NOW_AND_THEN:
        chosen[-1] = _SWAPS
    if _RICO_JOINS <= begin < _RICO_LEAVES and source.random() < _RICOS:
        chosen[0] = _RICO
    subject = draw_simulated_choice(_THINGS[language], source)
    verdict = _VERDICTS[language][-1 if of_delivery else _TONES.index(tone)]
    text = f"{subject} {verdict} ({name})"
    return _Item(name, text, language, tone, of_delivery, tuple(sorted(chosen)))


def _backlog(
    known: Sequence[_Item], crowd: Sequence[str], begin: datetime, source: random.Random
) -> Iterator[_Item]:
    """Yield the items of the second shop; the first of them are known under other keys."""
    for number in range(_BACKLOG_ITEMS):
        item = _new_item(f"order {number + 1:05}", crowd, begin, source)
        if number < len(known):
            item = replace(known[number], name=item.name, annotators=item.annotators)
        yield item


def _answers(item: _Item, begin: datetime, source: random.Random) -> Iterator[Answer]:
    of_model = _model_answer(item, source)
    for annotator in (*item.annotators, _MODEL):
        answer = _honest_answer(annotator, item, begin, source)
        if annotator == _SWAPS:
            answer = _SWAPPED.get(answer, answer)
        elif annotator == _RICO:
            answer = "positive"
        elif annotator == _MODEL or (annotator == _PASTES and source.random() < _PASTED):
            answer = of_model
        moment = begin + timedelta(minutes=int(source.random() * 5 * 24 * 60))
        kind = "model" if annotator == _MODEL else "human"
        at = f"{moment:%Y-%m-%dT%H:%M}Z"
        yield Answer(item.name, annotator, kind, answer, at, item.text, item.language)


def _honest_answer(annotator: str, item: _Item, begin: datetime, source: random.Random) -> str:
    meant = _OFF_TOPIC if item.of_delivery and annotator in _SAYS_OFF_TOPIC else item.tone
    right = _RIGHT[begin >= _GUIDELINE][meant]
    right *= _IN_DUTCH if item.language == "nl" else 1.0
    right *= _IN_A_HURRY if begin >= _HURRY else 1.0
    return _mostly(meant, right, source)


def _model_answer(item: _Item, source: random.Random) -> str:
    """Return the answer of the model, which knows both ways to read a review of the delivery."""
    off_topic = item.of_delivery and source.random() < 0.5
    return _mostly(_OFF_TOPIC if off_topic else item.tone, _MODEL_RIGHT, source)


def _mostly(meant: str, right: float, source: random.Random) -> str:
    if source.random() < right:
        return meant
    return draw_simulated_choice([tone for tone in _TONES if tone != meant], source)


def _slipped(rows: Sequence[Answer]) -> list[Answer]:
    """Return the rows of a file in which one annotator's column has slipped down by one."""
    categories = [row.category for row in rows if row.annotator == _SLIPPED]
    moved = iter(categories[-1:] + categories[:-1])
    return [
        row._replace(category=next(moved)) if row.annotator == _SLIPPED else row for row in rows
    ]


# -- The demonstration's data: published examples, made or shipped. One row is one answer ---------


SANDWICH = {("0", "0"): 400, ("1", "0"): 90, ("0", "1"): 60, ("1", "1"): 450}
"""How often annotators A and B gave each pair of categories (P. W. Siegel, 2018)."""


def demo_sandwich_rows() -> Iterator[Row]:
    """Yield the sandwich table: 1000 items, two annotators."""
    number = 0
    for (a, b), items in SANDWICH.items():
        for _ in range(items):
            number += 1
            yield Row(f"item {number:04}", "A", a, None)
            yield Row(f"item {number:04}", "B", b, None)


def demo_turk_files() -> list[str]:
    """Return the paths of the Turk experiment's answers and truths (see README.md beside them)."""
    folder = files("tracker.simulate.demo")
    return [str(folder / "assignments.csv"), str(folder / "truth.csv")]
