"""Does a figure fall over time? A trend test and a cumulative sum over blocks of answers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tracker.core.tallies import FloatArray


@dataclass(frozen=True)
class Fall:
    """How a figure fell from its earlier blocks to its later ones.

    Attributes:
        block: the first block after the fall, by the cumulative sum.
        before: mean of the figure in the blocks before it.
        after: mean of the figure from it on.
        trend_p: one-sided p-value of the trend.
        sum_p: one-sided p-value of the cumulative sum.
    """

    block: int
    before: float
    after: float
    trend_p: float
    sum_p: float

    @property
    def p_value(self) -> float:
        """Twice the smaller of the two, at most 1 (Bonferroni)."""
        return min(1.0, 2.0 * min(self.trend_p, self.sum_p))


def cochran_armitage_fall(
    answers: FloatArray, total: FloatArray, squares: FloatArray
) -> Fall | None:
    """Test blocks in order of time for a falling figure.

    The trend is Cochran and Armitage's (Armitage 1955, equation 6): the covariance of the block's
    number and the figure, which for a figure of 0 and 1 is their test of proportions. The
    cumulative sum of deviations from the mean, scaled, is a Brownian bridge if nothing changes;
    the chance that it rises above x is exp(-2 x^2) (Smirnov 1939; Brown, Durbin and Evans 1975).

    Args:
        answers: how many answers each block has; shape (blocks,), as the others.
        total: the figure summed over them.
        squares: its square summed over them.

    Returns:
        None where the figure never varies or fewer than two blocks have an answer.
    """
    number = float(answers.sum())
    if (answers > 0).sum() < 2:
        return None
    mean = float(total.sum()) / number
    variance = float(squares.sum()) / number - mean**2
    if variance <= 1e-12:
        return None
    time = np.arange(len(answers)) - float((np.arange(len(answers)) * answers).sum()) / number
    scale = math.sqrt(variance * float((answers * time**2).sum()))
    trend = float((time * total).sum()) / scale
    path = np.cumsum(total - answers * mean)[:-1]
    top = int(np.argmax(path))
    height = max(float(path[top]), 0.0) / math.sqrt(variance * number)
    early, late = answers[: top + 1].sum(), answers[top + 1 :].sum()
    if not early or not late:
        return None
    return Fall(
        block=top + 1,
        before=float(total[: top + 1].sum() / early),
        after=float(total[top + 1 :].sum() / late),
        trend_p=0.5 * math.erfc(-trend / math.sqrt(2.0)),
        sum_p=math.exp(-2.0 * height**2),
    )
