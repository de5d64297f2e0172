"""An annotator skips items, or finds that none of the categories applies, more than the others.

One-sided, under the null hypothesis of `poisson_binomial`, over the items that others saw.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import MINIMUM_INFORMATIVE, Kind, TestResult, usage_result
from tracker.audit.statistics.mantel_haenszel import mantel_haenszel_of_chances

NAME = "empty_answers"

ODDS_RATIO = Threshold("empty_odds_ratio", 2.0, 1.0, 1e6)
"""Odds against the co-annotators', at least, for a flag."""


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator who saw an item that others saw too."""
    for annotator, counts in (evidence.skips or {}).items():
        usage = mantel_haenszel_of_chances(
            annotator,
            ((int(empty), held, size, items) for (empty, held, size), items in counts.items()),
        )
        if usage is None:
            continue
        tested = usage.informative >= MINIMUM_INFORMATIVE
        result = usage_result(
            usage,
            NAME,
            p_value=usage.tails.upper if tested else None,
            notable=(usage.odds_ratio or 0.0) >= evidence.floor(ODDS_RATIO),
        )
        yield replace(result, category=None)


EMPTY_ANSWERS = Kind(NAME, frozenset({"skips"}), run_test, ODDS_RATIO)
