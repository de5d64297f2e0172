"""The periods of a project's items, and the last change of level of a figure among them.

The items are laid out in the order of their last answers and cut into periods of about as many
items, and `change_points` looks for levels among the periods.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise, starmap
from statistics import NormalDist
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracker.agreement.coefficients import Study
from tracker.core import clock
from tracker.core.clock import DAY
from tracker.core.tallies import ItemPatterns
from tracker.counts.timeline import Stretches, count_patterns_by_moment
from tracker.monitoring import SHORTEST, Point, change_points

Floats: TypeAlias = NDArray[np.float64]
Large: TypeAlias = Callable[[Floats, Floats], NDArray[np.bool_]]
"""Whether the second of two figures differs from the first by enough to be told."""

CERTAIN: Final = 0.001
"""The greatest p-value of a change that is told. See the table of false alarms in the docs."""
LEAST_ITEMS: Final = 25
"""Compared items of a period, at least."""
_MOST_PERIODS: Final = 40
_WIDTHS: Final = (
    *(DAY << power for power in range(12, -1, -1)), DAY // 4, DAY // 24, DAY // 24 // 60,
    1_000_000, 1_000,
)  # fmt: skip
"""How long a stretch may be, in microseconds, the longest first."""
_PARTS: Final = 3
"""Stretches of a period, at least, so that it has hardly more items than are enough."""
_MOST_SPOILED: Final = 0.1
"""The greatest share of the items that may lie in stretches which are too long."""
_ZEROS: Final = 5
"""Of the number of the first stretch, as bits."""
_MOST_RELATED: Final = 0.9
"""The greatest correlation of neighboring periods that is reckoned with."""
_SHORTEST_SLIDE: Final = 8
"""Periods of a slide, at least."""
_LARGE_SLIDE: Final = 7.5
"""Times a level's error beside that of its items: of alpha, .15."""
_TINY: Final = 1e-9
_BRIEF: Final = 3
"""Periods of a level that is taken with the one before it: the change may lie inside a period."""


_NO_TIME: Final = Stretches(DAY, 0, 0)


@dataclass(frozen=True)
class Period:
    """Items that follow each other: the first moment of their last answers, and its stretch."""

    first: int
    stretch: int
    patterns: ItemPatterns


@dataclass(frozen=True)
class Course:
    """The periods of a project's items, ascending, and the stretches that they are made of."""

    periods: Sequence[Period] = ()
    stretches: Stretches = _NO_TIME


def course_of_items(counted: Study) -> Course:
    """Return the periods, by one statement; answers without a time stand by their imports.

    Each item lies in the period of its last answer, with all its answers.
    """
    moments = count_patterns_by_moment(counted.connection, counted.selection)
    return cut_course(moments, counted.question.project.timezone)


