"""How much higher or lower somebody answers than the others do on the same items, and how steadily.

Bland, J. M. & Altman, D. G. (1986). Statistical methods for assessing agreement between two methods
of clinical measurement. Lancet 327(8476), 307-310: the mean of the differences, and their standard
deviation. What is compared with is the mean of the others' answers to the item.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tracker.core.tallies import FloatArray, Pattern, answers_in_pattern
from tracker.core.tally_columns import TallyColumns


class Difference(NamedTuple):
    """An annotator's answers less the means of the others' to the same items.

    Attributes:
        mean: of the differences, above 0 for somebody who answers higher.
        spread: their standard deviation; None below two items.
    """

    mean: float
    spread: float | None


def differences_from_others(shared: TallyColumns, points: Mapping[int, float]) -> FloatArray:
    """Return for each row of the tallies the answer less the mean of the others'; shape (rows,).

    ``points`` are the numbers of the categories; each answer holds one.
    """

    def mean(pattern: Pattern) -> float:
        total = sum(points[answer[0]] * number for answer, number in pattern)
        return total / answers_in_pattern(pattern)

    own = np.array([points[answer[0]] for answer in shared.answers])[shared.own]
    size = np.array([answers_in_pattern(pattern) for pattern in shared.patterns])[shared.pattern]
    means = np.array([mean(pattern) for pattern in shared.patterns])[shared.pattern]
    # The mean of the others, one's own answer taken out, is further from it by n / (n - 1).
    differences: FloatArray = (own - means) * size / (size - 1)
    return differences


def point_differences(shared: TallyColumns, points: Mapping[int, float]) -> dict[int, Difference]:
    """Return the difference of each annotator with a shared item, by id."""
    if not len(shared.number):
        return {}
    differences = differences_from_others(shared, points)
    items = shared.total(1.0)
    means = shared.total(differences) / np.maximum(items, 1.0)
    squares = shared.total((differences - means[shared.owner]) ** 2)
    spreads = np.sqrt(squares / np.maximum(items - 1.0, 1.0))
    columns = (column.tolist() for column in (shared.annotators, items, means, spreads))
    return {
        annotator: Difference(mean, spread if n > 1 else None)
        for annotator, n, mean, spread in zip(*columns, strict=True)
        if n
    }
