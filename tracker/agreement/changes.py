"""What else changed of late: a category, an annotator, or what is labeled.

The level of agreement of all answers may stand while one category is read in another way, one
person answers otherwise, or the share of a category is another one. Each of these is a curve over
the same periods, and its last change of level is told if it is certain and large, all the curves
that were looked at reckoned with.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracker.agreement.coefficients import Study
from tracker.agreement.counts_sql import count_pairs_by_period, count_tallies_by_stretch
from tracker.agreement.levels import (
    CERTAIN,
    LEAST_ITEMS,
    Course,
    Curve,
    Floats,
    Level,
    Period,
    Shift,
    last_shift,
    may_shift,
    sum_of_periods,
)
from tracker.agreement.recent import ALWAYS, Recent
from tracker.agreement.sentences import changed_sentence
from tracker.agreement.together import annotators_who_changed
from tracker.core import clock
from tracker.core.tallies import ItemPatterns, answers_in_pattern, share_of_same
from tracker.measures.intervals import wilson_interval
from tracker.monitoring import SHORTEST
from tracker.projects.annotators import annotator_names

Subject = Literal["annotator", "category", "share"]
_LARGE: Final = 0.1
"""The least difference of an agreement or a share that is told."""
_SMALL_SHARE, _TIMES = 0.05, 1.5
"""A share that is so much another one is told, too, if it is so many times as large or small."""


@dataclass(frozen=True)
class Changed:
    """The last change of level of a part of a project.

    Attributes:
        subject: what changed: the rate of a *category*, how often an *annotator* agrees with the
            others, or the *share* of the answers that hold a category.
        since: the begin of the first period after it, microseconds since 1970.
        value: that of the level since.
        p_value: of the difference, times the places and the curves in which it could be found.
    """

    subject: Subject
    name: str
    since: int
    before: float
    value: float
    ci_low: float
    ci_high: float
    items: int
    p_value: float
    zone: str | None = None
    levels: tuple[ItemPatterns, ItemPatterns] = field(
        default=(ItemPatterns(), ItemPatterns()), repr=False, compare=False
    )

    @property
    def day(self) -> str:
        return str(clock.day_of_moment(self.since, self.zone))

    def to_dict(self) -> dict[str, Any]:
        payload = {
            "subject": self.subject,
            "name": self.name,
            "since": clock.iso(self.since),
            "day": self.day,
            "value": self.value,
            "ci_low": self.ci_low,
            "ci_high": self.ci_high,
            "before": self.before,
            "items": self.items,
            "p_value": self.p_value,
        }
        return {**payload, "why": changed_sentence(payload)}


class _Found(NamedTuple):
    """The change of one curve: of an annotator or a category, by id."""

    subject: Subject
    of: int
    shift: Shift

    def is_near(self, other: _Found) -> bool:
        same = (self.shift.difference > 0) == (other.shift.difference > 0)
        return same and abs(self.shift.place - other.shift.place) <= 1


def level_changes(counted: Study, course: Course, recent: Recent | None) -> tuple[Changed, ...]:
    """Return the changes of annotators, categories and shares; the largest first of each.

    One statement is needed, and one more if annotators changed. An answer of an annotator lies in
    the period of its own time, an item in that of its last answer.
    """
    periods = course.periods
    if len(periods) < 2 * SHORTEST:
        return ()
    curves = {**_of_categories(counted, periods), **_of_annotators(counted, course)}
    known = {key: curve for key, curve in curves.items() if _has_levels(curve)}
    changes: list[_Found] = list(_certain(known))
    begins = [period.first for period in periods]
    at_once = range(0)
    if recent is not None:
        first = recent.since if recent.slide is None else recent.slide
        at_once = range(begins.index(first) - 1, begins.index(recent.since) + 2)
    rated = sum(subject == "category" for subject, _ in known)
    changes = list(_not_explained(changes, rated, recent, at_once))
    people = [change for change in changes if change.subject == "annotator"]
    if people:
        pairs = count_pairs_by_period(
            counted.connection,
            counted.selection,
            course.stretches,
            [period.stretch for period in periods],
        )
        sure = annotators_who_changed(pairs, {person.of: person.shift for person in people})
        changes = [
            change for change in changes if change.subject != "annotator" or change.of in sure
        ]
        names: Mapping[int, str] = annotator_names(counted.connection, counted.question.project)
    order = ("annotator", "category", "share")
    changes.sort(key=lambda change: (order.index(change.subject), -abs(change.shift.difference)))
    return tuple(
        _told(counted, periods, change, names if change.subject == "annotator" else counted.names)
        for change in changes
    )


def _has_levels(curve: Curve) -> bool:
    there = np.count_nonzero(curve.items @ curve.below)
    return bool(there >= 2 * SHORTEST and curve.items.sum() >= 2 * LEAST_ITEMS)


def _certain(curves: Mapping[tuple[Subject, int], Curve]) -> Iterator[_Found]:
    for (subject, of), curve in curves.items():
        large = _is_large_share if subject == "share" else _is_large
        if not may_shift(curve, large, LEAST_ITEMS, CERTAIN / len(curves)):
            continue
        shift = last_shift(curve, ALWAYS)
        if shift is None or min(shift.before.items, shift.now.items) < LEAST_ITEMS:
            continue
        values = (np.array([level.value]) for level in (shift.before, shift.now))
        shift = replace(shift, p_value=shift.p_value * len(curves))
        if shift.p_value <= CERTAIN and large(*values).all():
            yield _Found(subject, of, shift)


def _is_large(before: Floats, now: Floats) -> NDArray[np.bool_]:
    return np.abs(now - before) >= _LARGE


def _is_large_share(before: Floats, now: Floats) -> NDArray[np.bool_]:
    apart = np.abs(now - before)
    times = np.maximum(now, before) >= _TIMES * np.minimum(now, before)
    return (apart >= _LARGE) | ((apart >= _SMALL_SHARE) & times)


def _not_explained(
    changes: Sequence[_Found], categories: int, recent: Recent | None, at_once: range
) -> Iterator[_Found]:
    """Yield the changes that do not follow from others at the same time.

    Agreement on a category falls with its share: more of those who give it are alone with it. Of
    two categories the one's share is what the other's leaves. What nearly all ``categories`` did
    when the level of all changed, at one of the places ``at_once``, is told with it.
    """
    shares = [change for change in changes if change.subject == "share"]
    all_fell = recent is not None and 3 * len(recent.categories) > 2 * categories
    for change in changes:
        if change.subject == "category":
            with_share = any(change.of == share.of and change.is_near(share) for share in shares)
            if with_share or (all_fell and change.shift.place in at_once):
                continue
        if change.subject == "share" and categories == 2 and change.shift.difference < 0:
            continue
        yield change


def _of_categories(counted: Study, periods: Sequence[Period]) -> dict[tuple[Subject, int], Curve]:
    holding: defaultdict[int, Counter[tuple[int, int, int]]] = defaultdict(Counter)
    sizes: Counter[tuple[int, int]] = Counter()
    for place, period in enumerate(periods):
        for pattern, items in period.patterns:
            size = answers_in_pattern(pattern)
            sizes[place, size] += items
            held: Counter[int] = Counter()
            for answer, count in pattern:
                for category in answer:
                    held[category] += count
            for category, count in held.items():
                holding[category][place, size, count] += items
    curves: dict[tuple[Subject, int], Curve] = {}
    for category in counted.names:
        every, without_it = holding[category], Counter(sizes)
        for (place, size, _), items in every.items():
            without_it[place, size] -= items
        every.update({(*key, 0): items for key, items in without_it.items() if items})
        sorts = sorted({(size, count) for _, size, count in every})
        number = {sort: column for column, sort in enumerate(sorts)}
        table = np.zeros((len(periods), len(sorts)))
        for (place, size, count), items in every.items():
            table[place, number[size, count]] += items
        size, held_by = np.array(sorts, dtype=np.float64).T
        without = size - held_by
        possible = (size * (size - 1) - without * (without - 1)) / 2
        curves["category", category] = Curve(table, held_by * (held_by - 1) / 2, possible).known
        curves["share", category] = Curve(table, held_by, size).known
    return curves


def _of_annotators(counted: Study, course: Course) -> dict[tuple[Subject, int], Curve]:
    """Return how often annotators' answers equal the others' to the same items, as curves."""
    tallies = count_tallies_by_stretch(counted.connection, counted.selection, course.stretches)
    begins = [period.stretch for period in course.periods[1:]]
    columns = tallies.columns.shared
    met, sort = columns.met
    alike, value = np.unique(
        [share_of_same(own, pattern) for own, pattern in met],
        return_inverse=True,
    )
    people, person = np.unique(tallies.annotators, return_inverse=True)
    place = np.searchsorted(begins, tallies.parts, side="right")
    shape = len(people), len(course.periods), len(alike)
    cell = (person * shape[1] + place)[columns.owner] * shape[2] + value[sort]
    table = np.bincount(cell, columns.number, math.prod(shape)).astype(np.float64)
    return {
        ("annotator", annotator): Curve(items, alike, np.ones_like(alike))
        for annotator, items in zip(people.tolist(), table.reshape(shape), strict=True)
    }


def _told(
    counted: Study, periods: Sequence[Period], change: _Found, names: Mapping[int, str]
) -> Changed:
    shift = change.shift
    low, high = _interval(shift.now, counted.query.confidence)
    return Changed(
        change.subject,
        names[change.of],
        periods[shift.place].first,
        shift.before.value,
        shift.now.value,
        low,
        high,
        round(shift.now.items),
        shift.p_value,
        counted.question.project.timezone,
        (
            sum_of_periods(periods[shift.start : shift.place]),
            sum_of_periods(periods[shift.place :]),
        ),
    )


def _interval(level: Level, confidence: float) -> tuple[float, float]:
    """Return Wilson's bounds on the effective number of items, as those of category rates."""
    size = level.value * (1 - level.value) / level.error**2 if level.error else level.items
    return wilson_interval(level.value, size, confidence)
