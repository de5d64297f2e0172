"""Whether annotators are right as often as they are confident: calibration, from tallies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

BINS = 10
"""Bins of equal width; the first holds 0, and each its upper bound."""


class ConfidenceTally(NamedTuple):
    """Answers of one bin that are right, or that are not: the sums of their confidences."""

    bin: int
    right: bool
    answers: int
    total: float
    squares: float


@dataclass(frozen=True)
class ReliabilityBin:
    """The answers with a confidence above ``low``, at most ``high``."""

    low: float
    high: float
    answers: int
    confidence: float
    accuracy: float

    def to_dict(self) -> dict[str, Any]:
        """Return a row of the reliability table as JSON."""
        return {
            "low": self.low,
            "high": self.high,
            "answers": self.answers,
            "confidence": self.confidence,
            "accuracy": self.accuracy,
        }


@dataclass(frozen=True)
class Calibration:
    """How confidences compare with the share of right answers; None without an answer.

    Attributes:
        answers: those with a confidence and something to compare with.
        confidence: the mean confidence.
        accuracy: the share that is right.
        brier_score: see `calibration`.
        expected_calibration_error: likewise.
        bins: the reliability table, without empty bins.
    """

    answers: int
    confidence: float | None
    accuracy: float | None
    brier_score: float | None
    expected_calibration_error: float | None
    bins: Sequence[ReliabilityBin]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return {
            "answers": self.answers,
            "confidence": self.confidence,
            "accuracy": self.accuracy,
            "brier_score": self.brier_score,
            "expected_calibration_error": self.expected_calibration_error,
            "bins": [one.to_dict() for one in self.bins],
        }


def calibration(tallies: Iterable[ConfidenceTally]) -> Calibration:
    """Return the Brier score, the expected calibration error and the reliability table.

    The Brier score is the mean of ``(confidence - 1 if right else 0)^2``: 0 is best, and 0.25 is
    what a confidence of 0.5 in everything gets. The expected calibration error is the mean over
    answers of the distance between their bin's accuracy and its mean confidence.

    Source:
        Brier (1950), Monthly Weather Review 78, 1-3, for the event that the answer is right;
        Naeini, Cooper and Hauskrecht (2015), AAAI, 2901-2907; Guo, Pleiss, Sun and Weinberger
        (2017), ICML, PMLR 70, 1321-1330, equation 5.
    """
    held = list(tallies)
    answers = sum(one.answers for one in held)
    if not answers:
        return Calibration(0, None, None, None, None, ())
    loss = sum(one.squares + (one.answers - 2 * one.total if one.right else 0.0) for one in held)
    bins = [made for n in range(BINS) if (made := _bin(n, [t for t in held if t.bin == n]))]
    return Calibration(
        answers,
        sum(one.total for one in held) / answers,
        sum(one.answers for one in held if one.right) / answers,
        max(loss, 0.0) / answers,
        sum(one.answers * abs(one.accuracy - one.confidence) for one in bins) / answers,
        bins,
    )


def _bin(number: int, held: Sequence[ConfidenceTally]) -> ReliabilityBin | None:
    answers = sum(one.answers for one in held)
    if not answers:
        return None
    return ReliabilityBin(
        number / BINS,
        (number + 1) / BINS,
        answers,
        sum(one.total for one in held) / answers,
        sum(one.answers for one in held if one.right) / answers,
    )