def cut_course(moments: Mapping[int, ItemPatterns], zone: str | None) -> Course:
    """Return the periods of the item patterns by moment, which is what a zone's clocks show.

    A period is one stretch of time or several: stretches stay as they are while answers are
    added, so that what was counted by them need not be counted again, and periods do not.
    """
    compared = sum(patterns.items_compared for patterns in moments.values())
    if not compared:
        return Course()
    enough = max(LEAST_ITEMS, -(-compared // _MOST_PERIODS))
    stretches = _stretches(moments, enough)
    return Course(list(_periods(moments, stretches, enough, zone)), stretches)


def _stretches(moments: Mapping[int, ItemPatterns], enough: int) -> Stretches:
    """Return the longest stretches that are hardly ever longer than a part of a period.

    One moment is never too long. They begin at a stretch whose number has zeros at the end: what
    is added before the first moment seldom moves it.
    """
    items = np.array([patterns.items_compared for patterns in moments.values()])
    for width in _WIDTHS:
        number = np.array([moment // width for moment in moments])
        _, place, together = np.unique(number, return_inverse=True, return_counts=True)
        held = np.bincount(place, items)
        if held[(together > 1) & (_PARTS * held > enough)].sum() <= _MOST_SPOILED * items.sum():
            break
    begin = int(number[0]) >> _ZEROS << _ZEROS
    return Stretches(width, begin * width, max(moments))


def _periods(
    moments: Mapping[int, ItemPatterns], stretches: Stretches, enough: int, zone: str | None
) -> Iterator[Period]:
    """Yield the periods; what is left over at the end belongs to the last one."""
    held: list[Period] = []
    items = 0
    waiting: Period | None = None
    for stretch, group in groupby(moments.items(), lambda item: stretches.number(item[0])):
        for moment, patterns in group:
            held.append(Period(clock.moment_of_local(moment, zone), stretch, patterns))
            items += patterns.items_compared
        if items >= enough:
            if waiting is not None:
                yield waiting
            waiting, held, items = _joined(held), [], 0
    if waiting is not None:
        yield _joined([waiting, *held])


def _joined(periods: Sequence[Period]) -> Period:
    return Period(periods[0].first, periods[0].stretch, sum_of_periods(periods))


def sum_of_periods(periods: Sequence[Period]) -> ItemPatterns:
    return sum((period.patterns for period in periods), ItemPatterns())


@dataclass(frozen=True, eq=False)
class Curve:
    """A figure of each period: a sum over its items, over another sum over them.

    Attributes:
        items: how many items of each sort a period has, (periods, sorts).
        above: what an item of the sort adds to the sum above, (sorts,).
        below: to the sum below, likewise, 0 or more.
    """

    items: Floats
    above: Floats
    below: Floats

    def level(self, start: int, stop: int | None = None) -> Level:
        items = self.items[start:stop].sum(axis=0)
        below = float(items @ self.below)
        value = float(items @ self.above) / below
        squares = float(items @ (self.above - value * self.below) ** 2)
        return Level(value, squares, float(items.sum()), below)

    @property
    def known(self) -> Curve:
        """The same of the sorts that add to the sum below."""
        kept = self.below > 0
        return Curve(self.items[:, kept], self.above[kept], self.below[kept])


@dataclass(frozen=True)
class Level:
    """A figure of several periods.

    Attributes:
        squares: the sum over items of how far each is from it, squared.
        below: the sum that the figure is divided by.
    """

    value: float
    squares: float
    items: float
    below: float

    @property
    def share(self) -> float:
        """The variance of the figure over that of one item."""
        return self.items / self.below**2

    @property
    def error(self) -> float:
        return math.sqrt(self.squares / max(self.items - 1, 1) * self.share)


@dataclass(frozen=True)
class Shift:
    """The last change of level of a curve: a step, or a slide from its first to its last quarter.

    Attributes:
        start: the place of the first period of the level before.
        p_value: of the difference, times the number of places at which it could have been found.
        stop: the place after the level before; None of a step, where it is ``place``.
    """

    start: int
    place: int
    before: Level
    now: Level
    p_value: float
    stop: int | None = None
    price: float = 0.0

    @property
    def difference(self) -> float:
        return self.now.value - self.before.value


def last_shift(curve: Curve, always: float, *, slides: bool = False) -> Shift | None:
    """Return the last change of level; None if there is none, however uncertain it is.

    ``always`` is the standard error of a level beside that of its items. Periods that have no
    figure are passed over. With ``slides``, a slide that fits better than levels is returned.
    """
    there = np.flatnonzero(curve.items @ curve.below)
    if len(there) < 2 * SHORTEST:
        return None
    some = Curve(curve.items[there], curve.above, curve.below)
    each = [some.level(place, place + 1) for place in range(len(there))]
    total = sum(period.items for period in each)
    spread = sum(period.squares for period in each) / max(total - len(each), 1)
    points = [
        Point(int(at), period.value, math.sqrt(spread * period.share), round(period.items))
        for at, period in zip(there, each, strict=True)
    ]
    begins = [0, *accumulate(level.n for level in change_points(points).levels)]
    values = np.array([point.value for point in points])
    roots = 1 / np.array([point.error or 1.0 for point in points])
    slide = _slide(some, there, values, roots, always) if slides and spread else None
    places = len(points) - 2 * SHORTEST + 1
    step, certain = None, [0]  # places at which a level began that is certainly another one
    for level in range(1, len(begins) - 1):
        start, place, end = begins[level - 1 : level + 2]
        if place - start < _BRIEF and level > 1:
            start = begins[level - 2]
        before, now = some.level(start, place), some.level(place, end)
        both = some.level(start, end)
        pooled = both.squares / max(both.items - 2, 1)
        sampled = pooled * (before.share + now.share)
        if spread and place >= 2 * SHORTEST:
            apart = _apart(values, roots, [*certain, place])
            sampled *= _inflation(apart, place - len(certain))
        p_value = two_sided(now.value - before.value, math.sqrt(sampled + always**2)) * places
        step = Shift(int(there[start]), int(there[place]), before, now, p_value)
        if p_value <= CERTAIN:
            certain.append(place)
    if slide is None or (step is not None and step.p_value <= CERTAIN):
        price = _price(_apart(values, roots, begins), 2 * len(begins) - 3)
        return step if slide is None or price <= slide.price else slide
    return slide


def _slide(
    curve: Curve, places: NDArray[np.intp], values: Floats, roots: Floats, always: float
) -> Shift | None:
    """Return the slide of a figure that may be level at first; None if none is certain and large.

    Its place is the one of the best fit. The p-value is that of the slope, times the places.
    """
    number, fits = len(values), []
    for start in range(number - _SHORTEST_SLIDE + 1):
        rises = np.stack([np.ones(number), np.maximum(np.arange(number) - start, 0)], axis=1)
        columns = roots[:, np.newaxis] * rises
        line, *_ = np.linalg.lstsq(columns, roots * values)
        apart = roots * values - columns @ line
        error = np.linalg.inv(columns.T @ columns)[1, 1] * _inflation(apart, number - 2)
        p_value = two_sided(float(line[1]), math.sqrt(error))
        fits.append((_price(apart, 2 + (start > 0)), start, p_value))
    if not fits:
        return None
    price, start, p_value = min(fits)
    quarter = (number - start) // 4
    stop, now_from = start + quarter, number - quarter
    before, now = curve.level(start, stop), curve.level(now_from)
    apart_by = now.value - before.value
    p_value = max(
        p_value * len(fits), two_sided(apart_by, math.hypot(before.error, now.error, always))
    )
    if p_value > CERTAIN / 10 or abs(apart_by) < _LARGE_SLIDE * always:
        return None
    first, stop, now_from = (int(places[at]) for at in (start, stop, now_from))
    return Shift(first, now_from, before, now, p_value, stop, price)


def _price(apart: Floats, parameters: int) -> float:
    """Return the Bayes information criterion of a fit, by how many errors each period is off."""
    return len(apart) * math.log(apart @ apart + _TINY) + parameters * math.log(len(apart))


def may_shift(curve: Curve, large: Large, least: float, most_p: float) -> bool:
    """Return whether a curve could have a large change that is certain, wherever it lies.

    Every level before and since is looked at, with the least error that `last_shift` could find:
    most curves are steady, and this is quick. ``least`` is the items of a level.
    """
    moments = [
        np.ones_like(curve.below),
        curve.above,
        curve.below,
        curve.above**2,
        curve.above * curve.below,
        curve.below**2,
    ]
    sums = np.zeros((len(curve.items) + 1, len(moments)))
    np.cumsum(curve.items @ np.array(moments).T, axis=0, out=sums[1:])
    start, place = np.triu_indices(len(sums) - 1, 1)
    before, now = sums[place] - sums[start], sums[-1] - sums[place]
    kept = (before[:, 0] >= least) & (now[:, 0] >= least)
    before, now = before[kept], now[kept]
    then, since = before[:, 1] / before[:, 2], now[:, 1] / now[:, 2]
    items, above, below, squares, both, of_below = (before + now).T
    mean = above / below
    spread = (squares - 2 * mean * both + mean**2 * of_below) / np.maximum(items - 2, 1)
    share = before[:, 0] / before[:, 2] ** 2 + now[:, 0] / now[:, 2] ** 2
    error = np.sqrt(np.maximum(spread, 0) * share)
    far = np.abs(since - then) >= -NormalDist().inv_cdf(most_p / 2) * error
    return bool((large(then, since) & far).any())


def _inflation(apart: Floats, freedom: int) -> float:
    """Return by what the variance of a mean of periods exceeds that of independent items.

    Periods of a project in which good and bad weeks follow each other differ by more than their
    items let one expect. ``apart`` is how many errors each lies from its own level or line.
    """
    beyond = max(float(apart @ apart) / freedom, 1.0)
    related = float(apart[1:] @ apart[:-1]) / float(apart @ apart) if beyond > 1 else 0.0
    related = min(max(related, 0.0), _MOST_RELATED)
    return beyond * (1 + related) / (1 - related)


def _apart(values: Floats, roots: Floats, begins: Sequence[int]) -> Floats:
    """Return how many errors each period lies from the mean of its level; ``roots`` are 1/error."""
    return np.concatenate([
        (values[level] - np.average(values[level], weights=roots[level] ** 2)) * roots[level]
        for level in starmap(slice, pairwise(begins))
    ])  # fmt: skip


def two_sided(difference: float, error: float) -> float:
    """Return how likely a normal deviate lies as far from 0 as a difference."""
    if not error:
        return 0.0 if difference else 1.0
    return math.erfc(abs(difference) / error / math.sqrt(2))
