"""A difference shared out among the kinds of change that made it.

The kinds have no order of their own: what one adds depends on which came before. Its share is
the mean over all orders (Shapley 1953, Contributions to the Theory of Games 2, 307), and the
shares add up to the whole. An order on whose way the figure is undefined tells nothing and is
left out: where all items are others, the old ones cannot go before the new ones come.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise, permutations


def shares(
    kinds: Sequence[str], value: Callable[[frozenset[str]], float | None]
) -> dict[str, float] | None:
    """Each kind's share of ``value(all kinds) - value(no kind)``.

    Args:
        kinds: what changed; a handful.
        value: the figure where just these kinds of change had happened; None where undefined.

    Returns:
        A number per kind, or None where the figure is undefined on the way of every order.
    """
    known = cache(value)
    found: list[dict[str, float]] = []
    for order in permutations(kinds):
        figures = [known(frozenset(order[:place])) for place in range(len(order) + 1)]
        defined = [figure for figure in figures if figure is not None]
        if len(defined) == len(figures):
            steps = (after - before for before, after in pairwise(defined))
            found.append(dict(zip(order, steps, strict=True)))
    if not found:
        return None
    return {kind: math.fsum(one[kind] for one in found) / len(found) for kind in kinds}
