"""Strengths of what is compared in pairs, from how often each was better, or both were alike.

Of two, ``i`` is better with the probability ``p_i / (p_i + p_j + v sqrt(p_i p_j))`` and both are
alike with ``v sqrt(p_i p_j) / (…)`` (Davidson 1970, J. Am. Stat. Assoc. 65, 317); without ties that
is the model of Bradley and Terry (1952, Biometrika 39, 324). A strength is ``log p_i``, and their
mean is 0. With an order effect, the one that is shown first has ``g p_i`` in place of ``p_i``
(Davidson and Beaver 1977, Biometrics 33, 693).

Answers to one item depend on each other, so errors are those of sums over items (the sandwich).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tracker.core.tallies import FloatArray
from tracker.measures.difference_tests import holm

NOTHING, NOT_CONNECTED, ONE_SIDED, TIES_APART = (
    "nothing_compared", "not_connected", "one_sided", "ties_apart",
)  # fmt: skip
WHY_NOT: Final = {
    NOTHING: "no answer says which of two that have names is better",
    NOT_CONNECTED: "{group} were never compared with {others}",
    ONE_SIDED: "{group} were never worse than {others}, nor alike",
    TIES_APART: "no circle of answers holds more better ones than ties, so that any strengths fit",
}
"""Why there are no strengths (Ford 1957, Am. Math. Monthly 64, 28, for those without ties)."""

_STEPS: Final = 200
_CLOSE: Final = 1e-10
_LARGE: Final = 12.0  # of an order effect: none that is finite is so large
_OUTCOMES: Final = np.array([[1, 0, 0, 1], [0.5, 0.5, 1, 0], [0, 1, 0, 0]], np.float64)
"""What adds to the log weight of each outcome: the first's strength, the second's, that of a tie,
and the order effect."""


class Row(NamedTuple):
    """Items that show the same two in the same order, with equal numbers of each answer."""

    first: str
    second: str
    better: int  # answers that say that the first one is
    ties: int
    worse: int
    items: int = 1


@dataclass(frozen=True)
class Undefined:
    """Why there are no strengths, and of which group."""

    reason: str
    group: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        listed = (", ".join(names[:8]) + (" …" if len(names) > 8 else "")
                  for names in (self.group, self.others))  # fmt: skip
        return WHY_NOT[self.reason].format(**dict(zip(("group", "others"), listed, strict=True)))


class Comparisons:
    """Rows as arrays, and the names of what they compare in their order."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Rows of which the two are one, and those without an answer, are left out."""
        kept = [row for row in rows
                if row.first != row.second and row.better + row.ties + row.worse]  # fmt: skip
        self.names = sorted({name for row in kept for name in row[:2]})
        place = {name: n for n, name in enumerate(self.names)}
        self.places = np.array([[place[row.first], place[row.second]] for row in kept], np.int64)
        self.places = self.places.reshape(-1, 2)
        numbers = np.array([row[2:] for row in kept], np.float64).reshape(-1, 4)
        self.answers, self.items = numbers[:, :3], numbers[:, 3]

    @cached_property
    def totals(self) -> FloatArray:
        """Answers by the two and the outcome; (names, names, 3), the first one shown first."""
        totals = np.zeros((len(self.names), len(self.names), 3))
        np.add.at(totals, tuple(self.places.T), self.answers * self.items[:, None])
        return totals

    @cached_property
    def beats(self) -> FloatArray:
        """How often each was better than each, in either order."""
        return self.totals[:, :, 0] + self.totals[:, :, 2].T

    @cached_property
    def alike(self) -> FloatArray:
        """How often both were alike, in either order."""
        return self.totals[:, :, 1] + self.totals[:, :, 1].T

    @property
    def has_ties(self) -> bool:
        return bool(self.alike.any())

    @cached_property
    def undefined(self) -> Undefined | None:
        """Why there are no strengths; None if there are."""
        if not self.names:
            return Undefined(NOTHING)
        ahead = (self.beats + self.alike) > 0
        joined, led = _reached(ahead | ahead.T), _reached(ahead)
        if not joined.all():
            return self._parted(NOT_CONNECTED, joined[0])
        if not led.all():
            top = max(range(len(led)), key=lambda n: int(led[n].sum()))
            return self._parted(ONE_SIDED, led[:, top])
        return Undefined(TIES_APART) if self.has_ties and not self._has_circle() else None

    def _parted(self, reason: str, inside: npt.NDArray[np.bool_]) -> Undefined:
        parts = ([name for name, one in zip(self.names, inside.tolist(), strict=True) if one is way]
                 for way in (True, False))  # fmt: skip
        return Undefined(reason, *map(tuple, parts))

    def _has_circle(self) -> bool:
        """Return whether a circle has more steps to a worse one than ties (Floyd 1962)."""
        steps = np.where(self.alike > 0, 1.0, np.inf)
        steps[self.beats > 0] = -1.0
        for middle in range(len(steps)):
            steps = np.minimum(steps, steps[:, middle, None] + steps[None, middle])
            if (np.diagonal(steps) < 0).any():
                return True
        return False


