"""Two annotators agree on what the others find wrong, more than chance.

What a finding needs are shared minority answers: both gave it, and fewer than half of the item's
others did. Given an item's answers, any two of its n annotators are as likely as any other two to
be the ones who gave an answer that T gave: T (T - 1) / (n (n - 1)). The number over their shared
items is a sum of such trials, and so is that of all answers that they share; the p-value is
twice the smaller one of both tests.

That chance is too low for two who err much, or lean to the same category. So the pairs that
stand out are tested again with each one's own odds of a category and of being right in place of
everybody's, and keep the larger p-value. A person and a model are held against the other people
alone (`GivenBesideModels`). Whether the two worked together, one copied from the
other or both from somewhere else, the answers do not say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.habits import (
    GivenBesideModels,
    Habits,
    SharedAnswers,
    copying_habits,
    joint_copying_chance,
)
from tracker.audit.kind import (
    Effect,
    Finding,
    Kind,
    Points,
    TestResult,
    example_disagreement,
    examples_for_kind,
    opinion_of_pair,
    opinion_of_person_and_model,
    severity_of_size,
)
from tracker.audit.second_opinion import Consensus, Opinion
from tracker.audit.statistics.exact_tests import benjamini_hochberg
from tracker.audit.statistics.pair_dependence import BoolArray
from tracker.core.audit_tallies import DIFFERENT, MINORITY, SharedItems
from tracker.core.tallies import (
    Answer,
    FloatArray,
    IntArray,
    Pattern,
    chance_of_sharing,
    distinct_answers,
    is_minority,
    minority_answers,
)

NAME = "copying"

RATIO = Threshold("copied_ratio", 2.0, 1.0, 1e6)
"""Shared minority answers against the expected number, at least, for a flag."""

LEAST_COPIED = 5
"""Shared minority answers that a flag needs."""

SURE = 0.01
"""P-value of the minority answers alone that a flag needs: two who are right more often than the
others share many answers, but few against most of the others."""

_LEAST_APART = 0.5  # a ratio stays finite

MEDIUM_RATIO, HIGH_RATIO = 3.0, 5.0


def run_test(evidence: Evidence) -> Iterator[TestResult | FloatArray]:
    """One finding per pair with enough shared items that stands out; of the others, the p-values.

    There may be a hundred thousand pairs.
    """
    yield from _of_people(evidence)
    yield from copied_from_models(evidence)


def _of_people(evidence: Evidence) -> Iterator[TestResult | FloatArray]:
    shared = evidence.pairs
    if shared is None or not shared.pairs:
        return
    minority, alike = copying_in_minority_answers(shared), copying_in_all_answers(shared)
    yield from _tested(
        evidence, shared.pairs, minority, alike, lambda pairs: shared.patterns(pairs).of(pairs)
    )


def copied_from_models(evidence: Evidence) -> Iterator[TestResult | FloatArray]:
    """Return likewise of each person and each model that answered the same items."""
    beside = evidence.models
    if beside is None or not beside.pairs:
        return
    minority, alike = (GivenBesideModels(beside, minority=few) for few in (True, False))
    yield from _tested(evidence, beside.pairs, minority, alike, beside.patterns, model=True)


def _tested(
    evidence: Evidence,
    pairs: Sequence[tuple[int, int]],
    minority: Any,
    alike: Any,
    patterns: Callable[[Collection[tuple[int, int]]], Mapping[tuple[int, int], Any]],
    *,
    model: bool = False,
) -> Iterator[TestResult | FloatArray]:
    """Yield the results of pairs, from their `Shared` or `GivenBesideModels` answers.

    Those that stand out are tested again with their own habits, for which ``patterns`` counts how
    their items were answered.
    """
    p_values = _smaller(minority.bounds(), alike.bounds())
    q_values = np.array(benjamini_hochberg(p_values.tolist()))
    standing = {pairs[place] for place in np.flatnonzero(q_values <= evidence.alpha).tolist()}
    habits = copying_habits(evidence) if standing else {}
    items = patterns(standing) if standing else {}
    plain = p_values > evidence.alpha
    yield p_values[plain]
    for place in np.flatnonzero(~plain).tolist():
        pair = pairs[place]
        expected, p_value = float(minority.expected[place]), float(p_values[place])
        surely = False
        if pair in standing:
            own = [habits[annotator] for annotator in (pair[:1] if model else pair)]
            expected, tail = minority.again(place, items[pair], *own)
            again = _smaller(tail, alike.again(place, items[pair], *own)[1])
            p_value = max(p_value, float(again))
            surely = tail <= SURE
        yield _result(evidence, pair, minority, place, expected, p_value, surely, model)


def _smaller(first: FloatArray | float, second: FloatArray | float) -> FloatArray:
    """Twice the smaller of two p-values, at most 1 (Bonferroni)."""
    return np.asarray(np.minimum(2.0 * np.minimum(first, second), 1.0))


class Shared(SharedAnswers):
    """Of each pair: the items that could tell, how many of them they share, and the expected.

    Shared are the answers that ``which`` names of a pattern; on an item of each kind so many
    ``ways`` lead to one, and ``hits`` says whether the pair shares one. An item can tell if
    some two of its annotators share one and some do not.
    """

    def __init__(
        self,
        pairs: SharedItems,
        which: Callable[[Pattern], list[Answer]],
        ways: IntArray,
        hits: BoolArray,
    ) -> None:
        self.which = which
        chance = (ways / np.maximum(pairs.answers * (pairs.answers - 1), 1))[pairs.kind]
        super().__init__(pairs, chance, (chance > 0) & (chance < 1), hits[pairs.kind])

    def again(
        self, place: int, met: Mapping[Pattern, int], first: Habits, second: Habits
    ) -> tuple[float, float]:
        """The expected number and the exact tail, from both annotators' own habits."""
        chances = (
            (number, joint_copying_chance(first, second, pattern, answers))
            for pattern, number in sorted(met.items())
            for answers in [set(self.which(pattern))]
            if chance_of_sharing(pattern, answers) < 1
        )
        return self.tail(place, chances)


