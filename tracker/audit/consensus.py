"""Each annotator's answers against what most of the co-annotators of the same items gave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.audit.entries import Entries, FloatArray
from tracker.tally import Answer, Pattern

__all__ = ["Score", "kappa", "majority_of_others", "spammer_score", "tables"]


def majority_of_others(own: Answer, pattern: Pattern) -> dict[Answer, float]:
    """What most of an item's other annotators gave; answers equally common share the item."""
    counts = {answer: count - (answer == own) for answer, count in pattern}
    most = max(counts.values())
    first = [answer for answer, count in counts.items() if count == most]
    return {answer: 1.0 / len(first) for answer in first}


def tables(entries: Entries) -> FloatArray:
    """How many items by what the others mostly gave and by the own answer.

    Returns:
        Shape (annotators, answers, answers), the answers ascending: the others' answer in rows,
        the own in columns.
    """
    answers = tuple(sorted({answer for pattern in entries.patterns for answer, _ in pattern}))
    place = {answer: index for index, answer in enumerate(answers)}
    width = len(entries.answers)
    key, row_key = np.unique(entries.pattern * width + entries.own, return_inverse=True)
    rows, others, shares, owns = [], [], [], []
    for row, number in enumerate(key.tolist()):
        own = entries.answers[number % width]
        for answer, share in majority_of_others(own, entries.patterns[number // width]).items():
            rows.append(row)
            others.append(place[answer])
            shares.append(share)
            owns.append(place[own])
    counts = np.zeros((len(entries.annotators), len(answers), len(answers)))
    if not rows:
        return counts
    # Items by annotator and key, sparse; each key adds to the cells of its majority.
    pairs, where = np.unique(entries.owner * len(key) + row_key, return_inverse=True)
    items = np.bincount(where, entries.items)
    owner, of_key = pairs // len(key), pairs % len(key)
    start = np.searchsorted(np.array(rows), np.arange(len(key) + 1))
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


def spammer_score(table: FloatArray) -> Score | None:
    """How far the answers depend on what the others gave (Raykar and Yu 2012, section 3.2).

    The mean over every two rows of half the squared distance between the row's distributions of
    own answers: for two categories the square of Youden's index. Its expectation under chance
    alone, the variances of the rows, is taken off; the errors are those of a quadratic form of
    independent multinomial rows.

    Args:
        table: items by the others' answer (rows) and the own (columns), shape (q, q).

    Returns:
        None with fewer than two rows of one item or more.
    """
    kept = table[table.sum(axis=1) >= 1.0]
    rows = len(kept)
    if rows < 2:
        return None
    size = kept.sum(axis=1)
    # Half an item more in every row, spread evenly: a row of equal answers has some variance too.
    shares = kept / size[:, None]
    smoothed = (kept + 0.5 / kept.shape[1]) / (size + 0.5)[:, None]
    spread = [
        (np.diag(share) - np.outer(share, share)) / number
        for share, number in zip(smoothed, size, strict=True)
    ]
    centred = shares - shares.mean(axis=0)
    weights = np.eye(rows) - 1.0 / rows
    value = float((centred**2).sum()) / (rows - 1)
    noise = sum(weights[row, row] * np.trace(spread[row]) for row in range(rows)) / (rows - 1)
    linear = 4.0 * sum(centred[row] @ spread[row] @ centred[row] for row in range(rows))
    square = 2.0 * sum(
        weights[row, column] ** 2 * float((spread[row] * spread[column]).sum())
        for row in range(rows)
        for column in range(rows)
    )
    return Score(
        value - float(noise),
        float(np.sqrt(linear + square)) / (rows - 1),
        float(np.sqrt(square)) / (rows - 1),
    )


def kappa(counts: FloatArray) -> float | None:
    """Cohen's kappa of a table of counts, shape (q, q); None where it is undefined."""
    total = counts.sum()
    if not total:
        return None
    observed = np.trace(counts) / total
    expected = float(counts.sum(axis=0) @ counts.sum(axis=1)) / total**2
    return None if expected >= 1 else float((observed - expected) / (1 - expected))
