"""Cohen's kappa, of one pair of annotators or of very many at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracker.measures.coefficient import (
    NO_OVERLAP,
    NO_SPREAD,
    SINGLE_CATEGORY,
    Coefficient,
    Detail,
    Parts,
    bounds,
)
from tracker.measures.intervals import check_confidence, intervals
from tracker.measures.table import summed
from tracker.measures.weights import Weighting, weights
from tracker.tally import Answer

__all__ = ["Cells", "cells_of", "cohen_kappa", "cohen_kappas"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_AT_A_TIME = 2_000_000  # pairs of annotators times answers


@dataclass(frozen=True, eq=False)
class Cells:
    """Cross-tables of pairs of annotators, one entry per pair and cell that is not empty.

    Attributes:
        answers: the different answers; their places are the codes.
        pair: which pair, (N,), ascending.
        first: the first annotator's answer, (N,).
        second: the second's, (N,).
        items: how many items, (N,).
        pairs: how many pairs there are.
    """

    answers: tuple[Answer, ...]
    pair: Integers
    first: Integers
    second: Integers
    items: Integers
    pairs: int


@dataclass(frozen=True, eq=False)
class _Kappas:
    """For each pair, (C,): what Cohen's kappa is made of; and per cell its influence, (N,)."""

    items: Floats
    observed: Floats
    expected: Floats
    value: Floats  # NaN where chance agrees perfectly
    error: Floats
    influence: Floats


