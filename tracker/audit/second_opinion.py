"""A second opinion on each finding, from a consensus of everybody's answers.

A test against the co-annotators of an item cannot tell who of them is off: where one answers
blindly, the others' agreement and use of categories differ from theirs, too. So a finding only
stands up if it also holds against the answers that a model of all annotators finds true
(`dawid_skene`), with the same least effect. Known answers are taken as true.

Everybody errs, and errors go to rare answers more often than the truth does. So an annotator is
also held against a typical one on the same items, whose matrix of errors is the median of all
annotators'. Two who answer too much alike count as one (`pair_dependence`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from tracker.audit.statistics.dawid_skene import Fit, fit_dawid_skene
from tracker.audit.statistics.pair_dependence import (
    BoolArray,
    Pairs,
    excess_pair_dependence,
    identical_dependent_pairs,
    possibly_dependent_pairs,
    surely_dependent_pairs,
    trust_in_dependent_pairs,
)
from tracker.core.audit_tallies import JointAnswers
from tracker.core.results import Hidden, Json, Record
from tracker.core.tallies import FloatArray, IntArray

STRENGTH = 2.0
"""Answers that everybody's errors count as in each row of an annotator's matrix."""

SURE = 0.05
"""P-value against the consensus that a finding needs. A test among all others has found it
already; this one only asks whether it is this annotator who is off."""

_TOLERANCE = 1e-3
_ROUNDS = 3
_MOST_ANSWERS = 40  # different ones; an annotator's matrix has their square of cells
_MOST_CELLS = 8_000_000


def finite_or_none(value: float | None) -> float | None:
    """Return a figure as JSON has it, which knows no infinity."""
    return None if value is None or math.isinf(value) else value


@dataclass(frozen=True)
class Opinion(Record):
    """What the consensus says of one finding.

    Attributes:
        observed: the annotator's figure; of a pair, the share of items with the same answer.
        expected: a typical annotator's on the same items; of a pair, the share that both give
            independently.
        effect: how far off, in the measure of the finding's own effect.
        p_value: one-sided, in the direction of the finding; None if nothing could be tested.
        holds: whether the effect is as large as the finding needs.
        minority: what says that the annotators may be experts, as details of the finding.
        slight: whether it hardly matters on a scale.
    """

    observed: float | None
    expected: float | None
    effect: Annotated[float | None, Json(write=finite_or_none, kind=float | None)]
    p_value: float | None
    holds: Annotated[bool, Hidden]
    minority: Annotated[Mapping[str, int], Hidden] = field(default_factory=dict)
    slight: Annotated[bool, Hidden] = False

    @property
    def agrees(self) -> bool:
        """Whether the finding stands up."""
        sure = self.p_value is not None and self.p_value <= SURE
        return self.holds and sure and not self.minority


@dataclass(frozen=True)
class Share:
    """One annotator's answers, beside what the consensus says of their items; q answers.

    Attributes:
        own: place of each answer; shape (answers,), as are the next two.
        late: 1 from the moment of a fall on, 0 before it, -1 if that is not known.
        truth: probability of each answer to be true; shape (answers, q).
        typical: what a typical annotator gives if each answer is true; shape (q, q).
    """

    own: IntArray
    items: FloatArray
    late: IntArray
    truth: FloatArray
    typical: FloatArray

    @property
    def right(self) -> FloatArray:
        """Probability of each answer to be true; shape (answers,)."""
        return np.asarray(self.truth[np.arange(len(self.own)), self.own])

    @property
    def expected(self) -> FloatArray:
        """Probability that a typical annotator gives each answer; shape (answers, q)."""
        return np.asarray(self.truth @ self.typical)

    @property
    def expected_right(self) -> FloatArray:
        """Probability that a typical annotator is right; shape (answers,)."""
        return np.asarray(self.truth @ np.diagonal(self.typical))


@dataclass(frozen=True)
class Consensus:
    """What is found true, each annotator's errors, and who answers too much alike.

    Attributes:
        typical: the median annotator's errors; shape (q, q).
        excess: how much more than explained each pair agrees; shape (pairs,).
    """

    joint: JointAnswers
    fitted: Fit
    typical: FloatArray
    pairs: Pairs
    excess: FloatArray
    error: FloatArray

    def of(self, annotator: int) -> Share | None:
        """Return the answers of one annotator by id; None without any."""
        rows = np.flatnonzero(self.joint.annotators[self.joint.annotator] == annotator)
        if not len(rows):
            return None
        joint = self.joint
        truth = self.fitted.truth[joint.item[rows]]
        return Share(joint.answer[rows], joint.weight[rows], joint.late[rows], truth, self.typical)

    def pair(self, first: int, second: int) -> int | None:
        """Return the place of two annotators in ``pairs``, by id; None if it is not there."""
        ids = self.joint.annotators
        at = (ids[self.pairs.first] == first) & (ids[self.pairs.second] == second)
        places = np.flatnonzero(at)
        return int(places[0]) if len(places) else None


def second_opinion_consensus(joint: JointAnswers) -> Consensus:
    """Fit the model, with annotators who depend on each other counted once."""
    most = int((_MOST_CELLS / max(len(joint.annotators), 1)) ** 0.5)
    joint = joint.at_most(min(_MOST_ANSWERS, max(most, 4)))
    pairs = possibly_dependent_pairs(joint)
    same = identical_dependent_pairs(joint, pairs)
    dependent = same
    for _ in range(_ROUNDS):
        fitted = _fitted(joint, pairs, dependent)
        excess, error = excess_pair_dependence(joint, pairs, fitted)
        more = dependent | surely_dependent_pairs(pairs, excess, error)
        if (more == dependent).all():
            break
        dependent = more
    typical = _weighted_median(
        fitted.errors, trust_in_dependent_pairs(pairs, same, len(joint.annotators))
    )
    total = typical.sum(axis=1, keepdims=True)
    typical = np.divide(typical, total, out=np.zeros_like(typical), where=total > 0)
    return Consensus(joint, fitted, typical, pairs, excess, error)


def _fitted(joint: JointAnswers, pairs: Pairs, dependent: BoolArray) -> Fit:
    annotators = len(joint.annotators)
    return fit_dawid_skene(
        joint.item,
        joint.annotator,
        joint.answer,
        (annotators, len(joint.answers)),
        items=joint.items.astype(np.float64),
        trust=trust_in_dependent_pairs(pairs, dependent, annotators),
        known=joint.truth,
        strength=STRENGTH,
        tolerance=_TOLERANCE,
    )


def _weighted_median(errors: FloatArray, trust: FloatArray) -> FloatArray:
    """The median over annotators of each cell of their matrices, shape (q, q).

    Of two values that share the middle it is the mean.
    """
    order = np.argsort(errors, axis=0, kind="stable")
    values = np.take_along_axis(errors, order, axis=0)
    below = np.cumsum(trust[order], axis=0) / trust.sum()
    low, high = ((below >= half).argmax(axis=0) for half in (0.5 - 1e-9, 0.5 + 1e-9))
    middle = [np.take_along_axis(values, place[None], axis=0)[0] for place in (low, high)]
    return np.asarray((middle[0] + middle[1]) / 2.0)
