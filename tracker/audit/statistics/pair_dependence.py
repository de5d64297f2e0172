"""Pairs of annotators who answer more alike than either one's answers explain.

Two who work together, or copy, count as two witnesses for whatever they say, so that everybody
else seems to be wrong. What two annotators would share by themselves follows from a fitted model:
given what the item's other annotators say of its truth, both give an answer independently. Items
of one difficulty are easy, or hard, for everybody, which raises the agreement of all pairs: an
excess is therefore taken above that of the median pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracker.audit.statistics.dawid_skene import Fit
from tracker.core.audit_tallies import JointAnswers
from tracker.core.tallies import FloatArray, IntArray

BoolArray: TypeAlias = NDArray[np.bool_]

LEAST_SHARED = 20
"""Items that two must share before anything is said of them."""

LEAST_EXCESS = 0.1
"""Share of their items on which two agree beyond what explains it."""

SURE = 0.05
"""Probability that so large an excess above the median pair's is seen in any pair at all, if they
answer independently (Bonferroni's bound)."""

IDENTICAL, APART = 0.98, 0.1
"""Two who agree this often, and with everybody else less often by so much, are one witness."""

_MOST_OF_AN_ITEM = 30  # answers of an item that are paired: n (n - 1) / 2 would be too many
_AT_A_TIME = 100_000


@dataclass(frozen=True)
class Pairs:
    """Every two annotators with an item in common, and their rows.

    Attributes:
        first: place of the annotator with the lower one; shape (pairs,), as are the next three.
        agreed: on what share of them they gave the same answer.
        rows: the rows of both answers, ordered by pair; shape (shared places, 2).
        pair: the pair of each; shape (shared places,), as is the next.
        weight: how many items it stands for.
    """

    first: IntArray
    second: IntArray
    items: FloatArray
    agreed: FloatArray
    rows: IntArray
    pair: IntArray
    weight: FloatArray

    @property
    def enough(self) -> BoolArray:
        """Which pairs share so many items that something can be said of them; shape (pairs,)."""
        return np.asarray(self.items >= LEAST_SHARED)


def possibly_dependent_pairs(joint: JointAnswers) -> Pairs:
    """Return every two annotators with an item in common."""
    rows = _paired(joint)
    width = len(joint.annotators)
    key = joint.annotator[rows[:, 0]] * width + joint.annotator[rows[:, 1]]
    order = np.argsort(key, kind="stable")
    rows, key = rows[order], key[order]
    keys, pair = np.unique(key, return_inverse=True)
    weight = joint.weight[rows[:, 0]]
    items = np.bincount(pair, weight, len(keys)).astype(np.float64)
    same = joint.answer[rows[:, 0]] == joint.answer[rows[:, 1]]
    agreed = np.bincount(pair, weight * same, len(keys)) / items
    return Pairs(keys // width, keys % width, items, agreed, rows, pair, weight)


def _paired(joint: JointAnswers) -> IntArray:
    """Every two rows of an item, the lower annotator first; shape (pairs of answers, 2)."""
    order = np.lexsort((joint.annotator, joint.item))
    item = joint.item[order]
    start = np.flatnonzero(np.diff(item, prepend=-1))
    size = np.minimum(np.diff(np.append(start, len(item))), _MOST_OF_AN_ITEM)
    pairs = [np.zeros((0, 2), dtype=np.int64)]
    for number in np.unique(size[size > 1]).tolist():
        members = order[start[size == number][:, None] + np.arange(number)]
        first, second = np.triu_indices(number, 1)
        pairs.append(np.stack([members[:, first].ravel(), members[:, second].ravel()], axis=1))
    return np.concatenate(pairs)


def excess_pair_dependence(
    joint: JointAnswers, pairs: Pairs, fitted: Fit
) -> tuple[FloatArray, FloatArray]:
    """Return how much more than explained each pair agrees, and its standard error.

    The excess is a share of the pair's items, above that of the median pair; shape (pairs,) each.
    """
    together = np.einsum("pta,pta->pt", fitted.errors[pairs.first], fitted.errors[pairs.second])
    expected = np.zeros(len(pairs.pair))
    for begin in range(0, len(expected), _AT_A_TIME):
        part = slice(begin, begin + _AT_A_TIME)
        first, second = pairs.rows[part].T
        scores = fitted.scores[joint.item[first]] - fitted.parts[first] - fitted.parts[second]
        truth = np.exp(scores - scores.max(axis=1, keepdims=True))
        truth /= truth.sum(axis=1, keepdims=True)
        expected[part] = (truth * together[pairs.pair[part]]).sum(axis=1)
    number = len(pairs.items)
    explained = np.bincount(pairs.pair, pairs.weight * expected, number)
    excess = pairs.agreed - explained / pairs.items
    variance = np.bincount(pairs.pair, pairs.weight * expected * (1 - expected), number)
    usual = max(_median(excess, pairs.items), 0.0) if number else 0.0
    error: FloatArray = np.sqrt(np.maximum(variance, 1e-12)) / pairs.items
    return np.asarray(excess - usual), error


def _median(values: FloatArray, weights: FloatArray) -> float:
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(below, below[-1] / 2.0)])


