"""An annotator gives a category more often, or less, than the co-annotators of the same items.

The test is two-sided, under the null hypothesis of `poisson_binomial`. A flag also needs an
effect: a common odds ratio over the items of at least 2, or at most 1/2. If too few items can
tell and the truth of some is known, the truth is the yardstick (`marginal_homogeneity`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import (
    MINIMUM_ANSWERS,
    MINIMUM_INFORMATIVE,
    Effect,
    Kind,
    TestResult,
    example_category_use,
    examples_for_kind,
    opinion_of_use,
    severity_of_odds,
    usage_result,
    with_slightness,
)
from tracker.audit.second_opinion import Consensus, Opinion
from tracker.audit.statistics.mantel_haenszel import Margins, Usage, marginal_homogeneity_margins

NAME = "category_bias"

ODDS_RATIO = Threshold("bias_odds_ratio", 2.0, 1.0, 1e6)
"""Odds against the co-annotators', either way, at least, for a flag."""

LOOK_INFORMATIVE = 3
"""Informative items below which a bias is not even called insufficient."""


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator and category, on shared items or on gold."""
    gold = {
        annotator: marginal_homogeneity_margins(counts)
        for annotator, counts in (evidence.gold or {}).items()
    }
    tested = set()
    for usage in evidence.usages:
        known = gold.get(usage.annotator, {})
        if usage.informative < MINIMUM_INFORMATIVE and _tells(known.get(usage.category)):
            continue
        tested.add((usage.annotator, usage.category))
        yield category_bias_result(usage, evidence, known.get(usage.category))
    for annotator, known in gold.items():
        for category, margin in known.items():
            if (annotator, category) not in tested and _tells(margin):
                yield _on_gold(annotator, category, margin, evidence)


def category_bias_result(
    usage: Usage, evidence: Evidence, gold: Margins | None = None
) -> TestResult:
    """The finding about one annotator and category.

    With fewer informative items than a test needs, a ratio beyond 2-fold is the rule rather than
    the exception. It is suspicious only if so lopsided a count had a probability of ``alpha``
    or less, taken alone: so at most that share of sound short records is mentioned.
    """
    tested = usage.informative >= MINIMUM_INFORMATIVE
    notable = _beyond(usage.odds_ratio, evidence.floor(ODDS_RATIO))
    lopsided = (
        usage.n >= MINIMUM_ANSWERS
        and usage.informative >= LOOK_INFORMATIVE
        and usage.tails.two_sided <= evidence.alpha
    )
    return usage_result(
        usage,
        NAME,
        p_value=usage.tails.two_sided if tested else None,
        notable=notable,
        suspicious=not tested and notable and lopsided,
        details=_gold_details(gold) if gold else None,
    )


def _on_gold(annotator: int, category: int, margin: Margins, evidence: Evidence) -> TestResult:
    ratio = margin.odds_ratio
    low, high = margin.odds_interval
    return TestResult(
        kind=NAME,
        annotator=annotator,
        category=category,
        observed=margin.given / margin.items,
        expected=margin.true / margin.items,
        peers=margin.true / margin.items,
        n=margin.items,
        informative=margin.over + margin.under,
        effect=Effect("odds ratio", ratio, low, high),
        p_value=margin.p_value,
        notable=_beyond(ratio, evidence.floor(ODDS_RATIO)),
        severity=severity_of_odds(ratio),
        details={"against": "gold", **_gold_details(margin)},
    )


def _gold_details(margin: Margins) -> Mapping[str, object]:
    return {
        "gold": {
            "items": margin.items,
            "over": margin.over,
            "under": margin.under,
            "mcnemar_p_value": margin.p_value,
            "stuart_maxwell_p_value": margin.overall_p_value,
        }
    }


def _tells(margin: Margins | None) -> bool:
    return margin is not None and margin.over + margin.under >= MINIMUM_INFORMATIVE


def _beyond(odds_ratio: float | None, floor: float) -> bool:
    return odds_ratio is not None and (odds_ratio >= floor or odds_ratio <= 1.0 / floor)


def confirm_category_bias(result: TestResult, consensus: Consensus, evidence: Evidence) -> Opinion:
    """Ask for the same odds against the consensus; a finding against the truth is confirmed."""
    if result.details.get("against") == "gold":
        figures = result.observed, result.expected, result.effect.value, result.p_value
        return Opinion(*figures, holds=True)
    opinion = opinion_of_use(result, consensus, evidence.floor(ODDS_RATIO))
    return with_slightness(opinion, result.annotator, consensus, evidence)


CATEGORY_BIAS = Kind(
    NAME,
    frozenset({"yardstick"}),
    run_test,
    ODDS_RATIO,
    spoils=True,
    confirm=confirm_category_bias,
    examples=examples_for_kind(example_category_use),
)
