"""Who of those that agree with each other changed.

Whoever answers beside one who changed agrees less, too, and everybody does beside somebody new.
So the changes of the pairs, who are the same two before and since, are divided between the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tracker.agreement.counts_sql import PairPeriods
from tracker.agreement.levels import Shift

_LEAST_PAIRS: Final = 3
_SURE: Final = 3.5
"""Standard errors by which somebody's own part of the change lies from 0."""
_OWN: Final = 0.6
"""The share of a change that is the annotator's own, at least."""
_SINGULAR: Final = 1e9
"""A condition number of equations that cannot tell one annotator from another."""


def annotators_who_changed(pairs: PairPeriods, shifts: Mapping[int, Shift]) -> set[int]:
    """Return those of some annotators whose change of agreement is their own doing.

    The change of two annotators' agreement is taken as the sum of a part of each, found by least
    squares; what most annotators have in common is nobody's own.
    """
    return {annotator for annotator, shift in shifts.items() if _is_own(pairs, annotator, shift)}


def _is_own(pairs: PairPeriods, annotator: int, shift: Shift) -> bool:
    rows = []
    for both, of_periods in pairs.items():
        before, now = np.zeros(2), np.zeros(2)
        for period, counts in of_periods.items():
            if period >= shift.place:
                now += counts
            elif period >= shift.start:
                before += counts
        if before[1] and now[1]:
            rows.append((*both, *before, *now))
    if len(rows) < _LEAST_PAIRS:
        return False
    lower, higher, same_before, items_before, same_now, items_now = np.array(rows).T
    people, place = np.unique([lower, higher], return_inverse=True)
    if annotator not in people:
        return False
    # Half an answer each way, so that two who always agreed have an error.
    rates = (same_before + 0.5) / (items_before + 1), (same_now + 0.5) / (items_now + 1)
    variance = sum(
        rate * (1 - rate) / (items + 1)
        for rate, items in zip(rates, (items_before, items_now), strict=True)
    )
    weights = 1 / variance
    difference = same_now / items_now - same_before / items_before
    normal = np.zeros((len(people), len(people)))
    first, second = place.reshape(2, -1)
    for left, right in ((first, first), (first, second), (second, first), (second, second)):
        np.add.at(normal, (left, right), weights)
    if np.linalg.cond(normal) > _SINGULAR:  # two groups that never met their own kind
        return False
    total = np.bincount(first, weights * difference, len(people))
    total += np.bincount(second, weights * difference, len(people))
    inverse = np.linalg.inv(normal)
    parts = inverse @ total
    at = int(np.flatnonzero(people == annotator)[0])
    own = (parts[at] - np.median(parts)) * np.sign(shift.difference)
    least = max(_OWN * abs(shift.difference), _SURE * float(np.sqrt(inverse[at, at])))
    return bool(own >= least)
