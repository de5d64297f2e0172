"""The level of agreement now, if it is another one than before.

A figure of all answers is an average over the time of a project, in which a collapse of the last
weeks hardly shows. So the items are laid out in the order of their last answers and cut into
periods of about as many items, and `change_points` looks for levels among the periods.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from tracker import queries
from tracker.agreement.study import Study
from tracker.core import clock
from tracker.core.tallies import AnnotatorTallies, ItemPatterns, answers_in_pattern
from tracker.measures.category_rates import category_rates
from tracker.measures.coefficient import Coefficient
from tracker.measures.krippendorff import Floats, krippendorff_alpha, krippendorff_disagreement
from tracker.monitoring import SHORTEST, Point, change_points
from tracker.projects.annotators import annotator_names

_LEAST_ITEMS: Final = 25
"""Compared items of a period, at least."""
_MOST_PERIODS: Final = 40
_CERTAIN: Final = 0.001
"""The greatest p-value of a change that is told. See the table of false alarms in the docs."""
_ALWAYS: Final = 0.02
"""The standard error of a level of alpha beside that of its items: no two months are the same."""
_OF_PARTS: Final = 0.05
"""The greatest p-value, times their number, of a category or an annotator that changed, too."""
_MOST_RELATED: Final = 0.9
"""The greatest correlation of neighboring periods that is reckoned with."""
_BRIEF: Final = 3
"""Periods of a level that is taken with the one before it: the change may lie inside a period."""


@dataclass(frozen=True)
class Recent:
    """The last change of the level of agreement.

    Attributes:
        since: the begin of the first period after it, microseconds since 1970.
        before: alpha of the items of the level before.
        now: alpha of the items since then, with its interval.
        p_value: of the difference, times the number of places at which it could have been found.
        categories: those whose own agreement changed, by name.
        annotators: those who agree with the others more or less than before, by name.
        zone: the project's time zone; None for UTC.
        levels: the item patterns of the level before, and of the one since then.
    """

    since: int
    before: float
    now: Coefficient
    p_value: float
    categories: tuple[str, ...]
    annotators: tuple[str, ...]
    zone: str | None = None
    levels: tuple[ItemPatterns, ItemPatterns] = field(
        default=(ItemPatterns(), ItemPatterns()), repr=False, compare=False
    )

    @property
    def day(self) -> str:
        """The day on which the level began, in the project's time zone."""
        return str(clock.day_of_moment(self.since, self.zone))

    def to_dict(self) -> dict[str, Any]:
        """Return the change as JSON has it."""
        return {
            "since": clock.iso(self.since),
            "day": self.day,
            "measure": self.now.measure,
            "items": self.now.items,
            "value": self.now.value,
            "ci_low": self.now.ci_low,
            "ci_high": self.now.ci_high,
            "before": self.before,
            "p_value": self.p_value,
            "categories": list(self.categories),
            "annotators": list(self.annotators),
        }


@dataclass(frozen=True)
class _Period:
    """Items that follow each other: when the last answers to them began and ended to come."""

    first: int
    last: int
    patterns: ItemPatterns


def recent_level(counted: Study) -> Recent | None:
    """Return the last change of the level of agreement; None if there is none.

    Each item lies in the period of its last answer, with all its answers. A period's figure is
    alpha with the expected disagreement of all items, so that what is labeled does not move it.
    Answers without a time of their own stand in the order of their imports.

    Two statements are needed, and two more if there is a change.
    """
    periods = list(
        _periods(queries.count_patterns_by_moment(counted.connection, counted.selection))
    )
    change = _last_change(counted, periods)
    if change is None:
        return None
    start, place, p_value = change
    before, after = (_sum(some) for some in (periods[start:place], periods[place:]))
    level = counted.query.confidence, counted.query.interval
    then, now = (
        krippendorff_alpha(counted.read(some, len(counted.annotators))).coefficient(*level)
        for some in (before, after)
    )
    if then.value is None or now.value is None:
        return None
    since = periods[place].first
    return Recent(
        since,
        then.value,
        now,
        p_value,
        tuple(_changed_categories(counted, before, after)),
        tuple(sorted(_changed_annotators(counted, periods[start].first, since))),
        counted.question.project.timezone,
        (before, after),
    )


