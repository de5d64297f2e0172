"""Dawid and Skene's model (1979): what is true of each item, and how each annotator errs.

The model takes an item to have one true answer and each annotator a matrix of what they give if
each answer is true, answers being independent given the truth. The expectation-maximisation
algorithm estimates both from the answers alone, beginning with the items' majorities, or with the
shares of their answers as the paper does. The two may end at different maxima of the likelihood.
The model does not know that some items are harder than others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tracker.core.tallies import Answer, FloatArray, IntArray, JointPattern

_STEPS = 1000
_TOLERANCE = 1e-9  # of a probability, from one step to the next
_LEAST = 1e-10  # of a probability that stands in a product
_LIKELIER = 1e-6  # of a log-likelihood; what differs by less is the same maximum


@dataclass(frozen=True)
class Fit:
    """A fitted model; q answers.

    Attributes:
        truth: probability of each answer to be true; shape (items, q).
        errors: probability of giving an answer (last axis) if each is true (middle axis);
            shape (annotators, q, q).
        priors: how common each answer is among the truths; shape (q,).
        scores: log-probability of each truth and the item's answers; shape (items, q).
        parts: what each row adds to its item's scores; shape (rows, q).
    """

    truth: FloatArray
    errors: FloatArray
    priors: FloatArray
    scores: FloatArray
    parts: FloatArray


def dawid_skene_competences(counted: Iterable[tuple[JointPattern, int]]) -> dict[int, float]:
    """Return the probability of a right answer by annotator id, over the answers' shares.

    What is the truth of none of an annotator's items is left out of that annotator's.

    An answer of several categories counts as another category.
    """
    patterns = _in_order(counted)
    if not patterns:
        return {}
    fitted, who, _ = _fit_patterns(patterns)
    # Over the categories that the annotator met: of the others nothing is known.
    met = fitted.priors * (fitted.errors.sum(axis=2) > 0)
    right = (np.diagonal(fitted.errors, axis1=1, axis2=2) * met).sum(axis=1) / met.sum(axis=1)
    return dict(zip(who, right.tolist(), strict=True))


def dawid_skene_shares(
    counted: Iterable[tuple[JointPattern, int]],
) -> dict[JointPattern, dict[Answer, float]]:
    """Return the probability of each answer to be true, by who gave what; arguments as before."""
    patterns = _in_order(counted)
    if not patterns:
        return {}
    fitted, _, answers = _fit_patterns(patterns)
    return {
        pattern: dict(zip(answers, truth, strict=True))
        for pattern, truth in zip(patterns, fitted.truth.tolist(), strict=True)
    }


def _in_order(counted: Iterable[tuple[JointPattern, int]]) -> Counter[JointPattern]:
    """Return how many items have each pattern, so that sums do not depend on what came first."""
    patterns: Counter[JointPattern] = Counter()
    for pattern, number in counted:
        patterns[pattern] += number
    return Counter(dict(sorted(patterns.items())))


def _fit_patterns(patterns: Counter[JointPattern]) -> tuple[Fit, list[int], list[Answer]]:
    """Return the fitted model, and the annotators and answers in its order."""
    who = sorted({annotator for pattern in patterns for annotator, _ in pattern})
    answers = sorted({answer for pattern in patterns for _, answer in pattern})
    place = {annotator: n for n, annotator in enumerate(who)}
    of: dict[Answer, int] = {answer: n for n, answer in enumerate(answers)}
    item = np.repeat(np.arange(len(patterns)), [len(pattern) for pattern in patterns])
    annotator = np.array([place[a] for pattern in patterns for a, _ in pattern])
    given = np.array([of[answer] for pattern in patterns for _, answer in pattern])
    items = np.array([*patterns.values()], dtype=np.float64)
    fitted = fit_likelier_start(item, annotator, given, (len(who), len(answers)), items)
    return fitted, who, answers


def fit_likelier_start(
    item: IntArray, annotator: IntArray, given: IntArray, shape: tuple[int, int], items: FloatArray
) -> Fit:
    """Return the fit with the greater likelihood, of that from majorities and that from shares.

    For the arguments see `fit_dawid_skene`.
    """
    fits = [
        fit_dawid_skene(item, annotator, given, shape, items=items, from_shares=from_shares)
        for from_shares in (False, True)
    ]
    first, other = (float(np.logaddexp.reduce(fit.scores, axis=1) @ items) for fit in fits)
    return fits[1] if other > first + _LIKELIER else fits[0]


def fit_dawid_skene(
    item: IntArray,
    annotator: IntArray,
    given: IntArray,
    shape: tuple[int, int],
    *,
    items: FloatArray | None = None,
    trust: FloatArray | None = None,
    known: IntArray | None = None,
    strength: float = 0.0,
    tolerance: float = _TOLERANCE,
    from_shares: bool = False,
) -> Fit:
    """Fit the model to one row per answer.

    Args:
        item: place of the row's item; shape (rows,), as are the next two.
        annotator: place of who gave it.
        given: place of the answer.
        shape: how many annotators and how many answers there are.
        items: how many items each place stands for; one each by default.
        trust: what a row of each annotator counts; 1 by default.
        known: the true answer of each item, -1 if it is not known.
        strength: answers that the matrix of all annotators together counts as in each row of an
            annotator's: with few answers an annotator is taken to be like the others.
        tolerance: the largest change of a probability in the last step.
        from_shares: begin with the shares of the answers to an item, equation 3.1 of the paper;
            by default with those most often given, equally likely.
    """
    annotators, q = shape
    number = int(item.max()) + 1
    weight = np.ones(len(item)) if trust is None else trust[annotator]
    many = np.ones(number) if items is None else items
    fixed = np.zeros(number, dtype=np.bool_) if known is None else known >= 0
    certain = np.eye(q)[known[fixed]] if known is not None else np.zeros((0, q))
    votes = np.bincount(item * q + given, weight, number * q).reshape(number, q)
    if not from_shares:
        votes = (votes >= votes.max(axis=1, keepdims=True) - 1e-9).astype(votes.dtype)
    truth = _normal(votes.astype(np.float64))
    truth[fixed] = certain
    cell = annotator * q + given
    for _ in range(_STEPS):
        counted = truth * many[:, None]
        priors = counted.sum(axis=0) + strength / q
        priors /= priors.sum()
        # One truth after the other: rows are many, and of contiguous ones sums are quick.
        columns = counted.T.copy()
        given_by = [np.bincount(cell, true[item], annotators * q) for true in columns]
        gave = np.stack([table.reshape(annotators, q) for table in given_by], axis=1)
        errors = _normal(gave + strength * _normal(gave.sum(axis=0) + strength / q))
        logs = np.log(np.clip(errors, _LEAST, None)).swapaxes(0, 1).reshape(q, annotators * q)
        parts = [log[cell] * weight for log in logs]
        of_items = np.stack([np.bincount(item, part, number) for part in parts])
        scores = of_items + np.log(np.clip(priors, _LEAST, None))[:, None]
        before, truth = truth, _normal(np.exp(scores - scores.max(axis=0)).T.copy())
        truth[fixed] = certain
        if np.abs(truth - before).max() < tolerance:
            break
    return Fit(truth, errors, priors, scores.T.copy(), np.stack(parts, axis=1))


def _normal(values: FloatArray) -> FloatArray:
    """Shares of the last axis; 0 if there is nothing."""
    total = values.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(values, total, out=np.zeros_like(values), where=total > 0))