def copying_in_minority_answers(pairs: SharedItems) -> Shared:
    return Shared(pairs, minority_answers, pairs.minority, pairs.given == MINORITY)


def copying_in_all_answers(pairs: SharedItems) -> Shared:
    return Shared(pairs, distinct_answers, pairs.alike, pairs.given != DIFFERENT)


def _result(
    evidence: Evidence,
    pair: tuple[int, int],
    minority: Shared | GivenBesideModels,
    place: int,
    expected: float,
    p_value: float,
    surely: bool,
    model: bool,
) -> TestResult:
    from scipy.special import gammaincinv

    items, telling, seen = (
        float(column[place]) for column in (minority.items, minority.telling, minority.seen)
    )
    ratio = seen / expected if expected > 0 else None
    far = ratio or 0.0
    if model:
        # Of three answers to an item one in two is expected, and a ratio cannot be much more: so
        # it is also enough to differ that many times as rarely as expected.
        far = max(far, (telling - expected) / max(telling - seen, _LEAST_APART))
    large = seen >= LEAST_COPIED and far >= evidence.floor(RATIO)
    low = high = None
    if expected > 0 and p_value <= evidence.alpha:
        # Garwood's exact interval of a Poisson mean (1936).
        low = float(gammaincinv(seen, 0.025)) / expected if seen else 0.0
        high = float(gammaincinv(seen + 1, 0.975)) / expected
    return TestResult(
        kind=NAME,
        annotator=pair[0],
        observed=seen / items,
        expected=expected / items,
        peers=expected / items,
        n=int(items),
        informative=int(telling),
        effect=Effect("ratio", ratio, low, high),
        p_value=p_value,
        notable=surely and large,
        suspicious=large and not surely,
        severity=severity_of_size(ratio or 0.0, MEDIUM_RATIO, HIGH_RATIO),
        other=pair[1],
        details={
            "shared_minority_answers": int(seen),
            "expected_minority_answers": expected,
            **({"model": True} if model else {}),
        },
    )


def confirm_copying(result: TestResult, consensus: Consensus, evidence: Evidence) -> Opinion:
    """Ask whether both agree more than their errors and the items explain."""
    if result.other in evidence.model_ids:
        return opinion_of_person_and_model(result, consensus)
    return opinion_of_pair(result, consensus)


def copying_against_most(flag: Finding, own: Answer, pattern: Pattern, points: Points) -> float:
    """Return the disagreement of an answer that fewer than half of the others gave."""
    return example_disagreement(flag, own, pattern, points) if is_minority(own, pattern) else 0.0


COPYING = Kind(
    NAME,
    frozenset({"pairs"}),
    run_test,
    RATIO,
    reads=frozenset({"models"}),
    confirm=confirm_copying,
    examples=examples_for_kind(copying_against_most),
)

COPYING_FROM_MODELS = replace(COPYING, needs=frozenset(), find=copied_from_models)
"""The same of people beside models alone; no pair of people need be counted."""
