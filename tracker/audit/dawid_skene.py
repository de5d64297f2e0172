"""A second opinion on each annotator: how competent Dawid and Skene's model finds them.

The model (1979) takes an item to have one true category and each annotator a matrix of what they
give where each category is true, answers being independent given the truth; the expectation-
maximisation algorithm estimates both from the answers alone, beginning with the items' majorities.
It does not know that some items are harder, which the findings of an audit allow for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from tracker.audit.entries import FloatArray, IntArray
from tracker.tally import Answer, JointPattern

__all__ = ["competence"]

_STEPS = 1000
_TOLERANCE = 1e-10
_LEAST = 1e-10  # of a probability that stands in a product


def competence(counted: Iterable[tuple[JointPattern, int]]) -> dict[int, float]:
    """The probability of a right answer by annotator id, over the categories' estimated shares.

    Of a category that is the truth of none of an annotator's items nothing is known, and it is
    left out of that annotator's.

    Args:
        counted: who gave what, and to how many items; an answer of several categories counts as
            a category of its own.
    """
    patterns: Counter[JointPattern] = Counter()
    for pattern, number in counted:
        patterns[pattern] += number
    patterns = Counter(dict(sorted(patterns.items())))  # sums in one order, whatever came first
    if not patterns:
        return {}
    who = sorted({annotator for pattern in patterns for annotator, _ in pattern})
    answers = sorted({answer for pattern in patterns for _, answer in pattern})
    place = {annotator: n for n, annotator in enumerate(who)}
    of: dict[Answer, int] = {answer: n for n, answer in enumerate(answers)}
    item = np.repeat(np.arange(len(patterns)), [len(pattern) for pattern in patterns])
    annotator = np.array([place[a] for pattern in patterns for a, _ in pattern])
    given = np.array([of[answer] for pattern in patterns for _, answer in pattern])
    items = np.array([*patterns.values()], dtype=np.float64)
    priors, errors = _estimated(item, annotator, given, items, len(who), len(answers))
    # Over the categories that the annotator met: of the others nothing is known.
    met = priors * (errors.sum(axis=2) > 0)
    right = (np.diagonal(errors, axis1=1, axis2=2) * met).sum(axis=1) / met.sum(axis=1)
    return dict(zip(who, right.tolist(), strict=True))


def _estimated(
    item: IntArray,
    annotator: IntArray,
    given: IntArray,
    items: FloatArray,
    annotators: int,
    categories: int,
) -> tuple[FloatArray, FloatArray]:
    """The categories' shares (q,), and what each gives where each is true (annotators, q, q)."""
    truth = np.zeros((len(items), categories))
    np.add.at(truth, (item, given), 1.0)
    truth = (truth == truth.max(axis=1, keepdims=True)).astype(np.float64)
    truth /= truth.sum(axis=1, keepdims=True)
    before = -np.inf
    for _ in range(_STEPS):
        priors = (truth * items[:, None]).sum(axis=0) / items.sum()
        errors = np.zeros((annotators, categories, categories))
        np.add.at(errors.swapaxes(1, 2), (annotator, given), (truth * items[:, None])[item])
        size = errors.sum(axis=2, keepdims=True)
        errors = np.divide(errors, size, out=np.zeros_like(errors), where=size > 0)
        logs = np.log(np.clip(errors, _LEAST, None))
        scores = np.zeros_like(truth) + np.log(np.clip(priors, _LEAST, None))
        np.add.at(scores, item, logs[annotator, :, given])
        top = scores.max(axis=1, keepdims=True)
        weights = np.exp(scores - top)
        total = weights.sum(axis=1, keepdims=True)
        truth = weights / total
        likelihood = float((items * (np.log(total) + top)[:, 0]).sum())
        if likelihood - before < _TOLERANCE * items.sum():
            break
        before = likelihood
    return priors, errors
