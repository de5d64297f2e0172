"""Coefficients that ignore who answered what: observed agreement, corrected for chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tracker.measures.estimate import (
    MANY_ANSWERS,
    Estimate,
    Redrawn,
    single_category_estimate,
    undefined_estimate,
    usual_size,
)
from tracker.measures.intervals import NOT_APPLICABLE, Parts
from tracker.measures.sample import Floats, Sample


@dataclass(frozen=True)
class Chance:
    """Agreement expected by chance, as a function of the answers' mean shares.

    Attributes:
        expected: shares of shape (..., A) to expected agreement of shape (...).
        slope: shares (A,) to the derivative of the expected agreement, (A,).
    """

    expected: Callable[[Sample, Floats], Floats]
    slope: Callable[[Sample, Floats], Floats]


def _gwet_factor(sample: Sample) -> float:
    possible = len(sample.table.answers)
    return sample.weighting.total() / (possible * (possible - 1)) if possible > 1 else 1.0


CHANCES = {
    "fleiss": Chance(
        lambda sample, shares: (shares * sample.weighting.against(shares)).sum(axis=-1),
        lambda sample, shares: 2 * sample.weighting.against(shares),
    ),
    "gwet": Chance(
        lambda sample, shares: _gwet_factor(sample) * (shares * (1 - shares)).sum(axis=-1),
        lambda sample, shares: _gwet_factor(sample) * (1 - 2 * shares),
    ),
    "uniform": Chance(
        lambda sample, shares: np.full(
            shares.shape[:-1], sample.weighting.total() / len(sample.table.answers) ** 2
        ),
        lambda _, shares: np.zeros(shares.shape),
    ),
}


def percent_agreement(sample: Sample) -> Estimate:
    """Return the mean over items of the share of pairs of annotators who agree, in [0, 1].

    With weights, the mean weight of the pairs. Items of one answer do not enter. Perfect
    agreement has a one-sided bound. ``pair_weighted`` stands beside it: the share of all pairs,
    in which an item of many answers weighs more.

    Undefined: too_few_items (none at all), too_few_annotators (below two), no_overlap.

    Source:
        Fleiss (1971), Psychol. Bull. 76, 378, equation 2. The error is that of a ratio over all
        items: the items of two answers are a random part of the sample, not its size.
    """
    if sample.why_not is not None:
        return undefined_estimate("percent_agreement", sample.why_not, reading=sample.reading)
    pairs = sample.table.items * sample.table.sizes * (sample.table.sizes - 1)
    pair_weighted = float(pairs @ sample.agreement) / float(pairs.sum())
    return Estimate(
        "percent_agreement",
        sample.observed,
        parts=Parts(sample.observed),
        influence=observed_agreement_influence(sample),
        counts=sample.table.items,
        items=sample.compared,
        compared=sample.compared,
        reading=sample.reading,
        more={"pair_weighted": pair_weighted},
        of_pairs=True,
        sample=sample if has_posterior(sample) else None,
        redrawn=Sample.mean_agreement,
    )


def has_posterior(sample: Sample) -> bool:
    """Return whether Wilson's interval is not enough for a share of pairs.

    It is not with weights, nor with many answers to an item, when the share hardly varies below
    chance: of 20 people who toss coins on 20 items the interval had the truth in 84%.
    """
    return not sample.weighting.nominal or usual_size(sample.table.compared()) > MANY_ANSWERS


def observed_agreement_influence(sample: Sample) -> Floats:
    """Return one item's influence on observed agreement, by pattern, (P,); 0 below two answers."""
    apart = np.where(sample.table.sizes > 1, sample.agreement - sample.observed, 0.0)
    return apart / sample.compared


def fleiss_kappa(sample: Sample) -> Estimate:
    """Return Fleiss' kappa for any number of answers to an item, at most 1; 0 is chance level.

    Expected agreement is the weighted sum of the products of the answers' mean shares, over all
    items of one answer or more; observed agreement is that of items of two or more.

    Undefined: as percent_agreement, and single_category. The expected agreement is given even
    where the value is not.

    Source:
        Fleiss (1971), Psychol. Bull. 76, 378, equations 3 to 7; the form for varying numbers of
        answers and for weights is Gwet's (2014, chapters 2 and 3), the error a linearization of
        the ratio of means.
    """
    return _with_posterior(chance_corrected_estimate("fleiss_kappa", sample, "fleiss"), sample)


