"""Shown the same item again, an annotator changes the answer more often than the others do.

The yardstick is everybody's repeated answers to items as contested as these
(`stratified`): items on which all agree, on which most do, and others are strata
apart, as are items that nobody else answered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import MINIMUM_INFORMATIVE, Effect, Kind, TestResult, severity_of_gap
from tracker.audit.statistics.exact_tests import Stratum, clopper_pearson, pool_strata
from tracker.core.tallies import Pattern, answers_in_pattern

NAME = "low_self_agreement"

GAP = Threshold("repeat_gap", 0.1)
"""By how much the share of answers repeated is below the others', at least, for a flag."""


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator who answered an item again."""
    strata: dict[int, dict[str, tuple[int, int]]] = {}
    everyone: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for annotator, counts in (evidence.repeats or {}).items():
        mine = strata.setdefault(annotator, {})
        for (earlier, later, pattern), times in counts.items():
            stratum = _contested(pattern)
            for table in (mine, everyone):
                same, number = table.get(stratum, (0, 0))
                table[stratum] = (same + times * (earlier == later), number + times)
    for annotator, mine in strata.items():
        pool = pool_strata(Stratum(*mine[name], *everyone[name]) for name in sorted(mine))
        tested = pool is not None and pool.trials >= MINIMUM_INFORMATIVE
        n = sum(number for _, number in mine.values())
        same = sum(number for number, _ in mine.values())
        gap = pool.own / pool.trials - pool.peers if pool else 0.0
        low, high = clopper_pearson(same, n)
        yield TestResult(
            kind=NAME,
            annotator=annotator,
            observed=same / n,
            expected=pool.expected if pool else None,
            peers=pool.peers if pool else None,
            n=n,
            informative=pool.trials if pool else 0,
            effect=Effect("difference", gap, low + gap - same / n, high + gap - same / n),
            p_value=pool.tails.lower if pool and tested else None,
            notable=-gap >= evidence.floor(GAP),
            severity=severity_of_gap(-gap),
            details={"same": same},
        )


def _contested(pattern: Pattern) -> str:
    size = answers_in_pattern(pattern)
    if size < 2:
        return "alone"
    most = max(count for _, count in pattern)
    return "all" if most == size else "most" if 2 * most > size else "few"


LOW_SELF_AGREEMENT = Kind(NAME, frozenset({"repeats"}), run_test, GAP, rows="changed")
