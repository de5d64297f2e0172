"""What a model does otherwise than people: which categories it favors, where it fails them.

Of all items it is the audit's test of a category: item by item, whether the model gives it more
often than the people who answered the item. Of slices it is Welch's test of the difference between
the items of the slice and all others. All that is looked at shares one false discovery rate.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from tracker.audit.slices_sql import LEAST_ITEMS, Slice
from tracker.audit.statistics.exact_tests import benjamini_hochberg
from tracker.audit.statistics.mantel_haenszel import mantel_haenszel_usages
from tracker.core.tallies import AnnotatorTallies, Answer, Pattern, answers_in_pattern, pattern_with
from tracker.core.tally_columns import tally_columns_of
from tracker.judge.cells import share_of_equal_pairs
from tracker.judge.result import JudgeBias
from tracker.judge.slices_sql import EVERYTHING, BySlice
from tracker.measures.isolated_rater import Given
from tracker.measures.sample import Floats, Integers
from tracker.projects.annotators import AnnotatorInfo
from tracker.render.cells import figure_cell
from tracker.render.nouns import percent

SURE: Final = 0.01
"""The greatest q-value that is told."""
LEAST_SHARE: Final = 0.05
"""By how much the model's share of a category differs from people's, at least."""
LEAST_GAP: Final = 0.1
"""By how much a slice differs from the rest, at least; on numbers in standard deviations."""
MOST_CATEGORIES: Final = 12
OUTPUT_OF: Final = "model"
"""The attribute of items that says which model wrote them."""


_Value: TypeAlias = Callable[[Answer, Pattern], float]


class Reading(NamedTuple):
    """How answers are read.

    Attributes:
        names: the categories by id, in order.
        points: the number of each, on a scale of numbers; empty on others.
    """

    names: Mapping[int, str]
    points: Mapping[int, float]


class _Mean(NamedTuple):
    """The number of items, and the sum of a value of theirs and of its square."""

    items: int
    total: float
    squares: float

    def without(self, other: _Mean) -> _Mean:
        return _Mean(
            self.items - other.items, self.total - other.total, self.squares - other.squares
        )

    @property
    def mean(self) -> float:
        return self.total / self.items

    @property
    def variance(self) -> float:
        """Of the mean."""
        spread = max(self.squares - self.items * self.mean**2, 0.0)
        return spread / (self.items - 1) / self.items


def judge_biases(
    model: AnnotatorInfo, family: str, given: Given, slices: BySlice, reading: Reading
) -> list[JudgeBias]:
    """Return what is surely otherwise, the most certain first.

    Args:
        model: the judge.
        family: of the models whose outputs are its own.
        given: all items by its answer and the people's.
        slices: those searched, by slice.
        reading: of the answers.
    """
    looked_at = [
        *(_severity(given, reading) if reading.points else _categories(model, given, reading)),
        *_slices(family, slices, reading),
    ]
    corrected = benjamini_hochberg([bias.p_value for bias, _ in looked_at])
    rows = [
        replace(bias, q_value=q)
        for (bias, enough), q in zip(looked_at, corrected, strict=True)
        if enough and q <= SURE
    ]
    return sorted(rows, key=lambda bias: (bias.q_value, bias.slice or "", bias.category or ""))


def family_of(name: str) -> str:
    """Return the family of a model by its name: gpt of gpt-4o-mini."""
    match = re.match(r"[a-z]+", name.lower())
    return name.lower() if match is None else match[0]


def _categories(
    model: AnnotatorInfo, given: Given, reading: Reading
) -> Iterator[tuple[JudgeBias, bool]]:
    """Yield each category with its use by the model, and whether that is far from people's."""
    if len(reading.names) > MOST_CATEGORIES:
        return
    met = {(own, pattern_with(pattern, own)): items for (own, pattern), items in given.items()}
    for usage in mantel_haenszel_usages(tally_columns_of(AnnotatorTallies({model.id: met}))):
        own, peers = usage.observed_share, usage.peer_share
        name = reading.names[usage.category]
        way = "more" if own > peers else "less"
        why = (
            f"{model.name} gives {name!r} {way} often than people on the same items: "
            f"{percent(own)}, people {percent(peers)}"
        )
        p = min(1.0, usage.tails.two_sided)
        bias = JudgeBias("category", name, None, usage.n, own, peers, p, p, why)
        yield bias, abs(own - peers) >= LEAST_SHARE


def _severity(given: Given, reading: Reading) -> Iterator[tuple[JudgeBias, bool]]:
    """Yield the mean difference to people on a scale of numbers."""
    values = [_difference(own, pattern, reading.points) for own, pattern in given]
    apart = _sum(np.array(values), np.array([*given.values()]))
    if apart.items < LEAST_ITEMS:
        return
    p = _two_sided(apart.mean, apart.variance, apart.items - 1)
    way = "higher" if apart.mean > 0 else "lower"
    deviation = math.sqrt(apart.variance * apart.items)
    why = f"its answers are {figure_cell(abs(apart.mean))} {way} than people's on the same items"
    yield (
        JudgeBias("severity", None, None, apart.items, apart.mean, 0.0, p, p, why),
        abs(apart.mean) >= LEAST_GAP * deviation,
    )


