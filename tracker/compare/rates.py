"""What one item changes about a category's agreement rate."""

from __future__ import annotations

from math import comb

from tracker.measures.rates import CategoryRate
from tracker.tally import ItemPatterns, Pattern, answers_in

__all__ = ["rate_influence"]


def rate_influence(rate: CategoryRate, patterns: ItemPatterns) -> dict[Pattern, float]:
    """Per pattern what one such item changes about a rate, to first order.

    The rate is a ratio of sums over items, A / P; an item with a agreements of p potential ones
    changes it by (a - R p) / P (Cochran 1977, Sampling Techniques, section 6.4).
    """
    if rate.rate is None:
        return {}
    found = {}
    for pattern, _ in patterns:
        size = answers_in(pattern)
        holding = sum(count for answer, count in pattern if rate.category in answer)
        potential = comb(size, 2) - comb(size - holding, 2)
        agreements = comb(holding, 2)
        found[pattern] = (agreements - rate.rate * potential) / rate.potential_agreements
    return found
