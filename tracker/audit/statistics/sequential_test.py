"""Whether somebody is right often enough, looked at after each answer: Wald's sequential test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

Verdict: TypeAlias = Literal["ready", "not_ready", "needs_more"]
READY: Final = "ready"
NOT_READY: Final = "not_ready"
NEEDS_MORE: Final = "needs_more"
_ROUNDING = 1e-9


class Outcome(NamedTuple):
    """A verdict, and after how many answers it was reached; None if it is not yet."""

    verdict: Verdict
    after: int | None


@dataclass(frozen=True)
class SequentialTest:
    """The sequential probability ratio test of a share (Wald 1945, *Annals* 16, 117).

    After n answers, T of them right, the evidence is the log of the likelihood ratio

        S = T log(good / bad) + (n - T) log((1 - good) / (1 - bad)).

    The verdict is "ready" as soon as S reaches log(1 / e), "not ready" as soon as -S does. By
    Ville's inequality someone who is right with a probability of at most ``bad`` is ever called
    ready with a probability of at most e, and someone of at least ``good`` ever not ready, however
    often it is looked at. Wald's own bounds, log((1 - e) / e), promise that only approximately.

    Attributes:
        good: the least share of right answers of somebody who is ready.
        bad: the greatest share of somebody who is not; nothing is promised between the two.
        error_rate: e, of each of the two verdicts.
    """

    good: float
    bad: float
    error_rate: float = 0.05

    @cached_property
    def right(self) -> float:
        """What a right answer adds to the evidence."""
        return math.log(self.good / self.bad)

    @cached_property
    def wrong(self) -> float:
        """What a wrong answer adds to it, below 0."""
        return math.log((1 - self.good) / (1 - self.bad))

    @cached_property
    def bound(self) -> float:
        """The evidence at which there is a verdict."""
        return -math.log(self.error_rate) - _ROUNDING

    @property
    def least(self) -> int:
        """The number of answers that make somebody ready if all are right."""
        return math.ceil(self.bound / self.right)

    def outcome(self, answers: Sequence[bool]) -> Outcome:
        """Return the first verdict over answers in their order, right or not."""
        return first_outcome(self, self, answers)

    def reached(self, answers: Sequence[bool], verdict: Verdict) -> int | None:
        """Return after how many answers the evidence first reaches one of the two bounds."""
        evidence = np.cumsum(np.where(np.asarray(answers, dtype=bool), self.right, self.wrong))
        there = np.flatnonzero((evidence if verdict == READY else -evidence) >= self.bound)
        return int(there[0]) + 1 if len(there) else None

    def more(self, answers: Sequence[bool]) -> int:
        """Return how many more answers a verdict takes on average if there is none yet.

        That is the average sample number (Wald 1945, section 4) of a walk that goes on from the
        evidence so far, at the share right so far, to which one answer at ``good`` is added. What
        the last step goes beyond the bound is left out.
        """
        right, number = sum(answers), len(answers)
        evidence = right * self.right + (number - right) * self.wrong
        share = (right + self.good) / (number + 1)
        above = max(self.bound - evidence, self.right)
        below = max(self.bound + evidence, -self.wrong)
        steps = _steps_to_bounds(share, self.right, self.wrong, above, below)
        return max(1, math.ceil(steps))


def first_outcome(
    ready: SequentialTest, not_ready: SequentialTest, answers: Sequence[bool]
) -> Outcome:
    """Return the first verdict if each of the two has a test of its own."""
    raised, fell = ready.reached(answers, READY), not_ready.reached(answers, NOT_READY)
    if raised is not None and (fell is None or raised < fell):
        return Outcome(READY, raised)
    return Outcome(NEEDS_MORE if fell is None else NOT_READY, fell)


def _steps_to_bounds(share: float, up: float, down: float, above: float, below: float) -> float:
    """Return how many steps a walk takes on average to rise by ``above`` or fall by ``below``.

    It goes by ``up`` with a probability of ``share``, else by ``down``. With h ≠ 0 such that
    E exp(h step) = 1, the probability to rise is (1 - exp(-h below)) / (exp(h above) - exp(-h
    below)), and the number of steps the mean of the end divided by that of a step.
    """
    mean = share * up + (1 - share) * down
    middle = math.log(-(1 - share) * down / (share * up)) / (up - down)  # of E exp(h step)
    if abs(middle) * (above + below) < 1e-3:
        return above * below / (share * up**2 + (1 - share) * down**2)

    def excess(h: float) -> float:
        return share * math.exp(h * up) + (1 - share) * math.exp(h * down) - 1

    near, far = middle, 2 * middle
    while excess(far) < 0:
        near, far = far, 2 * far
    for _ in range(60):
        half = (near + far) / 2
        near, far = (half, far) if excess(half) < 0 else (near, half)
    rise = -math.expm1(-far * below) / (math.exp(far * above) - math.exp(-far * below))
    return (rise * above - (1 - rise) * below) / mean
