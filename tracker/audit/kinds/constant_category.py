"""Nearly all of an annotator's answers hold one category, where the co-annotators' do not.

The test is one-sided: did the annotator give the category more often than the null hypothesis of
`poisson_binomial` allows, item by item. An annotator who saw only items of that category is
not found, since the co-annotators gave it too.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import (
    MINIMUM_ANSWERS,
    MINIMUM_INFORMATIVE,
    Kind,
    TestResult,
    example_category_use,
    examples_for_kind,
    opinion_of_use,
    usage_result,
)

NAME = "constant_category"

SHARE = Threshold("constant_share", 0.95)
"""The share of an annotator's answers in one category, at least, for a flag."""

MINIMUM_ODDS_RATIO = 2.0
"""The effect that a flag needs besides the share: 96% against 94% is no result."""

MISSED_ANSWERS = 1.0
"""Without a test, "insufficient" is said only if answers like the co-annotators' would have
been expected to hold at least so many of another category."""


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator and category on their shared items."""
    share = evidence.floor(SHARE)
    for usage in evidence.usages:
        tested = usage.informative >= MINIMUM_INFORMATIVE
        constant = usage.own >= share * usage.n and usage.peer_share < share
        yield usage_result(
            usage,
            NAME,
            p_value=usage.tails.upper if tested else None,
            notable=constant and (usage.odds_ratio or 0.0) >= MINIMUM_ODDS_RATIO,
            suspicious=not tested
            and constant
            and usage.n >= MINIMUM_ANSWERS
            and usage.n - usage.peers >= MISSED_ANSWERS,
        )


CONSTANT_CATEGORY = Kind(
    NAME,
    frozenset({"shared"}),
    run_test,
    SHARE,
    spoils=True,
    confirm=lambda result, consensus, _: opinion_of_use(result, consensus, MINIMUM_ODDS_RATIO),
    explains=frozenset({"low_agreement", "random_answers", "severity_bias"}),
    examples=examples_for_kind(example_category_use),
)
