"""Agreement between two groups of annotators: cross-replication reliability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from tracker.core.tallies import ItemPatterns, Pattern
from tracker.measures.coefficient import NO_OVERLAP, NOT_APPLICABLE, Parts
from tracker.measures.estimate import Estimate, single_category_estimate, undefined_estimate
from tracker.measures.pattern_table import pattern_table_of
from tracker.measures.sample import Sample
from tracker.measures.weights import DISTANCES, krippendorff_distances

NAME = "cross_replication_reliability"
_LIMITED = {"nominal", "exact", "jaccard", "masi"}  # distances from 0 to 1

TwoPatterns: TypeAlias = Mapping[tuple[Pattern, Pattern], int]
"""Items by the patterns of two groups' answers, neither empty."""


def pool_two_patterns(counts: TwoPatterns) -> ItemPatterns:
    """Return the items by the pattern of all answers, whichever the group."""
    pooled: Counter[Pattern] = Counter()
    for pair, items in counts.items():
        pooled[_pooled(pair)] += items
    return ItemPatterns(pooled)


def _pooled(pair: tuple[Pattern, Pattern]) -> Pattern:
    return tuple(sorted((Counter(dict(pair[0])) + Counter(dict(pair[1]))).items()))


def cross_replication_reliability(counts: TwoPatterns, pooled: Sample) -> Estimate:
    """Return kappa_x, the agreement of pairs of answers across two groups, at most 1.

    ``value = 1 - D_o / D_e`` over the items that both groups answered. D_o is the mean distance
    of an item's pairs of one answer of each group, an item weighing as many answers as it has;
    D_e is that of all such pairs, whatever the item. Alpha within a group compares the pairs of
    that group alone: groups that agree within and not with each other read the task differently.

    Args:
        counts: the items.
        pooled: the answers of `pool_two_patterns` under a reading.

    Undefined: no_overlap if both groups answered no item; single_category if all these answers
    are the same; not_applicable if the scale needs an order that there is not.

    Source:
        Wong, Paritosh and Aroyo (2021), Cross-replication Reliability: An Empirical Approach to
        Interpreting Inter-rater Reliability, ACL-IJCNLP 2021, with missing data. The error
        linearizes the value, with an ordinal distance held as it is.
    """
    scale = pooled.scale
    reading = {"distance" if scale in DISTANCES else "scale": scale}
    if not counts:
        return undefined_estimate(NAME, NO_OVERLAP, reading=reading)
    if scale == "ordinal" and not pooled.ordered:
        return undefined_estimate(NAME, NOT_APPLICABLE, reading=reading)
    answers = pooled.table.answers
    one, other, both = (
        pattern_table_of([(pattern(pair), items) for pair, items in counts.items()], answers)
        for pattern in (lambda pair: pair[0], lambda pair: pair[1], _pooled)
    )
    given, met, totals = (
        table.over_answers(table.count * table.items[table.owner].astype(np.float64))
        for table in (one, other, both)
    )
    distance = krippendorff_distances(scale, answers, pooled.values, totals)
    items, number = both.items, int(both.items.sum())
    used = np.flatnonzero(totals)
    if not distance.between(used[:1], used).any():
        return single_category_estimate(NAME, number, reading=reading)
    # Of all pairs of an item's answers those within either group are not across.
    across = (both.pairs(distance) - one.pairs(distance) - other.pairs(distance)) / 2
    apart = across / (one.sizes * other.sizes)
    every, possible = float(totals.sum()), float(given.sum() * met.sum())
    observed = float(items @ (both.sizes * apart)) / every
    by_other, by_one = distance.against(met), distance.against(given)
    expected = float(given @ by_other) / possible
    chance = (
        one.over_patterns(one.count * by_other[one.answer])
        + other.over_patterns(other.count * by_one[other.answer])
    ) / possible - expected * (one.sizes / given.sum() + other.sizes / met.sum())
    change = both.sizes * (apart - observed) / every - observed / expected * chance
    limited = scale in _LIMITED
    return Estimate(
        NAME,
        1 - observed / expected,
        parts=Parts(
            1 - observed if limited else None,
            1 - expected if limited else None,
            observed,
            expected,
        ),
        influence=-change / expected,
        counts=items,
        items=number,
        compared=number,
        reading=reading,
    )
