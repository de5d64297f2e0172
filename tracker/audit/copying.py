"""Two annotators agree on what the others find wrong, more than chance.

What counts is a shared minority answer: both gave it, and fewer than half of the item's others
did. Given an item's answers, any two of its n annotators are as likely as any other two to be
the ones who gave an answer that T gave: T (T - 1) / (n (n - 1)). The number over their shared
items is a sum of such trials.

That chance is too low for two who err much, or lean to the same category. So the pairs that
stand out are tested again with each one's own odds of a category and of being right in place of
everybody's, and keep the larger p-value. Whether the two worked together, one copied from the
other or both from somewhere else, the answers do not say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.audit.correction import benjamini_hochberg
from tracker.audit.entries import FloatArray, IntArray
from tracker.audit.evidence import Evidence
from tracker.audit.finding import Effect, Finding, Kind, severity_of_size
from tracker.audit.habits import Habits, habits, joint_chance
from tracker.audit.minority import chance_of_minority, is_minority
from tracker.audit.observed import PairPatterns
from tracker.audit.wording import percent

__all__ = ["COPYING", "MINIMUM_SHARED", "Minorities"]

NAME = "copying"

MINIMUM_SHARED = 20
"""Items that two annotators must share."""

LEAST_COPIED = 5
"""Shared minority answers that a flag needs."""

MEDIUM_RATIO, HIGH_RATIO = 3.0, 5.0


def find(evidence: Evidence) -> Iterator[Finding | float]:
    """One finding per pair with enough shared items that stands out; of the others, the p-value.

    There may be a hundred thousand pairs.
    """
    pairs = evidence.pairs
    if pairs is None or not pairs.pairs:
        return
    sums = Minorities(pairs)
    p_values = sums.bounds()
    q_values = np.array(benjamini_hochberg(p_values.tolist()))
    standing = np.flatnonzero(q_values <= evidence.alpha)
    known = habits(evidence) if len(standing) else {}
    plain = p_values > evidence.alpha
    yield from p_values[plain].tolist()
    for place in np.flatnonzero(~plain).tolist():
        expected, p_value = float(sums.expected[place]), float(p_values[place])
        if q_values[place] <= evidence.alpha:
            expected, again = _again(pairs, sums, place, known)
            p_value = max(p_value, again)
        yield _finding(evidence, sums, place, expected, p_value)


class Minorities:
    """Of each pair: shared items, those that could tell, minority answers shared and expected."""

    def __init__(self, pairs: PairPatterns) -> None:
        self.pairs = pairs
        chance = np.array([chance_of_minority(pattern) for pattern in pairs.patterns])
        minority = np.zeros((len(pairs.patterns), len(pairs.answers) + 1), dtype=np.bool_)
        for row, pattern in enumerate(pairs.patterns):
            for column, answer in enumerate(pairs.answers):
                minority[row, column] = is_minority(answer, pattern)
        self.chance = chance[pairs.pattern]
        self.hit = minority[pairs.pattern, pairs.same]
        self.shared = self._total(np.ones(len(pairs.pair)))
        self.telling = self._total(self.chance > 0)
        self.seen = self._total(self.hit)
        self.expected = self._total(self.chance)
        self.order: IntArray = np.argsort(pairs.pair, kind="stable")
        self.start = np.searchsorted(pairs.pair[self.order], np.arange(len(pairs.pairs) + 1))

    def _total(self, values: NDArray[Any]) -> FloatArray:
        weights = self.pairs.items * values
        return np.bincount(self.pairs.pair, weights, len(self.pairs.pairs)).astype(np.float64)

    def rows(self, place: int) -> IntArray:
        """The rows of one pair."""
        return np.asarray(self.order[self.start[place] : self.start[place + 1]])

    def bounds(self) -> FloatArray:
        """An upper bound of each pair's upper tail (Hoeffding 1956, theorem 5).

        Of all trials with the same number and the same expected successes, those of equal chance
        have the heaviest tail from one success above the expectation on.
        """
        from scipy.special import betainc

        number = np.maximum(self.telling, 1.0)
        mean = self.expected / number
        above = self.seen >= self.expected + 1.0
        seen = np.where(above, self.seen, 1.0)
        tail = betainc(seen, np.maximum(number - seen, 0.0) + 1.0, mean)
        return np.asarray(np.where(above, np.maximum(tail, np.finfo(np.float64).tiny), 1.0))


def _again(
    pairs: PairPatterns, sums: Minorities, place: int, known: dict[int, Habits]
) -> tuple[float, float]:
    """Expected shared minority answers and the exact tail, from both annotators' own habits."""
    first, second = (known[who] for who in pairs.pairs[place])
    rows = sums.rows(place)
    codes, where = np.unique(pairs.pattern[rows], return_inverse=True)
    items = np.bincount(where, pairs.items[rows]).astype(np.int64)
    total, expected = np.ones(1), 0.0
    for code, number in zip(codes.tolist(), items.tolist(), strict=True):
        chance = joint_chance(first, second, pairs.patterns[code])
        expected += number * chance
        total = np.convolve(total, _binomial(number, chance))
    tail = float(total[int(sums.seen[place]) :].sum())
    return expected, min(1.0, max(tail, np.finfo(np.float64).tiny.item()))


def _binomial(trials: int, chance: float) -> FloatArray:
    if chance <= 0.0 or chance >= 1.0:
        certain: FloatArray = np.zeros(trials + 1)
        certain[trials if chance >= 1.0 else 0] = 1.0
        return certain
    successes = np.arange(trials + 1)
    ways = [
        math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1)
        for k in range(trials + 1)
    ]
    logs = np.array(ways) + successes * math.log(chance)
    probabilities: FloatArray = np.exp(logs + (trials - successes) * math.log1p(-chance))
    return probabilities


def _finding(
    evidence: Evidence, sums: Minorities, place: int, expected: float, p_value: float
) -> Finding:
    from scipy.special import gammaincinv

    first, second = sums.pairs.pairs[place]
    seen, shared = float(sums.seen[place]), float(sums.shared[place])
    ratio = seen / expected if expected > 0 else None
    low = high = None
    if expected > 0 and p_value <= evidence.alpha:
        # Garwood's exact interval of a Poisson mean (1936).
        low = float(gammaincinv(seen, 0.025)) / expected if seen else 0.0
        high = float(gammaincinv(seen + 1, 0.975)) / expected
    return Finding(
        kind=NAME,
        annotator=first,
        category=None,
        observed=seen / shared,
        expected=expected / shared,
        peers=expected / shared,
        n=int(shared),
        informative=int(sums.telling[place]),
        effect=Effect("ratio", ratio, low, high),
        p_value=p_value,
        notable=seen >= LEAST_COPIED and (ratio or 0.0) >= evidence.floors.copied_ratio,
        suspicious=False,
        strength=max(seen - expected, 0.0) / shared,
        severity=severity_of_size(ratio or 0.0, MEDIUM_RATIO, HIGH_RATIO),
        other=second,
        details={"shared_minority_answers": int(seen), "expected_minority_answers": expected},
    )


def why(finding: Finding) -> str:
    """How many answers that the others do not share."""
    seen = finding.details["shared_minority_answers"]
    expected = finding.details["expected_minority_answers"]
    return (
        f"of {finding.n} items that both answered, {{annotator}} and {{other}} gave the same "
        f"answer against most of the others on {seen} ({percent(finding.observed)}), where "
        f"{expected:.1f} are expected"
    )


COPYING = Kind(NAME, frozenset({"pairs"}), find, why, spoils=True)