def scott_pi(sample: Sample) -> Estimate:
    """Return Scott's pi: Fleiss' kappa of exactly two annotators.

    Undefined: as fleiss_kappa, and not_applicable for three annotators or more.

    Source:
        Scott (1955), Public Opin. Q. 19, 321.
    """
    if sample.items and sample.annotators > 2:
        return undefined_estimate("scott_pi", NOT_APPLICABLE, reading=sample.reading)
    return _with_posterior(chance_corrected_estimate("scott_pi", sample, "fleiss"), sample)


def _with_posterior(estimate: Estimate, sample: Sample) -> Estimate:
    return replace(estimate, sample=sample, redrawn=resampled_chance_corrected("fleiss"))


def resampled_chance_corrected(chance: str) -> Redrawn:
    """Return a function to a coefficient's values in samples drawn anew; NaN if undefined."""

    def values(sample: Sample, items: Floats) -> Floats:
        drawn = np.maximum(items.sum(axis=1, keepdims=True), 1)
        shares = sample.table.sums(sample.entry_shares, items) / drawn
        expected = CHANCES[chance].expected(sample, shares)
        return coefficient_quotients(sample.mean_agreement(items) - expected, 1 - expected)

    return values


def coefficient_quotients(upper: Floats, lower: Floats) -> Floats:
    """Return the quotients; NaN if the denominator is 0 but for rounding."""
    quotients: Floats = np.divide(
        upper, lower, out=np.full(upper.shape, np.nan), where=lower > 1e-15
    )
    return quotients


def gwet_ac1(sample: Sample) -> Estimate:
    """Return Gwet's AC1 or, with weights, AC2; at most 1; 0 is chance level.

    Chance agrees where an annotator who does not know picks a category at random, which is held
    to be as likely as the answers are varied: T_w / (q (q - 1)) times the sum of p (1 - p).

    Undefined: as percent_agreement, and single_category if only one answer is possible (not
    where only one was given: AC1 is then 1).

    Source:
        Gwet (2008), Br. J. Math. Stat. Psychol. 61, 29; weights and varying numbers of answers:
        Gwet (2014), chapters 4 and 5.
    """
    name = "gwet_ac1" if sample.weighting.nominal else "gwet_ac2"
    if sample.why_not is None and len(sample.table.answers) < 2:
        return single_category_estimate(name, sample.items, reading=sample.reading)
    return _share_of_pairs(name, sample, "gwet")


def _share_of_pairs(measure: str, sample: Sample, chance: str) -> Estimate:
    """Return a coefficient whose chance term is known, or nearly so."""
    return replace(
        chance_corrected_estimate(measure, sample, chance),
        of_pairs=True,
        sample=sample if has_posterior(sample) else None,
        redrawn=resampled_chance_corrected(chance),
    )


def brennan_prediger(sample: Sample) -> Estimate:
    """Return Brennan and Prediger's kappa, at most 1: by chance all categories are equally likely.

    Also known as Bennett's S and as Randolph's free-marginal kappa.

    Undefined: as percent_agreement, and single_category if only one answer is possible.

    Source:
        Brennan and Prediger (1981), Educ. Psychol. Meas. 41, 687; weights: Gwet (2014).
    """
    if sample.why_not is None and len(sample.table.answers) < 2:
        return single_category_estimate("brennan_prediger", sample.items, reading=sample.reading)
    return _share_of_pairs("brennan_prediger", sample, "uniform")


def chance_corrected_estimate(measure: str, sample: Sample, chance: str) -> Estimate:
    """Return a coefficient corrected by one of `CHANCES`."""
    if not sample.items:
        return undefined_estimate(measure, sample.why_not or "", reading=sample.reading)
    expected = float(CHANCES[chance].expected(sample, sample.shares))
    if sample.why_not is not None:
        return undefined_estimate(
            measure, sample.why_not, sample.items, Parts(None, expected), reading=sample.reading
        )
    if 1 - expected < 1e-15:  # below the rounding of a sum of shares; a real gap is 1 / items
        return single_category_estimate(measure, sample.items, reading=sample.reading)
    value = (sample.observed - expected) / (1 - expected)
    slope = CHANCES[chance].slope(sample, sample.shares)
    by_chance = (
        sample.table.over_patterns(sample.entry_shares * slope[sample.table.answer])
        - slope @ sample.shares
    ) / sample.items
    influence = (observed_agreement_influence(sample) - (1 - value) * by_chance) / (1 - expected)
    return Estimate(
        measure,
        value,
        parts=Parts(sample.observed, expected),
        influence=influence,
        counts=sample.table.items,
        items=sample.items,
        compared=sample.compared,
        reading=sample.reading,
    )
