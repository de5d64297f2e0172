"""The level of agreement now, if it is another one than before.

A figure of all answers is an average over the time of a project, in which a collapse of the last
weeks hardly shows. So the level of agreement is followed through the periods of a project.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from tracker.agreement.coefficients import Study
from tracker.agreement.levels import (
    CERTAIN,
    Course,
    Curve,
    Period,
    Shift,
    course_of_items,
    last_shift,
    sum_of_periods,
    two_sided,
)
from tracker.core import clock
from tracker.core.tallies import AnnotatorTallies, ItemPatterns, answers_in_pattern, share_of_same
from tracker.counts.tallies import count_annotator_tallies
from tracker.measures.category_rates import category_rates
from tracker.measures.disagreement import explained_by_items
from tracker.measures.intervals import Coefficient
from tracker.measures.krippendorff import krippendorff_alpha, krippendorff_disagreement
from tracker.monitoring import SHORTEST
from tracker.projects.annotators import annotator_names

ALWAYS: Final = 0.02
"""The standard error of a level of alpha beside that of its items: no two months are the same."""
_OF_PARTS: Final = 0.05
"""The greatest p-value, times their number, of a category or an annotator that changed, too."""


@dataclass(frozen=True)
class Recent:
    """The last change of the level of agreement: a step, or a slide of many periods.

    Attributes:
        since: the begin of the first period after it, of a slide that of its newest quarter, in
            microseconds since 1970.
        before: alpha of the items of the level before, of a slide that of its first quarter.
        now: alpha of the items since then, with its interval.
        p_value: of the difference, times the number of places at which it could have been found.
        categories: those whose own agreement changed, by name.
        annotators: those who agree with the others more or less than before, by name.
        explained: the share of all disagreement that would be gone if the worse of both levels
            was like the better one.
        slide: the begin of a slide; None of a step.
    """

    since: int
    before: float
    now: Coefficient
    p_value: float
    categories: tuple[str, ...]
    annotators: tuple[str, ...]
    explained: float
    zone: str | None = None
    levels: tuple[ItemPatterns, ItemPatterns] = field(
        default=(ItemPatterns(), ItemPatterns()), repr=False, compare=False
    )
    slide: int | None = None

    @property
    def day(self) -> str:
        return str(clock.day_of_moment(self.since, self.zone))

    @property
    def slide_day(self) -> str | None:
        """The day on which a slide began, in the same time zone."""
        return None if self.slide is None else str(clock.day_of_moment(self.slide, self.zone))

    def to_dict(self) -> dict[str, Any]:
        return {
            "since": clock.iso(self.since),
            "day": self.day,
            "shape": "step" if self.slide is None else "slide",
            "slide_since": None if self.slide is None else clock.iso(self.slide),
            "slide_day": self.slide_day,
            "measure": self.now.measure,
            "items": self.now.items,
            "value": self.now.value,
            "ci_low": self.now.ci_low,
            "ci_high": self.now.ci_high,
            "before": self.before,
            "p_value": self.p_value,
            "categories": list(self.categories),
            "annotators": list(self.annotators),
            "explained": self.explained,
        }


def recent_level(counted: Study, course: Course | None = None) -> Recent | None:
    """Return the last change of the level of agreement; None if there is none.

    A period's figure is alpha with the expected disagreement of all items, so that what is labeled
    does not move it. Two statements are needed, and two more if there is a change; one fewer if
    the ``course`` is known.
    """
    periods = (course or course_of_items(counted)).periods
    change = _last_change(counted, periods)
    if change is None:
        return None
    stop = change.stop or change.place
    first, end, since = (periods[at].first for at in (change.start, stop, change.place))
    before, after = map(sum_of_periods, (periods[change.start : stop], periods[change.place :]))
    level = counted.query.confidence, counted.query.interval
    then, now = (
        krippendorff_alpha(counted.read(some, len(counted.annotators))).coefficient(*level)
        for some in (before, after)
    )
    if then.value is None or now.value is None:
        return None
    worse, better = (after, before) if now.value < then.value else (before, after)
    return Recent(
        since,
        then.value,
        now,
        change.p_value,
        tuple(_changed_categories(counted, before, after)),
        tuple(sorted(_changed_annotators(counted, first, end, since))),
        explained_by_items(counted.patterns, worse, better),
        counted.question.project.timezone,
        (before, after),
        first if change.stop else None,
    )


def _last_change(counted: Study, periods: Sequence[Period]) -> Shift | None:
    """Return the last change of alpha's disagreement; None if there is none that is certain."""
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
    curve = Curve(numbers, parts.within, parts.table.sizes.astype(np.float64))
    shift = last_shift(curve, ALWAYS * parts.expected, slides=True)
    return None if shift is None or shift.p_value > CERTAIN else shift


def _changed_categories(counted: Study, before: ItemPatterns, after: ItemPatterns) -> Iterator[str]:
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


def _changed_annotators(counted: Study, start: int, end: int, since: int) -> Iterator[str]:
    """Yield the annotators whose answers equal those of the others more or less often.

    Their answers are those of the levels' times, whenever the others answered.
    """
    chosen = counted.selection
    start = start if chosen.since is None else max(start, chosen.since)
    then, now = (
        _with_others(count_annotator_tallies(counted.connection, some))
        for some in (replace(chosen, since=start, until=end - 1), replace(chosen, since=since))
    )
    known = [
        annotator for annotator in counted.annotators if annotator in then and annotator in now
    ]
    names = annotator_names(counted.connection, counted.question.project)
    for annotator in known:
        (mean_then, error_then), (mean_now, error_now) = then[annotator], now[annotator]
        error = math.hypot(error_then, error_now)
        if error and _of_part(mean_then - mean_now, error, len(known)):
            yield names[annotator]


def _with_others(tallies: AnnotatorTallies) -> dict[int, tuple[float, float]]:
    """Return each annotator's mean share of equal answers of others to an item, and its error."""
    means = {}
    for annotator, met in tallies.counts.items():
        shares = [
            (share_of_same(own, pattern), items)
            for (own, pattern), items in met.items()
            if answers_in_pattern(pattern) > 1
        ]
        number = sum(items for _, items in shares)
        if number > 1:
            mean = sum(share * items for share, items in shares) / number
            squares = sum(items * (share - mean) ** 2 for share, items in shares)
            means[annotator] = mean, math.sqrt(squares / (number - 1) / number)
    return means


def _of_part(difference: float, error: float, parts: int) -> bool:
    return two_sided(difference, error) * parts <= _OF_PARTS
