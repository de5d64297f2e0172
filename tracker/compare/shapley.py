"""A difference shared out among the kinds of change that made it.

The kinds have no order of their own: what one adds depends on which came before. Its share is
the mean over all orders (Shapley 1953, Contributions to the Theory of Games 2, 307), and the
shares add up to the whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

__all__ = ["shares"]


def shares(
    kinds: Sequence[str], value: Callable[[frozenset[str]], float | None]
) -> dict[str, float] | None:
    """Each kind's share of ``value(all kinds) - value(no kind)``.

    Args:
        kinds: what changed.
        value: the figure where just these kinds of change had happened; None where undefined.

    Returns:
        A number per kind, or None where the figure is undefined on the way: there is no sharing
        out what cannot be computed.
    """
    found = {}
    for size in range(len(kinds) + 1):
        for some in combinations(kinds, size):
            figure = value(frozenset(some))
            if figure is None:
                return None
            found[frozenset(some)] = figure
    return {kind: _share(kind, kinds, found) for kind in kinds}


def _share(kind: str, kinds: Sequence[str], found: dict[frozenset[str], float]) -> float:
    """The mean of what a kind adds, over all orders: sets of those before it by their number."""
    others = [one for one in kinds if one != kind]
    terms = []
    for size in range(len(others) + 1):
        weight = 1 / (len(kinds) * math.comb(len(others), size))
        for some in combinations(others, size):
            before = frozenset(some)
            terms.append(weight * (found[before | {kind}] - found[before]))
    return math.fsum(terms)