def _reached(steps: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return from where each place is reached, by any number of steps."""
    reached = steps | np.eye(len(steps), dtype=bool)
    while True:
        further = (reached.astype(np.float64) @ reached) > 0
        if (further == reached).all():
            return reached
        reached = further


@dataclass(frozen=True)
class Strengths:
    """Strengths with their covariance, by the places of the names.

    Attributes:
        names: of what was compared.
        values: log strengths with a mean of 0.
        covariance: of the strengths.
        tie: the logarithm of the tie parameter, and its error; None if there are no ties.
        order: the logarithm of the order effect, and its error; None if it was not asked for.
    """

    names: Sequence[str]
    values: FloatArray
    covariance: FloatArray
    tie: tuple[float, float] | None
    order: tuple[float, float] | None

    @property
    def errors(self) -> FloatArray:
        """The standard error of each strength."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    def difference(self, one: int, other: int) -> tuple[float, float]:
        """Return by how much one is stronger than another, and the standard error of that."""
        of = self.covariance
        variance = float(of[one, one] + of[other, other] - 2 * of[one, other])
        return float(self.values[one] - self.values[other]), max(variance, 0.0) ** 0.5

    def probability(self, one: int, other: int) -> float:
        """Return how likely one is better than another if both are not alike."""
        return float(1 / (1 + np.exp(self.values[other] - self.values[one])))

    def certain(self, confidence: float) -> npt.NDArray[np.bool_]:
        """Return who is stronger than whom: all of it is right with this confidence.

        By the differences of all pairs, with Holm's correction (1979, Scand. J. Stat. 6, 65).
        """
        from scipy.special import ndtr

        stronger = np.zeros((len(self.names), len(self.names)), bool)
        pairs = [*combinations(range(len(self.names)), 2)]
        gaps = [self.difference(*pair) for pair in pairs]
        p_values = holm(
            [2 * float(ndtr(-abs(gap) / error)) if error > 0 else 1.0 for gap, error in gaps]
        )
        for (one, other), (gap, _), p in zip(pairs, gaps, p_values, strict=True):
            if p is not None and p <= 1 - confidence:
                stronger[(one, other) if gap > 0 else (other, one)] = True
        return stronger

    def ranks(self, confidence: float) -> list[tuple[int, int]]:
        """Return the best and the worst rank that each can have, all at once."""
        stronger = self.certain(confidence)
        above, below = stronger.sum(axis=0).tolist(), stronger.sum(axis=1).tolist()
        return [(1 + over, len(below) - under) for over, under in zip(above, below, strict=True)]


def fit_strengths(compared: Comparisons, *, order: bool = False) -> Strengths | Undefined:
    """Return the strengths of most likelihood, or why there are none.

    With ``order`` an order effect is estimated, too; it has none if it has no finite value, or if
    every two were always shown in one order that the strengths may explain as well.
    """
    if compared.undefined is not None:
        return compared.undefined
    number = len(compared.names)
    others = np.broadcast_to([number, number + 1], compared.places.shape)
    places = np.concatenate([compared.places, others], axis=1)
    active = np.array([*[True] * number, compared.has_ties, order])
    values, model = np.zeros(number + 2), _Model(compared, places, active)
    likelihood = model.likelihood(values)
    for _ in range(_STEPS):
        gradient, information = model.slopes(values)
        if float(np.abs(gradient).max()) < _CLOSE * max(1.0, float(model.counts.sum())):
            break
        step = model.solved(information, gradient)
        while not (better := model.likelihood(values + step)) >= likelihood:
            step /= 2
            if float(np.abs(step).max()) < _CLOSE:
                break
        values, likelihood = values + step, better
        if abs(values[-1]) > _LARGE:
            return fit_strengths(compared)
    return model.result(values, order=order)


class _Model:
    """The likelihood of comparisons, whose parameters are strengths, tie and order effect."""

    def __init__(self, compared: Comparisons, places: Any, active: Any) -> None:
        self.compared, self.places, self.active = compared, places, active
        self.answers, self.items = compared.answers, compared.items
        self.counts = self.answers.sum(axis=1)
        self.outcomes = _OUTCOMES * np.array([1, 1, active[-2], active[-1]])

    def chances(self, values: FloatArray) -> FloatArray:
        """Return how likely each outcome is in each row; (rows, 3)."""
        weights = values[self.places] @ self.outcomes.T
        if not self.active[-2]:
            weights[:, 1] = -np.inf
        chances = np.exp(weights - weights.max(axis=1, keepdims=True))
        result: FloatArray = chances / chances.sum(axis=1, keepdims=True)
        return result

    def likelihood(self, values: FloatArray) -> float:
        given = self.answers > 0
        logs = np.log(np.where(given, self.chances(values), 1.0))
        return float((self.items[:, None] * self.answers * logs).sum())

    def scores(self, values: FloatArray) -> FloatArray:
        """Return the slope of each row of one item by its four parameters; (rows, 4)."""
        rest = self.answers - self.counts[:, None] * self.chances(values)
        result: FloatArray = rest @ self.outcomes
        return result

    def slopes(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient of the likelihood, and its information."""
        chances = self.chances(values)
        gradient = np.zeros(len(values))
        np.add.at(gradient, self.places, self.items[:, None] * self.scores(values))
        mean = chances @ self.outcomes
        squares = np.einsum("rk,ki,kj->rij", chances, self.outcomes, self.outcomes)
        squares -= mean[:, :, None] * mean[:, None]
        return gradient, self._summed(squares * (self.items * self.counts)[:, None, None])

    def solved(self, information: FloatArray, gradient: FloatArray) -> FloatArray:
        step = np.zeros(len(gradient))
        step[self.active] = self._inverse(information) @ gradient[self.active]
        return step

    def _inverse(self, information: FloatArray) -> FloatArray:
        """Return the inverse among strengths whose mean is 0."""
        inner = information[np.ix_(self.active, self.active)]
        return np.asarray(np.linalg.pinv(inner, rcond=1e-10, hermitian=True), np.float64)

    def _summed(self, squares: FloatArray) -> FloatArray:
        total = np.zeros((len(self.active), len(self.active)))
        np.add.at(total, (self.places[:, :, None], self.places[:, None]), squares)
        return total

    def result(self, values: FloatArray, *, order: bool) -> Strengths:
        _, information = self.slopes(values)
        scores, items = self.scores(values), float(self.items.sum())
        spread = self._summed(scores[:, :, None] * scores[:, None] * self.items[:, None, None])
        inverse = self._inverse(information)
        inner = inverse @ spread[np.ix_(self.active, self.active)] @ inverse
        covariance = np.zeros_like(information)
        estimated = float(self.active.sum()) - 1.0
        covariance[np.ix_(self.active, self.active)] = inner * items / max(items - estimated, 1.0)
        error = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
        number = len(values) - 2
        known = np.linalg.matrix_rank(
            information[np.ix_(self.active, self.active)], tol=1e-8 * items, hermitian=True
        )
        pair = [(float(values[n]), float(error[n])) for n in (number, number + 1)]
        told = order and bool(known == int(self.active.sum()) - 1)
        return Strengths(
            self.compared.names,
            values[:number] - values[:number].mean(),
            covariance[:number, :number],
            pair[0] if self.active[-2] else None,
            pair[1] if told else None,
        )


def kendall_tau(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return Kendall's tau-b of two sets of strengths of the same; None of fewer than two.

    That is (C - D) / sqrt((C + D + T1)(C + D + T2)), of all pairs C in one order, D in opposite
    ones, T1 and T2 equal in one set alone (Kendall 1938, Biometrika 30, 81; 1945, 33, 239).
    """
    signs = [(np.sign(one[i] - one[j]), np.sign(other[i] - other[j]))
             for i, j in combinations(range(len(one)), 2)]  # fmt: skip
    unequal = [sum(sign[side] != 0 for sign in signs) for side in (0, 1)]
    if not all(unequal):
        return None
    both = float(sum(a * b for a, b in signs))
    return both / math.sqrt(unequal[0] * unequal[1])


class Position(NamedTuple):
    """How often somebody prefers the first of two, and how often by the strengths they would.

    Attributes:
        answers: those that tell: no tie, to two that were shown in both orders.
        observed: the share of them, weighted, that prefer the first.
        expected: that of the strengths.
        error: the standard error of the difference.
    """

    answers: int
    observed: float
    expected: float
    error: float

    @property
    def difference(self) -> float:
        return self.observed - self.expected

    @property
    def p_value(self) -> float | None:
        """Of no difference, two-sided; None without an error."""
        from scipy.special import ndtr

        return 2 * float(ndtr(-abs(self.difference) / self.error)) if self.error else None


def equal_numbers_p_value(one: int, other: int) -> float | None:
    """Return the p-value of two numbers that are equally likely: exact binomial, two-sided."""
    from scipy.special import betainc

    if not one + other:
        return None
    return min(1.0, 2 * float(betainc(max(one, other), min(one, other) + 1, 0.5)))


def positions(shown: Mapping[int, Sequence[Row]]) -> dict[int, Position]:
    """Return how much each annotator prefers the first of two, whatever it is.

    ``shown`` has the answers of each. One who prefers ``i`` shown before ``j`` adds ``1 - p`` to a
    sum, one who prefers ``j`` takes ``p`` off, where ``p`` is that of everybody's strengths (of
    two, a half if there are none); each weighted with the share of the two's other order. So what
    somebody thinks of the two cancels out, if the order was drawn by lot, and a pair that was
    always shown in one order says nothing. The variance is the sum of the squares.
    """
    compared = Comparisons(row for rows in shown.values() for row in rows)
    fitted, totals = fit_strengths(compared), compared.totals.sum(axis=2)
    place = {name: n for n, name in enumerate(compared.names)}
    found: dict[int, Position] = {}
    for annotator, rows in shown.items():
        told = []
        for row in rows:
            one, other = place.get(row.first, 0), place.get(row.second, 0)
            both = float(totals[one, other] + totals[other, one])
            weight = 2 * float(totals[other, one]) / both if both else 0.0
            chance = fitted.probability(one, other) if isinstance(fitted, Strengths) else 0.5
            if weight:
                told.append((row.better * row.items, row.worse * row.items, weight, chance))
        counts = np.array(told).reshape(-1, 4).T
        better, worse, weights, chances = counts
        total = float((weights * (better + worse)).sum())
        if total:
            variance = weights**2 * (better * (1 - chances) ** 2 + worse * chances**2)
            found[annotator] = Position(
                int((better + worse).sum()),
                float((weights * better).sum()) / total,
                float((weights * (better + worse) * chances).sum()) / total,
                float(variance.sum()) ** 0.5 / total,
            )
    return found
