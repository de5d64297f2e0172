"""Many tests at once: the share of wrong findings among the findings is held, not each test's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """The q-value of each p-value, in the same order; between 0 and 1.

    Rejecting all with q <= alpha holds the false discovery rate at alpha (Benjamini and Hochberg
    1995, procedure (1)): q of the k-th smallest of m is the least m p / rank over ranks >= k.
    """
    if not p_values:
        return []
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * len(values) / np.arange(1, len(values) + 1)
    adjusted = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    q_values = np.empty_like(adjusted)
    q_values[order] = adjusted
    return [float(value) for value in q_values]