def _periods(moments: Mapping[int, ItemPatterns]) -> Iterator[_Period]:
    """Yield the periods; what is left over at the end belongs to the last one."""
    compared = sum(one.items_compared for one in moments.values())
    enough = max(_LEAST_ITEMS, -(-compared // _MOST_PERIODS))
    held: list[_Period] = []
    items = 0
    waiting: _Period | None = None
    for moment, patterns in moments.items():
        held.append(_Period(moment, moment, patterns))
        items += patterns.items_compared
        if items >= enough:
            if waiting is not None:
                yield waiting
            waiting, held, items = _joined(held), [], 0
    if waiting is not None:
        yield _joined([waiting, *held])


def _joined(periods: Sequence[_Period]) -> _Period:
    return _Period(periods[0].first, periods[-1].last, _sum(periods))


def _sum(periods: Sequence[_Period]) -> ItemPatterns:
    return sum((period.patterns for period in periods), ItemPatterns())


def _last_change(counted: Study, periods: Sequence[_Period]) -> tuple[int, int, float] | None:
    """Return the places at which the level before the last one, and the last one, begin.

    Beside them the p-value of their difference. None if there is no change that is certain.
    """
    sample = counted.sample
    if len(periods) < 2 * SHORTEST or sample.why_not is not None:
        return None
    parts = krippendorff_disagreement(sample)
    if not parts.varied:
        return None
    patterns = [
        pattern for pattern, items in counted.patterns if items and answers_in_pattern(pattern) > 1
    ]
    places = {pattern: place for place, pattern in enumerate(patterns)}
    numbers = np.zeros((len(periods), len(patterns)))
    for row, period in zip(numbers, periods, strict=True):
        for pattern, items in period.patterns:
            if pattern in places:
                row[places[pattern]] += items
    sizes = parts.table.sizes.astype(np.float64)

    def disagreement(rows: Floats) -> tuple[float, float, float]:
        """Return the mean of some periods, the items' squared distances from it, and 1 / n."""
        items = rows.sum(axis=0)
        answers = float(items @ sizes)
        mean = float(items @ parts.within) / answers
        squares = float(items @ (parts.within - mean * sizes) ** 2)
        return mean, squares, float(items.sum()) / answers**2

    each = [disagreement(row[None, :]) for row in numbers]
    spread = sum(squares for _, squares, _ in each) / max(numbers.sum() - len(periods), 1)
    points = [
        Point(
            period.last,
            1 - mean / parts.expected,
            math.sqrt(spread * share) / parts.expected,
            period.patterns.items_compared,
        )
        for period, (mean, _, share) in zip(periods, each, strict=True)
    ]
    levels = change_points(points)
    if not levels.changes:
        return None
    *earlier, before, last = (level.n for level in levels.levels)
    place = len(periods) - last
    start = place - before - (earlier[-1] if earlier and before < _BRIEF else 0)
    pooled = disagreement(numbers[start:])[1] / max(numbers[start:].sum() - 2, 1)
    (then, _, share_then), (now, _, share_now) = (
        disagreement(some) for some in (numbers[start:place], numbers[place:])
    )
    sampled = pooled * (share_then + share_now) * _inflation(points[:place])
    error = math.sqrt(sampled + (_ALWAYS * parts.expected) ** 2)
    p_value = _two_sided(then - now, error) * (len(periods) - 2 * SHORTEST + 1)
    return (start, place, p_value) if p_value <= _CERTAIN else None


def _inflation(points: Sequence[Point]) -> float:
    """Return by what the variance of a mean of periods exceeds that of independent items.

    From all periods before the change: those of a project in which good and bad weeks follow each
    other differ by more than their items let one expect, and so will those after it.
    """
    values = np.array([point.value for point in points])
    errors = np.array([point.error for point in points])
    if not errors.all() or len(points) < 2 * SHORTEST:
        return 1.0
    apart = (values - np.average(values, weights=errors**-2.0)) / errors
    beyond = max(float(apart @ apart) / (len(points) - 1), 1.0)
    related = float(apart[1:] @ apart[:-1]) / float(apart @ apart) if beyond > 1 else 0.0
    related = min(max(related, 0.0), _MOST_RELATED)
    return beyond * (1 + related) / (1 - related)


def _changed_categories(counted: Study, before: ItemPatterns, after: ItemPatterns) -> Iterator[str]:
    """Yield the categories on which the annotators agree more or less than before."""
    numbers, query = list(counted.names), counted.query
    pairs = zip(
        category_rates(before, numbers, query.confidence, query.interval),
        category_rates(after, numbers, query.confidence, query.interval),
        strict=True,
    )
    for then, now in pairs:
        if then.rate is None or now.rate is None:
            continue
        error = math.hypot(then.standard_error or 0, now.standard_error or 0)
        if error and _of_part(then.rate - now.rate, error, len(numbers)):
            yield counted.names[now.category]


def _changed_annotators(counted: Study, start: int, since: int) -> Iterator[str]:
    """Yield the annotators whose answers equal those of the others more or less often.

    Their answers are those of the levels' times, whenever the others answered.
    """
    chosen = counted.selection
    start = start if chosen.since is None else max(start, chosen.since)
    then, now = (
        _with_others(queries.count_annotator_tallies(counted.connection, some))
        for some in (replace(chosen, since=start, until=since - 1), replace(chosen, since=since))
    )
    known = [one for one in counted.annotators if one in then and one in now]
    names = annotator_names(counted.connection, counted.question.project)
    for one in known:
        (mean_then, error_then), (mean_now, error_now) = then[one], now[one]
        error = math.hypot(error_then, error_now)
        if error and _of_part(mean_then - mean_now, error, len(known)):
            yield names[one]


def _with_others(tallies: AnnotatorTallies) -> dict[int, tuple[float, float]]:
    """Return each annotator's mean share of equal answers of others to an item, and its error."""
    found = {}
    for annotator, met in tallies.counts.items():
        shares = [
            ((dict(pattern)[own] - 1) / (answers_in_pattern(pattern) - 1), items)
            for (own, pattern), items in met.items()
            if answers_in_pattern(pattern) > 1
        ]
        number = sum(items for _, items in shares)
        if number > 1:
            mean = sum(share * items for share, items in shares) / number
            squares = sum(items * (share - mean) ** 2 for share, items in shares)
            found[annotator] = mean, math.sqrt(squares / (number - 1) / number)
    return found


def _of_part(difference: float, error: float, parts: int) -> bool:
    """Return whether one of several parts changed."""
    return _two_sided(difference, error) * parts <= _OF_PARTS


def _two_sided(difference: float, error: float) -> float:
    """Return how likely a normal deviate lies as far from 0 as a difference."""
    return math.erfc(abs(difference) / error / math.sqrt(2))