def cells_of(
    tables: Sequence[Mapping[tuple[Answer, Answer], int]], answers: Sequence[Answer] = ()
) -> Cells:
    """Cross-tables ``{(answer of the first, answer of the second): items}`` as arrays.

    ``answers`` get the first codes, in their order, whether they occur or not.
    """
    known = set(answers)
    others = {answer for table in tables for cell in table for answer in cell} - known
    every = (*answers, *sorted(others))
    code = {answer: place for place, answer in enumerate(every)}
    rows = [
        (pair, code[one], code[other], items)
        for pair, table in enumerate(tables)
        for (one, other), items in table.items()
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return Cells(every, columns[0], columns[1], columns[2], columns[3], len(tables))


def cohen_kappa(
    table: Mapping[tuple[Answer, Answer], int],
    confidence: float = 0.95,
    weighting: Weighting | None = None,
) -> Coefficient:
    """Cohen's kappa of one pair; see `cohen_kappas`.

    Args:
        table: ``{(answer of the first, answer of the second): items}`` over the items that both
            answered. The first may be the truth and the second the pooled annotators, with one
            count per answer; the error then takes answers for items, which is too optimistic
            where several answers go to one item.
        confidence: the level of the bounds, in (0, 1).
        weighting: agreement weights over the answers in ascending order, or over declared ones.
    """
    return next(cohen_kappas(cells_of([table]), confidence, weighting))


def cohen_kappas(
    cells: Cells, confidence: float = 0.95, weighting: Weighting | None = None
) -> Iterator[Coefficient]:
    """Cohen's kappa of each pair, at most 1; 0 is chance level under each one's own shares.

    Args:
        cells: the pairs' cross-tables over the items that both answered.
        confidence: the level of the bounds, in (0, 1); t with one degree of freedom less than
            there are items.
        weighting: agreement weights over ``cells.answers``; equal or not by default.

    Yields:
        Per pair the coefficient with its observed and expected agreement, or undefined:
        no_overlap (an empty table), single_category (both gave one and the same answer).

    Raises:
        InvalidOption: the confidence level is not in (0, 1).

    Source:
        Cohen (1960), Educ. Psychol. Meas. 20, 37; weights: Cohen (1968), Psychol. Bull. 70, 213;
        error by Fleiss, Cohen and Everitt (1969), Psychol. Bull. 72, 323, equation 13.
    """
    weighting = weighting or weights("identity", cells.answers)
    check_confidence(confidence)
    told = {"weights": weighting.name}
    for _, part in _parts(cells):
        found = _kappas(part, weighting)
        low, high = intervals(found.value, found.error, found.items, confidence)
        # Of very many pairs nearly all have an ordinary interval: theirs are made all at once.
        ordinary = (found.items > 1) & (found.error >= NO_SPREAD)
        columns = (found.items, found.observed, found.expected, found.value, found.error)
        for row in zip(*(c.tolist() for c in (ordinary, low, high, *columns)), strict=True):
            plain, lower, upper, items, observed, expected, value, error = row
            if plain:
                yield Coefficient(
                    "cohen_kappa", value, None, observed, expected, error, lower, upper,
                    confidence, int(items), "t", told,
                )  # fmt: skip
            else:
                parts = Parts(observed, expected)
                yield _coefficient(int(items), parts, value, error, told, confidence)


def kappa_influences(cells: Cells, weighting: Weighting) -> Iterator[tuple[int, _Kappas, Cells]]:
    """Kappas part by part, with the number of the part's first pair and its cells."""
    for start, part in _parts(cells):
        yield start, _kappas(part, weighting), part


def _parts(cells: Cells) -> Iterator[tuple[int, Cells]]:
    """The pairs in parts whose marginals fit into memory together."""
    step = max(1, _AT_A_TIME // max(len(cells.answers), 1))
    for start in range(0, cells.pairs, step):
        low, high = np.searchsorted(cells.pair, [start, start + step])
        kept = slice(low, high)
        yield (
            start,
            Cells(
                cells.answers,
                cells.pair[kept] - start,
                cells.first[kept],
                cells.second[kept],
                cells.items[kept],
                min(step, cells.pairs - start),
            ),
        )


def _kappas(cells: Cells, weighting: Weighting) -> _Kappas:
    answers, pair = len(cells.answers), cells.pair
    shape = (cells.pairs, answers)
    count = cells.items.astype(np.float64)

    def marginal(codes: Integers) -> Floats:
        return summed(pair * answers + codes, count, cells.pairs * answers).reshape(shape)

    first, second = marginal(cells.first), marginal(cells.second)
    items = first.sum(axis=1)
    agreement = weighting.between(cells.first, cells.second)
    # In whole items as long as weights are whole: then "all alike" is an equality.
    agreed = summed(pair, agreement * count, cells.pairs)
    from_second, from_first = weighting.against(second), weighting.against(first)
    chance = (first * from_second).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed, expected = agreed / items, chance / items**2
        room = np.where(items**2 - chance > 1e-12 * items**2, 1 - expected, np.nan)
        value = (observed - expected) / room
        by_chance = (from_second[pair, cells.first] + from_first[pair, cells.second]) / items[pair]
        change = (agreement - observed[pair]) - (1 - value[pair]) * (by_chance - 2 * expected[pair])
        influence = change / (items * room)[pair]
    error = np.sqrt(summed(pair, count * influence**2, cells.pairs))
    return _Kappas(items, observed, expected, value, error, influence)


def _coefficient(
    items: int,
    parts: Parts,
    value: float,
    error: float,
    told: Mapping[str, Detail],
    confidence: float,
) -> Coefficient:
    """A pair that is undefined, or whose error says nothing of its spread."""
    if not items:
        return Coefficient("cohen_kappa", None, NO_OVERLAP, confidence=confidence, details=told)
    if math.isnan(value):
        return Coefficient(
            "cohen_kappa", None, SINGLE_CATEGORY, 1.0, 1.0,
            confidence=confidence, items=items, details=told,
        )  # fmt: skip
    found = bounds(value, error, parts, items=items, compared=items, confidence=confidence)
    return Coefficient(
        "cohen_kappa",
        value,
        observed=parts.observed,
        expected=parts.expected,
        standard_error=error if items > 1 else None,
        ci_low=found.low,
        ci_high=found.high,
        confidence=confidence,
        items=items,
        method=found.method,
        details=told,
    )
