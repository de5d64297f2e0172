"""What a consensus says of a finding, by what the finding is about."""

from __future__ import annotations

import math

import numpy as np

from tracker import clock
from tracker.audit.consult import Consensus, Opinion
from tracker.audit.dependence import standing_out, witnesses
from tracker.audit.entries import FloatArray
from tracker.audit.evidence import Evidence
from tracker.audit.finding import Finding

__all__ = ["of_accuracy", "of_fall", "of_pair", "of_points", "of_use"]

_NOTHING = Opinion(None, None, None, None, holds=False)
_PART = 0.75
"""Part of the least effect, in log odds, that is asked of a use of a category: what is not sure of
the truth makes the odds against it smaller."""

_HALF = 0.5  # an answer added to either side of odds, so that they stay finite


def of_use(finding: Finding, consensus: Consensus, least: float) -> Opinion:
    """Hold the use of a category against the truth, and against a typical annotator's.

    The effect is the smaller of both odds ratios, the p-value the larger: McNemar's test (1947)
    of answers that are wrong one way or the other, and the normal distribution of the count that
    typical annotators give.
    """
    share = consensus.of(finding.annotator)
    if share is None or finding.category is None:
        return _NOTHING
    held = np.array([finding.category in answer for answer in consensus.joint.answers])
    own = held[share.own]
    true, typical = share.truth[:, held].sum(axis=1), share.expected[:, held].sum(axis=1)
    way = 1.0 if finding.over else -1.0
    odds = [_odds(own.sum(), other.sum(), len(own)) ** way for other in (true, typical)]
    over, under = float((own * (1 - true)).sum()), float((~own * true).sum())
    wrong = _upper_binomial(*((over, under) if finding.over else (under, over)))
    error = math.sqrt(float((typical * (1 - typical)).sum()))
    p_value = max(wrong, _upper_normal(way * float(own.sum() - typical.sum()), error))
    effect = min(odds)
    return Opinion(
        float(own.mean()), float(typical.mean()), effect**way, p_value, holds=effect >= least**_PART
    )


def of_accuracy(finding: Finding, consensus: Consensus, least: float) -> Opinion:
    """Hold the share of right answers against a typical annotator's on the same items."""
    share = consensus.of(finding.annotator)
    if share is None or len(share.own) < 2:
        return _NOTHING
    gap, p_value = _below(share.right - share.expected_right)
    return Opinion(
        float(share.right.mean()),
        float(share.expected_right.mean()),
        gap,
        p_value,
        holds=gap <= -least,
    )


def of_points(finding: Finding, consensus: Consensus, evidence: Evidence, least: float) -> Opinion:
    """Hold answers on a scale against a typical annotator's, in standard deviations of these."""
    share = consensus.of(finding.annotator)
    points = evidence.points or {}
    if share is None or len(share.own) < 2:
        return _NOTHING
    worth = np.array(
        [points.get(answer[0], 0.0) if answer else 0.0 for answer in consensus.joint.answers]
    )
    expected = share.expected @ worth
    spread = math.sqrt(float((share.expected @ worth**2 - expected**2).mean()))
    way = 1.0 if (finding.effect.value or 0.0) > 0 else -1.0
    off, p_value = _below(-way * (worth[share.own] - expected))
    size = -off / spread if spread > 0 else 0.0
    return Opinion(
        float(worth[share.own].mean()),
        float(expected.mean()),
        -way * off,
        p_value,
        holds=size >= least,
    )


def of_fall(finding: Finding, consensus: Consensus, least: float) -> Opinion:
    """Hold the share of right answers from some moment on against that before it."""
    share = consensus.of(finding.annotator)
    since = finding.details.get("since")
    if share is None or not isinstance(since, str):
        return _NOTHING
    timed, late = share.moment >= 0, share.moment >= clock.parse_labelled_at(since)
    surplus = share.right - share.expected_right
    before, after = surplus[timed & ~late], surplus[timed & late]
    if min(len(before), len(after)) < 2:
        return _NOTHING
    fall = float(after.mean() - before.mean())
    error = math.sqrt(after.var(ddof=1) / len(after) + before.var(ddof=1) / len(before))
    right = share.right
    return Opinion(
        float(right[timed & late].mean()),
        float(right[timed & ~late].mean()),
        fall,
        _upper_normal(-fall, error),
        holds=fall <= -least,
    )


def of_pair(finding: Finding, consensus: Consensus) -> Opinion:
    """Hold the agreement of two against what both give independently."""
    assert finding.other is not None
    place = consensus.pair(finding.annotator, finding.other)
    if place is None:
        return _NOTHING
    excess, error = float(consensus.excess[place]), float(consensus.error[place])
    agreed = float(consensus.pairs.agreed[place])
    holds = bool(standing_out(consensus.excess, consensus.error)[place])
    ratio = agreed / (agreed - excess) if agreed > excess else None
    # Beside one other annotator, two who agree may both be excellent, and the other one off.
    p_value = _upper_normal(excess, error) if witnesses(consensus.pairs, place) > 1 else None
    return Opinion(agreed, agreed - excess, ratio, p_value, holds=holds)


def _odds(count: float, other: float, number: int) -> float:
    """The odds of a count against another's, of the same number of answers."""
    first, second = count + _HALF, other + _HALF
    return first / (number + 1 - first) / (second / (number + 1 - second))


def _below(differences: FloatArray) -> tuple[float, float]:
    """The mean difference, and the probability of one as low if there were none."""
    mean = float(differences.mean())
    error = math.sqrt(float(differences.var(ddof=1)) / len(differences))
    return mean, _upper_normal(-mean, error)


def _upper_normal(value: float, error: float) -> float:
    if error <= 0:
        return 0.0 if value > 0 else 1.0
    return 0.5 * math.erfc(value / error / math.sqrt(2.0))


def _upper_binomial(seen: float, rest: float) -> float:
    """The probability of so many of both, or more, at one half; of whole and other numbers."""
    from scipy.special import betainc

    return float(betainc(seen, rest + 1.0, 0.5)) if seen > 0 else 1.0
