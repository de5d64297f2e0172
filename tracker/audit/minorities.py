"""Experts stand out where most err alike: who may be one is not flagged.

Experts agree with each other against the majority, more than the errors of each explain;
careless people do not. Copiers do, too, but two who are identical are one witness, and one who
copies an ordinary annotator does not stand out alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from tracker.audit.kind import TestResult, opinion_of_accuracy
from tracker.audit.second_opinion import Consensus
from tracker.audit.statistics.pair_dependence import IDENTICAL
from tracker.core.tallies import FloatArray

SURE: Final = 0.01
"""Probability that any group of its size agrees so much by chance (Bonferroni's bound)."""

ALIKE: Final = 0.75
"""Agreement of an expert with the others, at least: that of two who are right on 86%."""

APART: Final = 2.33
"""Standard errors of an expert's agreement above what errors explain, at least."""

TWO_EXPERTS: Final = 0.93
"""Agreement of two up to which they may be experts: right on 96% each. Up to `IDENTICAL` both must
seem to be right less often than others, by `LEAST_GAP`: who copies an ordinary one does not."""

LEAST_GAP: Final = 0.05
LEAST_IDENTICAL: Final = 36  # items; on these 3% of two who are right on 95% are identical
LEAST_KNOWN: Final = 5  # answers against most of the others that have a truth: these decide
_STARTS: Final = 3  # partners that a group is grown from
_KINDS: Final = {"category_bias", "copying", "low_agreement", "random_answers", "severity_bias"}


def find_minority(finding: TestResult, consensus: Consensus) -> dict[str, int]:
    """Return why a finding may be about experts, as its details; nothing if it is not.

    ``minority`` is how many others agree with the annotator. If enough answers against most of
    the others have a truth (``known``), it is nothing unless most of them are right.
    """
    if finding.kind not in _KINDS or {"model", "against"} & finding.details.keys():
        return {}
    pair = [annotator for annotator in (finding.annotator, finding.other) if annotator is not None]
    places = np.searchsorted(consensus.joint.annotators, pair).tolist()
    right, truths = _count_truths(consensus, places)
    if truths >= LEAST_KNOWN:
        return {"known_right": right, "known": truths} if 2 * right > truths else {}
    if finding.other is None:
        others = _count_agreeing(consensus, *places)
    else:
        place = consensus.pair(*pair)
        alike = 1.0 if place is None else float(consensus.pairs.agreed[place])
        apart = (
            opinion_of_accuracy(replace(finding, annotator=annotator), consensus, LEAST_GAP).holds
            for annotator in pair
        )
        others = int(alike <= TWO_EXPERTS or (alike < IDENTICAL and all(apart)))
    return {"minority": others} if others else {}


def _count_truths(consensus: Consensus, places: Sequence[int]) -> tuple[int, int]:
    """Return of the answers that all of these gave against most others the right and the known."""
    joint, width = consensus.joint, len(consensus.joint.answers)
    members, cell = np.isin(joint.annotator, places), joint.item * width + joint.answer
    mine, votes = (
        np.bincount(cell[rows], minlength=len(joint.items) * width).reshape(-1, width)
        for rows in (members, ~members)
    )
    answer, alike = mine.argmax(axis=1), mine.max(axis=1) == len(places)
    against = votes[np.arange(len(votes)), answer] < votes.max(axis=1)
    counted = joint.items * (alike & against & (joint.truth >= 0))
    return int(counted[answer == joint.truth].sum()), int(counted.sum())


def _count_agreeing(consensus: Consensus, place: int) -> int:
    """Return how many agree with one, and each other, more than their errors explain."""
    near = _agreement_with(consensus, place)
    starts = np.argsort(-_scores(near), kind="stable")[:_STARTS].tolist()
    level, others = min((_grow_group(consensus, place, start) for start in starts), default=(0, 0))
    return others if level <= math.log(SURE) else 0


def _agreement_with(consensus: Consensus, place: int) -> FloatArray:
    """Return each other's excess with one, its variance, items alike, items; 0 if identical."""
    pairs, sums = consensus.pairs, np.zeros((4, len(consensus.joint.annotators)))
    rows = (pairs.first == place) | (pairs.second == place)
    rows &= (pairs.agreed < IDENTICAL) | (pairs.items < LEAST_IDENTICAL)
    items, others = pairs.items[rows], (pairs.first + pairs.second)[rows] - place
    excess, error = items * consensus.excess[rows], items * consensus.error[rows]
    sums[:, others] = excess, error**2, items * pairs.agreed[rows], items
    return sums


def _scores(sums: FloatArray) -> FloatArray:
    return np.asarray(sums[0] / np.sqrt(np.maximum(sums[1], 1e-9)))


def _grow_group(consensus: Consensus, first: int, place: int) -> tuple[float, int]:
    """Return the log-probability of the clearest group that begins with two, and its others.

    Whoever makes its excess the most standard errors is added, up to half of all annotators.
    """
    from scipy.special import gammaln, log_ndtr

    number, group, clearest = len(consensus.joint.annotators), [first], (0.0, 0)
    near = direct = _agreement_with(consensus, first)
    within = np.zeros(4)
    while near[0, place] > 0 and 2 * len(group) < number:
        within = within + near[:, place]
        group.append(place)
        sums = direct[:, group[1:]].sum(axis=1)
        if sums[2] >= ALIKE * sums[3] and _scores(sums) >= APART:
            choices = gammaln(number) - gammaln(len(group)) - gammaln(number - len(group) + 1)
            level = float(log_ndtr(-_scores(within)) + choices)
            clearest = min(clearest, (level, len(group) - 1))
        near = near + _agreement_with(consensus, place)
        near[0, group] = -np.inf
        place = int(_scores(within[:, None] + near).argmax())
    return clearest
