"""What a consensus says of a finding, by what the finding is about."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tracker.audit.evidence import Evidence
from tracker.audit.kind import Finding
from tracker.audit.second_opinion import Consensus, Opinion
from tracker.audit.statistics.pair_dependence import (
    pair_dependence_witnesses,
    surely_dependent_pairs,
)
from tracker.core.tallies import FloatArray

_NOTHING = Opinion(None, None, None, None, holds=False)
LEAST_COPIED_SHARE = 0.6
"""Of the items on which a person and a model would differ, those on which they do not."""

_PART = 0.75
"""Part of the least effect, in log odds, that is asked of a use of a category: what is not sure of
the truth makes the odds against it smaller."""

_HALF = 0.5  # an answer added to either side of odds, so that they stay finite


def opinion_of_use(finding: Finding, consensus: Consensus, least: float) -> Opinion:
    """Hold the use of a category against the truth, and against a typical annotator's.

    The effect is the smaller of both odds ratios, the p-value the larger: McNemar's test (1947)
    of answers that are wrong one way or the other, and the normal distribution of the count that
    typical annotators give.
    """
    share = consensus.of(finding.annotator)
    if share is None or finding.category is None:
        return _NOTHING
    held = np.array([finding.category in answer for answer in consensus.joint.answers])
    own, items = held[share.own].astype(np.float64), share.items
    true, typical = share.truth[:, held].sum(axis=1), share.expected[:, held].sum(axis=1)
    way = 1.0 if finding.over else -1.0
    counts = [float(items @ column) for column in (own, true, typical)]
    number = float(items.sum())
    odds = [_odds(counts[0], other, number) ** way for other in counts[1:]]
    over, under = float(items @ (own * (1 - true))), float(items @ ((1 - own) * true))
    wrong = _upper_binomial(*((over, under) if finding.over else (under, over)))
    error = math.sqrt(float(items @ (typical * (1 - typical))))
    p_value = max(wrong, _upper_normal(way * (counts[0] - counts[2]), error))
    effect = min(odds)
    return Opinion(
        counts[0] / number,
        counts[2] / number,
        effect**way,
        p_value,
        holds=effect >= least**_PART,
    )


def opinion_of_accuracy(finding: Finding, consensus: Consensus, least: float) -> Opinion:
    """Hold the share of right answers against a typical annotator's on the same items."""
    share = consensus.of(finding.annotator)
    if share is None or share.items.sum() < 2:
        return _NOTHING
    gap, error = _mean(share.right - share.expected_right, share.items)
    return Opinion(
        _mean(share.right, share.items)[0],
        _mean(share.expected_right, share.items)[0],
        gap,
        _upper_normal(-gap, error),
        holds=gap <= -least,
    )


def opinion_of_points(
    finding: Finding, consensus: Consensus, evidence: Evidence, least: float
) -> Opinion:
    """Hold answers on a scale against a typical annotator's, in standard deviations of these."""
    share = consensus.of(finding.annotator)
    points = evidence.points or {}
    if share is None or share.items.sum() < 2:
        return _NOTHING
    answers = consensus.joint.answers
    worth = np.array([points.get(answer[0], 0.0) if answer else 0.0 for answer in answers])
    expected = share.expected @ worth
    spread = math.sqrt(_mean(share.expected @ worth**2 - expected**2, share.items)[0])
    way = 1.0 if (finding.effect.value or 0.0) > 0 else -1.0
    off, error = _mean(worth[share.own] - expected, share.items)
    return Opinion(
        _mean(worth[share.own], share.items)[0],
        _mean(expected, share.items)[0],
        off,
        _upper_normal(way * off, error),
        holds=spread > 0 and way * off / spread >= least,
    )


def opinion_of_fall(finding: Finding, consensus: Consensus, least: float) -> Opinion:
    """Hold the share of right answers from some moment on against that before it."""
    share = consensus.of(finding.annotator)
    if share is None:
        return _NOTHING
    sides = [share.late == side for side in (0, 1)]
    if min(share.items[side].sum() for side in sides) < 2:
        return _NOTHING
    surplus = share.right - share.expected_right
    (before, one), (after, other) = (_mean(surplus[side], share.items[side]) for side in sides)
    right = [_mean(share.right[side], share.items[side])[0] for side in sides]
    return Opinion(
        right[1],
        right[0],
        after - before,
        _upper_normal(before - after, math.hypot(one, other)),
        holds=after - before <= -least,
    )


def opinion_of_pair(finding: Finding, consensus: Consensus) -> Opinion:
    """Hold the agreement of two against what both give independently."""
    assert finding.other is not None
    place = consensus.pair(*sorted((finding.annotator, finding.other)))
    if place is None:
        return _NOTHING
    excess, error = float(consensus.excess[place]), float(consensus.error[place])
    agreed = float(consensus.pairs.agreed[place])
    holds = bool(surely_dependent_pairs(consensus.pairs, consensus.excess, consensus.error)[place])
    ratio = agreed / (agreed - excess) if agreed > excess else None
    # Beside one other annotator, two who agree may both be excellent, and the other one off.
    p_value = (
        _upper_normal(excess, error)
        if pair_dependence_witnesses(consensus.pairs, place) > 1
        else None
    )
    return Opinion(agreed, agreed - excess, ratio, p_value, holds=holds)


def opinion_of_person_and_model(finding: Finding, consensus: Consensus) -> Opinion:
    """Hold the agreement of a person and a model against what both give independently.

    The two must share `LEAST_COPIED_SHARE` of the items on which they would not agree by
    themselves: a model is right so often that there are few of them.
    """
    opinion = opinion_of_pair(finding, consensus)
    if opinion.observed is None or opinion.expected is None:
        return opinion
    left = 1.0 - opinion.expected
    share = (opinion.observed - opinion.expected) / left if left > 0 else 0.0
    return replace(opinion, holds=share >= LEAST_COPIED_SHARE)


def _odds(count: float, other: float, number: float) -> float:
    """The odds of a count against another's, of the same number of answers."""
    first, second = count + _HALF, other + _HALF
    return first / (number + 1 - first) / (second / (number + 1 - second))


def _mean(values: FloatArray, items: FloatArray) -> tuple[float, float]:
    """The mean over items, and its standard error; 0 of fewer than two."""
    number = float(items.sum())
    mean = float(items @ values) / number
    variance = float(items @ (values - mean) ** 2) / max(number - 1.0, 1.0)
    return mean, math.sqrt(variance / number)


def _upper_normal(value: float, error: float) -> float:
    if error <= 0:
        return 0.0 if value > 0 else 1.0
    return 0.5 * math.erfc(value / error / math.sqrt(2.0))


def _upper_binomial(seen: float, rest: float) -> float:
    """The probability of so many of both, or more, at one half; of whole and other numbers."""
    from scipy.special import betainc

    return float(betainc(seen, rest + 1.0, 0.5)) if seen > 0 else 1.0
