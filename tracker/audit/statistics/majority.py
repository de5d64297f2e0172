"""Each annotator's answers against what most of the co-annotators of the same items gave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.core.tallies import Answer, FloatArray, Pattern
from tracker.core.tally_columns import TallyColumns


def majority_of_others(own: Answer, pattern: Pattern) -> dict[Answer, float]:
    """What most of an item's other annotators gave; answers equally common share the item."""
    counts = {answer: count - (answer == own) for answer, count in pattern}
    most = max(counts.values())
    first = [answer for answer, count in counts.items() if count == most]
    return {answer: 1.0 / len(first) for answer in first}


def untied_majority(own: Answer, pattern: Pattern) -> Answer | None:
    """What most of an item's other annotators gave; None if answers are equally common."""
    first = majority_of_others(own, pattern)
    return next(iter(first)) if len(first) == 1 else None


def majority_tables(shared: TallyColumns, *, ties: bool = True) -> FloatArray:
    """How many items by what the others mostly gave and by the own answer.

    Without ``ties``, items on which answers are equally common are left out.

    Returns:
        Shape (annotators, answers, answers), the answers ascending: the others' answer in rows,
        the own in columns.
    """
    answers = tuple(sorted({answer for pattern in shared.patterns for answer, _ in pattern}))
    place = {answer: index for index, answer in enumerate(answers)}
    met, row_key = shared.met
    rows, others, shares, owns = [], [], [], []
    for row, (own, pattern) in enumerate(met):
        first = majority_of_others(own, pattern)
        for answer, share in first.items() if ties or len(first) == 1 else ():
            rows.append(row)
            others.append(place[answer])
            shares.append(share)
            owns.append(place[own])
    counts = np.zeros((len(shared.annotators), len(answers), len(answers)))
    if not rows:
        return counts
    # Items by annotator and key, sparse; each key adds to the cells of its majority.
    pairs, where = np.unique(shared.owner * len(met) + row_key, return_inverse=True)
    items = np.bincount(where, shared.number)
    owner, of_key = pairs // len(met), pairs % len(met)
    start = np.searchsorted(np.array(rows), np.arange(len(met) + 1))
    length = np.diff(start)[of_key]
    entry = np.repeat(np.arange(len(of_key)), length)
    first = np.cumsum(length) - length
    cell = np.arange(len(entry)) - first[entry] + start[of_key][entry]
    np.add.at(
        counts,
        (owner[entry], np.array(others)[cell], np.array(owns)[cell]),
        items[entry] * np.array(shares)[cell],
    )
    return counts


@dataclass(frozen=True)
class Score:
    """A spammer score, from 0 (the answers say nothing of the items) to 1.

    Attributes:
        value: corrected for the noise of small tables, and below 0 by it at times.
        error: its standard error.
        blind_error: what that would be if the answers said nothing.
    """

    value: float
    error: float
    blind_error: float


def spammer_scores(tables: FloatArray) -> list[Score | None]:
    """How far answers depend on what the others gave (Raykar and Yu 2012, section 3.2).

    The mean over every two rows of half the squared distance between the row's distributions of
    own answers: for two categories the square of Youden's index. Its expectation under chance
    alone, the variances of the rows, is taken off; the errors are those of a quadratic form of
    independent multinomial rows.

    Args:
        tables: items by the others' answer (rows) and the own (columns), shape (annotators, q, q).

    Returns:
        One for each table; None with fewer than two rows of one item or more.
    """
    size = tables.sum(axis=2)
    kept = size >= 1.0
    rows = kept.sum(axis=1)
    size = np.where(kept, size, 1.0)
    shares = tables / size[:, :, None]
    # Half an item more in every row, spread evenly: a row of equal answers has some variance too.
    p = (tables + 0.5 / max(tables.shape[2], 1)) / (size + 0.5)[:, :, None]
    several = np.maximum(rows, 2)
    mean = (shares * kept[:, :, None]).sum(axis=1) / several[:, None]
    x = (shares - mean[:, None, :]) * kept[:, :, None]
    weight = kept / size  # of a row's covariance, diag(p) - p p'
    noise = ((1.0 - (p**2).sum(axis=2)) * weight).sum(axis=1) / several
    linear = 4.0 * (((p * x**2).sum(axis=2) - (p * x).sum(axis=2) ** 2) * weight).sum(axis=1)
    cross = np.einsum("ark,ack->arc", p, p)
    once = np.einsum("ark,ack->arc", p**2, p)
    traces = (cross - once - once.swapaxes(1, 2) + cross**2) * weight[:, :, None]
    traces *= weight[:, None, :] / several[:, None, None] ** 2
    # Off the diagonal the weights of the centred rows are -1 / n, on it they are 1 - 1 / n.
    square = 2.0 * traces.sum(axis=(1, 2))
    square += 2.0 * np.einsum("arr->a", traces) * ((several - 1.0) ** 2 - 1.0)
    freedom = several - 1
    value = (x**2).sum(axis=(1, 2)) / freedom - noise
    errors = np.sqrt(np.maximum(linear + square, 0.0)) / freedom, np.sqrt(square) / freedom
    columns = zip(value.tolist(), *(error.tolist() for error in errors), strict=True)
    return [
        Score(*one) if many else None
        for one, many in zip(columns, (rows > 1).tolist(), strict=True)
    ]


def majority_kappa(counts: FloatArray) -> float | None:
    """Cohen's kappa of a table of counts, shape (q, q); None where it is undefined."""
    total = counts.sum()
    if not total:
        return None
    observed = np.trace(counts) / total
    expected = float(counts.sum(axis=0) @ counts.sum(axis=1)) / total**2
    return None if expected >= 1 else float((observed - expected) / (1 - expected))
