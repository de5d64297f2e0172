"""An annotator is right less often than the others on items whose answer is known.

On an item that n annotators answered, T of them right, each is as likely as the other to be among
the T: a sum with the Poisson-binomial distribution of `poisson_binomial`, so that hard items
are no one's fault. If too few such items were answered by others as well, the yardstick is
everybody's answers to items of the same truth (`stratified`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import (
    MINIMUM_INFORMATIVE,
    Effect,
    Example,
    Finding,
    Kind,
    TestResult,
    severity_of_gap,
)
from tracker.audit.statistics.exact_tests import Pool, Stratum, clopper_pearson, pool_strata
from tracker.audit.statistics.mantel_haenszel import mantel_haenszel_of_chances
from tracker.core.audit_tallies import GoldTallies
from tracker.core.tallies import Answer, Pattern, answers_in_pattern

NAME = "low_gold_accuracy"

GAP = Threshold("accuracy_gap", 0.1)
"""By how much the share of right answers is below the others', at least, for a flag."""


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator with an answer to an item that has a truth."""
    gold = evidence.gold or {}
    totals = _right_by_truth(gold)
    for annotator, counts in gold.items():
        n = sum(counts.values())
        right = sum(items for (truth, own, _), items in counts.items() if truth == own)
        usage = mantel_haenszel_of_chances(
            annotator,
            (
                (int(truth == own), dict(pattern).get(truth, 0), answers_in_pattern(pattern), items)
                for (truth, own, pattern), items in counts.items()
            ),
        )
        informative = usage.informative if usage else 0
        peers = usage.peer_share if usage else None
        expected = usage.expected_share if usage else None
        p_value = usage.tails.lower if usage and informative >= MINIMUM_INFORMATIVE else None
        gap = usage.observed_share - usage.peer_share if usage else 0.0
        if p_value is None:
            pool = _of_all(annotator, gold, totals)
            if pool is not None and pool.trials >= MINIMUM_INFORMATIVE:
                informative, p_value = pool.trials, pool.tails.lower
                peers, expected = pool.peers, pool.expected
                gap = pool.own / pool.trials - pool.peers
        low, high = clopper_pearson(right, n)
        shift = gap - right / n
        yield TestResult(
            kind=NAME,
            annotator=annotator,
            observed=right / n,
            expected=expected,
            peers=peers,
            n=n,
            informative=informative,
            effect=Effect("difference", gap, low + shift, high + shift),
            p_value=p_value,
            notable=-gap >= evidence.floor(GAP),
            severity=severity_of_gap(-gap),
            details={"right": right, "accuracy_low": low, "accuracy_high": high},
        )


def _right_by_truth(gold: GoldTallies) -> dict[Answer, dict[int, tuple[int, int]]]:
    """Right answers and answers of each annotator to the items of each truth."""
    totals: dict[Answer, dict[int, tuple[int, int]]] = defaultdict(dict)
    for annotator, counts in gold.items():
        for (truth, own, _), items in counts.items():
            right, answers = totals[truth].get(annotator, (0, 0))
            totals[truth][annotator] = (right + items * (truth == own), answers + items)
    return totals


def _of_all(
    annotator: int, gold: GoldTallies, totals: dict[Answer, dict[int, tuple[int, int]]]
) -> Pool | None:
    strata = []
    for truth in sorted({truth for truth, _, _ in gold[annotator]}):
        everyone = totals[truth].values()
        right, answers = totals[truth][annotator]
        strata.append(
            Stratum(right, answers, sum(r for r, _ in everyone), sum(n for _, n in everyone))
        )
    return pool_strata(strata)


def wrong_gold_answers(flag: Finding, evidence: Evidence) -> Iterator[Example]:
    """Yield the wrong answers, the more telling the more of the others were right."""
    best: dict[tuple[Answer, Pattern], tuple[float, int]] = {}
    for (truth, own, pattern), items in (evidence.gold or {}).get(flag.annotator, {}).items():
        if own != truth:
            share = dict(pattern).get(truth, 0) / answers_in_pattern(pattern)
            score, number = best.get((own, pattern), (0.0, 0))
            best[own, pattern] = (max(score, share + 1e-9), number + items)
    for key, (score, number) in best.items():
        yield score, key, number


LOW_GOLD_ACCURACY = Kind(NAME, frozenset({"gold"}), run_test, GAP, examples=wrong_gold_answers)
