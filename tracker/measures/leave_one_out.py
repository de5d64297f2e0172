"""The change of a coefficient without one item."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracker.measures.bootstrap import BOOTSTRAPPED
from tracker.measures.estimate import Floats
from tracker.measures.sample import Sample


def strongest_patterns(influence: Floats, most: int) -> list[int]:
    """Return the places of the patterns whose single items weigh most, the strongest first."""
    order = np.argsort(-np.abs(influence), kind="stable")
    strongest: list[int] = order[:most].tolist()
    return strongest


def without_one_item(sample: Sample, measure: str, places: Sequence[int]) -> list[float | None]:
    """Return the coefficient without one item of each of some patterns, exactly; None if undefined.

    Args:
        sample: the answers.
        measure: one that can be bootstrapped.
        places: of the patterns in the sample's table.
    """
    rows = np.repeat(sample.table.items[None, :].astype(np.float64), len(places), axis=0)
    rows[np.arange(len(places)), list(places)] -= 1
    values = BOOTSTRAPPED[measure](sample, rows)
    return [None if np.isnan(value) else float(value) for value in values]