def surely_dependent_pairs(pairs: Pairs, excess: FloatArray, error: FloatArray) -> BoolArray:
    """Return which pairs agree more than explained, surely and by enough; shape (pairs,)."""
    from scipy.special import ndtri

    surely = -ndtri(SURE / max(int(pairs.enough.sum()), 1))
    return np.asarray(pairs.enough & (excess >= LEAST_EXCESS) & (excess >= surely * error))


def identical_dependent_pairs(joint: JointAnswers, pairs: Pairs) -> BoolArray:
    """Return which pairs are one witness: identical, and far from everybody else.

    Two who always give the same answer whatever the item are not: their shares of it explain that.
    """
    shape = (len(joint.annotators), len(joint.answers))
    counts = np.bincount(
        joint.annotator * shape[1] + joint.answer, joint.weight, shape[0] * shape[1]
    ).reshape(shape)
    shares = counts / counts.sum(axis=1, keepdims=True)
    chance = (shares[pairs.first] * shares[pairs.second]).sum(axis=1)
    same = pairs.enough & (pairs.agreed >= IDENTICAL) & (pairs.agreed - chance >= APART)
    identical = same.copy()
    for place in np.flatnonzero(same).tolist():
        # Not held against them: a third who is identical to one of them.
        circle = [pairs.first[place], pairs.second[place]]
        for _ in range(2):
            near = np.isin(pairs.first, circle) | np.isin(pairs.second, circle)
            circle = np.union1d(pairs.first[near & same], pairs.second[near & same]).tolist()
        apart = np.isin(pairs.first, circle) != np.isin(pairs.second, circle)
        nearest = pairs.agreed[apart & pairs.enough].max(initial=0.0)
        if apart.any():  # with each of them there may be few items, and with all of them many
            usual = float(np.average(pairs.agreed[apart], weights=pairs.items[apart]))
            nearest = max(nearest, usual)
        identical[place] = apart.any() and pairs.agreed[place] - nearest >= APART
    return np.asarray(identical)


def pair_dependence_witnesses(pairs: Pairs, place: int) -> int:
    """Return how many others share an item with one of a pair, or both."""
    both = [pairs.first[place], pairs.second[place]]
    near = np.isin(pairs.first, both) | np.isin(pairs.second, both)
    met = np.union1d(pairs.first[near], pairs.second[near])
    return len(met) - 2


def trust_in_dependent_pairs(pairs: Pairs, dependent: BoolArray, annotators: int) -> FloatArray:
    """Return what each annotator's answers count: those of two who are dependent, one half."""
    partners = np.bincount(pairs.first[dependent], minlength=annotators)
    partners = partners + np.bincount(pairs.second[dependent], minlength=annotators)
    return np.asarray(1.0 / (1.0 + partners), dtype=np.float64)
