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
    levels = {(shift.start, shift.place) for shift in shifts.values()}
    parts = {level: _find_parts(pairs, *level) for level in levels}
    changed = set()
    for annotator, shift in shifts.items():
        part, error = parts[shift.start, shift.place].get(annotator, (0.0, np.inf))
        least = max(_OWN * abs(shift.difference), _SURE * error)
        if part * np.sign(shift.difference) >= least:
            changed.add(annotator)
    return changed


def _find_parts(pairs: PairPeriods, start: int, place: int) -> dict[int, tuple[float, float]]:
    """Return by how much each annotator's part exceeds the median, and its error.

    The level before begins at the period ``start``, that since then at ``place``. Nothing is
    returned if the parts of annotators cannot be told apart.
    """
    since = pairs.period >= place
    sums = [
        np.bincount(pairs.pair, counts * level, len(pairs.annotators))
        for level in ((pairs.period >= start) & ~since, since)
        for counts in (pairs.alike, pairs.items)
    ]
    both = (sums[1] > 0) & (sums[3] > 0)
    if both.sum() < _LEAST_PAIRS:
        return {}
    same_before, items_before, same_now, items_now = (column[both] for column in sums)
    # Half an answer each way, so that two who always agreed have an error.
    rates = (same_before + 0.5) / (items_before + 1), (same_now + 0.5) / (items_now + 1)
    variance = sum(
        rate * (1 - rate) / (items + 1)
        for rate, items in zip(rates, (items_before, items_now), strict=True)
    )
    difference = same_now / items_now - same_before / items_before
    people, place_of = np.unique(pairs.annotators[both], return_inverse=True)
    first, second = place_of.reshape(-1, 2).T
    number, weights = len(people), 1 / variance
    normal = np.bincount(first * number + second, weights, number**2).reshape(number, number)
    normal += normal.T
    normal += np.diag(normal.sum(axis=0))
    roots = np.linalg.eigvalsh(normal)
    if roots[-1] > _SINGULAR * roots[0]:  # two groups that never met their own kind
        return {}
    inverse = np.linalg.inv(normal)
    parts = inverse @ np.bincount(
        np.concatenate([first, second]), np.tile(weights * difference, 2), number
    )
    columns = np.stack([parts - np.median(parts), np.sqrt(np.diag(inverse))], axis=1)
    return dict(zip(people.tolist(), map(tuple, columns.tolist()), strict=True))
