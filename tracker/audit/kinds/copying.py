"""Two annotators agree on what the others find wrong, more than chance.

What a finding needs are shared minority answers: both gave it, and fewer than half of the item's
others did. Given an item's answers, any two of its n annotators are as likely as any other two to
be the ones who gave an answer that T gave: T (T - 1) / (n (n - 1)). The number over their shared
items is a sum of such trials, and so is that of all answers that they share; the p-value is
twice the smaller one of both tests.

That chance is too low for two who err much, or lean to the same category. So the pairs that
stand out are tested again with each one's own odds of a category and of being right in place of
everybody's, and keep the larger p-value. Whether the two worked together, one copied from the
other or both from somewhere else, the answers do not say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.audit.evidence import Evidence
from tracker.audit.kind import (
    Effect,
    Finding,
    Flag,
    Kind,
    Points,
    example_disagreement,
    examples_for_kind,
    severity_of_size,
)
from tracker.audit.opinions import opinion_of_pair
from tracker.audit.second_opinion import Consensus, Opinion
from tracker.audit.statistics.fdr import benjamini_hochberg
from tracker.audit.statistics.majority import majority_of_others
from tracker.audit.statistics.pair_dependence import BoolArray
from tracker.audit.statistics.poisson_binomial import binomial, clamped_tail_probability
from tracker.audit.thresholds import Threshold
from tracker.core.audit_tallies import DIFFERENT, MINORITY, SharedItems
from tracker.core.tallies import (
    Answer,
    FloatArray,
    IntArray,
    Pattern,
    answers_in_pattern,
    answers_of_tallies,
    chance_of_sharing,
    is_minority,
    minority_answers,
)

NAME = "copying"

RATIO = Threshold("copied_ratio", 2.0, 1.0, 1e6)
"""Shared minority answers against the expected number, at least, for a flag."""

MINIMUM_SHARED = 20
"""Items that two annotators must share."""

LEAST_COPIED = 5
"""Shared minority answers that a flag needs."""

SURE = 0.01
"""P-value of the minority answers alone that a flag needs: two who are right more often than the
others share many answers, but few against most of the others."""

MEDIUM_RATIO, HIGH_RATIO = 3.0, 5.0


def findings_of_kind(evidence: Evidence) -> Iterator[Finding | float]:
    """One finding per pair with enough shared items that stands out; of the others, the p-value.

    There may be a hundred thousand pairs.
    """
    pairs = evidence.pairs
    if pairs is None or not pairs.pairs:
        return
    minority, alike = copying_in_minority_answers(pairs), copying_in_all_answers(pairs)
    p_values = _both(minority.bounds(), alike.bounds())
    q_values = np.array(benjamini_hochberg(p_values.tolist()))
    standing = np.flatnonzero(q_values <= evidence.alpha)
    known = copying_habits(evidence) if len(standing) else {}
    patterns = _patterns(pairs, standing) if len(standing) else {}
    plain = p_values > evidence.alpha
    yield from p_values[plain].tolist()
    for place in np.flatnonzero(~plain).tolist():
        expected, p_value = float(minority.expected[place]), float(p_values[place])
        surely = False
        if q_values[place] <= evidence.alpha:
            first, second = (known[who] for who in pairs.pairs[place])
            met = patterns[pairs.pairs[place]]
            expected, tail = minority.again(place, met, first, second)
            again = _both(np.array(tail), np.array(alike.again(place, met, first, second)[1]))
            p_value = max(p_value, float(again))
            surely = tail <= SURE
        yield _finding(evidence, minority, place, expected, p_value, surely=surely)


def _both(one: FloatArray, other: FloatArray) -> FloatArray:
    """Twice the smaller of two p-values, at most 1 (Bonferroni)."""
    return np.asarray(np.minimum(2.0 * np.minimum(one, other), 1.0))


def _patterns(pairs: SharedItems, standing: IntArray) -> dict[tuple[int, int], dict[Pattern, int]]:
    """How many items of each pattern some pairs share."""
    wanted = {pairs.pairs[place] for place in standing.tolist()}
    found = pairs.patterns(wanted)
    return {pair: found.of(place) for place, pair in enumerate(found.pairs) if pair in wanted}


class Shared:
    """Of each pair: the items that could tell, how many of them they share, and the expected.

    Shared are the answers that ``which`` names of a pattern; on an item of each kind so many
    ``ways`` lead to one, and ``hits`` says whether the pair shares one. An item can tell where
    some two of its annotators share one and some do not.
    """

    def __init__(
        self,
        pairs: SharedItems,
        which: Callable[[Pattern], list[Answer]],
        ways: IntArray,
        hits: BoolArray,
    ) -> None:
        self.pairs, self.which = pairs, which
        chance = ways / np.maximum(pairs.answers * (pairs.answers - 1), 1)
        telling = (chance > 0) & (chance < 1)
        self.items = self._total(np.ones(len(chance)))
        self.telling = self._total(telling)
        self.seen = self._total(hits & telling)
        self.expected = self._total(chance * telling)

    def _total(self, values: NDArray[Any]) -> FloatArray:
        weights = self.pairs.items * values[self.pairs.kind]
        return np.bincount(self.pairs.pair, weights, len(self.pairs.pairs)).astype(np.float64)

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

    def again(
        self, place: int, met: Mapping[Pattern, int], first: Habits, second: Habits
    ) -> tuple[float, float]:
        """The expected number and the exact tail, from both annotators' own habits."""
        total, expected = np.ones(1), 0.0
        for pattern, number in sorted(met.items()):
            answers = set(self.which(pattern))
            if chance_of_sharing(pattern, answers) < 1:
                chance = joint_copying_chance(first, second, pattern, answers)
                expected += number * chance
                total = np.convolve(total, binomial(number, chance))
        tail = float(total[int(self.seen[place]) :].sum())
        return expected, clamped_tail_probability(tail)