def _difference(own: Answer, pattern: Pattern, points: Mapping[int, float]) -> float:
    total = sum(points[answer[0]] * count for answer, count in pattern)
    return points[own[0]] - total / answers_in_pattern(pattern)


def _slices(family: str, slices: BySlice, reading: Reading) -> Iterator[tuple[JudgeBias, bool]]:
    """Yield how each slice differs from the rest: in agreement, and in what is given there."""
    every = slices.get(EVERYTHING)
    if every is None:
        return
    values: list[tuple[str, str | None, _Value]] = [("slice", None, _agreement_gap)]
    if reading.points:
        values = [("preference", None, lambda own, met: _difference(own, met, reading.points))]
    elif len(reading.names) <= MOST_CATEGORIES:
        values += [
            ("preference", name, _preference(category)) for category, name in reading.names.items()
        ]
    place = {row: n for n, row in enumerate(every)}
    columns = {
        part: np.array([(place[row], number) for row, number in items.items()]).T
        for part, items in slices.items()
    }
    for kind, category, value in values:
        of_rows = np.array([value(own, pattern) for own, pattern in every])
        total = _sum(of_rows, np.array([*every.values()]))
        for part, (rows, items) in columns.items():
            own = _sum(of_rows[rows], items)
            rest = total.without(own)
            if part != EVERYTHING and min(own.items, rest.items) >= LEAST_ITEMS:
                yield _slice(kind, category, part, own, rest, family)


def _slice(
    kind: str, category: str | None, part: Slice, own: _Mean, rest: _Mean, family: str
) -> tuple[JudgeBias, bool]:
    gap = own.mean - rest.mean
    variance = own.variance + rest.variance
    parts = [(m.variance**2 / (m.items - 1)) for m in (own, rest)]
    freedom = variance**2 / sum(parts) if sum(parts) else float(own.items + rest.items - 2)
    p = _two_sided(gap, variance, freedom)
    subject = f"{part.attribute}={part.value}"
    is_own = part.attribute == OUTPUT_OF and family_of(part.value) == family
    whose = ", its own outputs," if is_own else ""
    if kind == "slice":
        why = (
            f"on {subject} it agrees with people {_beside(own.mean, ('more', 'less'))} than they "
            f"do with each other; elsewhere {_beside(rest.mean, ('more', 'less'))}"
        )
        enough = gap <= -LEAST_GAP
    elif category is None:
        ways = ("higher", "lower")
        why = (
            f"on {subject}{whose} it scores {_beside(own.mean, ways)} than people; elsewhere "
            f"{_beside(rest.mean, ways)}"
        )
        far = abs(gap) >= LEAST_GAP * math.sqrt(rest.variance * rest.items)
        enough = far and abs(own.mean) > abs(rest.mean)
    else:
        ways = ("more", "fewer")
        why = (
            f"on {subject}{whose} it gives {category!r} to {_beside(100 * own.mean, ways, 0)} of "
            f"100 items than people; elsewhere to {_beside(100 * rest.mean, ways, 0)}"
        )
        # Told is what is given more: what is given less, there or elsewhere, follows from it.
        enough = min(gap - LEAST_GAP, own.mean - LEAST_SHARE) >= 0
    if kind == "preference" and is_own:
        kind = "self_preference"
    return JudgeBias(kind, category, subject, own.items, own.mean, rest.mean, p, p, why), enough


def _beside(difference: float, ways: tuple[str, str], digits: int = 3) -> str:
    """Return a difference to people in words: 0.100 less."""
    return f"{abs(difference):.{digits}f} {ways[difference < 0]}"


def _agreement_gap(own: Answer, pattern: Pattern) -> float:
    """Return people's share of the model's answer less their agreement with each other."""
    share = dict(pattern).get(own, 0) / answers_in_pattern(pattern)
    return share - (share_of_equal_pairs(pattern) or 0.0)


def _preference(category: int) -> _Value:
    """Return a function to 1 if the model gave a category, else 0, less people's share of it."""

    def value(own: Answer, pattern: Pattern) -> float:
        held = sum(count for answer, count in pattern if category in answer)
        return (category in own) - held / answers_in_pattern(pattern)

    return value


def _sum(values: Floats, items: Integers) -> _Mean:
    return _Mean(int(items.sum()), float(items @ values), float(items @ values**2))


def _two_sided(difference: float, variance: float, freedom: float) -> float:
    """Return p of a difference of means by Student's t."""
    from scipy.special import stdtr

    if variance <= 0:
        return 1.0
    return float(2 * stdtr(freedom, -abs(difference) / math.sqrt(variance)))