def copying_in_minority_answers(pairs: SharedItems) -> Shared:
    """Return what is shared of the answers that most of the others did not give."""
    return Shared(pairs, minority_answers, pairs.minority, pairs.given == MINORITY)


def copying_in_all_answers(pairs: SharedItems) -> Shared:
    """Return what is shared of all answers."""
    return Shared(pairs, answers_of_tallies, pairs.alike, pairs.given != DIFFERENT)


def _finding(
    evidence: Evidence,
    sums: Shared,
    place: int,
    expected: float,
    p_value: float,
    *,
    surely: bool,
) -> Finding:
    from scipy.special import gammaincinv

    first, second = sums.pairs.pairs[place]
    seen, shared = float(sums.seen[place]), float(sums.items[place])
    ratio = seen / expected if expected > 0 else None
    large = seen >= LEAST_COPIED and (ratio or 0.0) >= evidence.floor(RATIO)
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
        notable=surely and large,
        suspicious=large and not surely,
        severity=severity_of_size(ratio or 0.0, MEDIUM_RATIO, HIGH_RATIO),
        other=second,
        details={"shared_minority_answers": int(seen), "expected_minority_answers": expected},
    )


def confirm_copying(finding: Finding, consensus: Consensus, _: Evidence) -> Opinion:
    """Ask whether both agree more than their errors and the items explain."""
    return opinion_of_pair(finding, consensus)


def copying_against_most(flag: Flag, own: Answer, pattern: Pattern, points: Points) -> float:
    """Return the disagreement of an answer that fewer than half of the others gave."""
    return example_disagreement(flag, own, pattern, points) if is_minority(own, pattern) else 0.0


COPYING = Kind(
    NAME,
    frozenset({"pairs"}),
    findings_of_kind,
    RATIO,
    confirm=confirm_copying,
    examples=examples_for_kind(copying_against_most),
)


_FEWEST = 0.5  # added to either side of an odds ratio: it stays finite, and near 1 of few items


@dataclass(frozen=True)
class Habits:
    """One annotator's odds relative to the co-annotators of the same items.

    Attributes:
        leaning: of each category.
        right: of giving what most of the others gave.
    """

    leaning: Mapping[int, float]
    right: float

    def weight(self, answer: Answer, truth: Answer) -> float:
        """Odds of an answer against another annotator's, where ``truth`` is right."""
        product = self.right if answer == truth else 1.0
        for category in answer:
            product *= self.leaning.get(category, 1.0)
        return product


def copying_habits(evidence: Evidence) -> dict[int, Habits]:
    """The habits of every annotator in the tallies."""
    leanings: dict[int, dict[int, float]] = {}
    for usage in evidence.usages:
        ratio = (usage.odds_more + _FEWEST) / (usage.odds_less + _FEWEST)
        leanings.setdefault(usage.annotator, {})[usage.category] = ratio
    shared = evidence.shared_columns
    met, place = shared.met
    more, less = np.zeros(len(met)), np.zeros(len(met))
    for row, (own, pattern) in enumerate(met):
        size = answers_in_pattern(pattern)
        for truth, share in majority_of_others(own, pattern).items():
            held = dict(pattern)[truth]
            if own == truth:
                more[row] += share * (size - held) / size
            else:
                less[row] += share * held / size
    right = (shared.total(more[place]) + _FEWEST) / (shared.total(less[place]) + _FEWEST)
    return {
        annotator: Habits(leanings.get(annotator, {}), odds)
        for annotator, odds in zip(shared.annotators.tolist(), right.tolist(), strict=True)
    }


def joint_copying_chance(
    first: Habits, second: Habits, pattern: Pattern, answers: Collection[Answer]
) -> float:
    """Probability that these two, among an item's annotators, share one of some answers.

    Given the item's answers, who gave which is weighted by both annotators' odds, the others'
    being 1. Which answer is right is not known: each is taken to be with a probability that
    grows with the number who gave it, threefold for each.
    """
    if not answers:
        return 0.0
    most = max(count for _, count in pattern)
    chance = weight = 0.0
    for truth, number in pattern:
        likely = 3.0 ** (number - most)
        together = every = 0.0
        for answer, count in pattern:
            one = first.weight(answer, truth)
            for other, times in pattern:
                ways = count * (times - (answer == other))
                term = one * second.weight(other, truth) * ways
                every += term
                together += term if answer == other and answer in answers else 0.0
        chance += likely * together / every
        weight += likely
    return chance / weight
