"""Cohen's kappa, of one pair of annotators or of very many at once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tracker.core.made_rows import MadeRows
from tracker.core.tallies import Answer, ItemPatterns, Pattern, make_pattern
from tracker.measures.chance_corrected import fleiss_kappa
from tracker.measures.estimate import Estimate
from tracker.measures.intervals import (
    ASYMMETRIC,
    NO_OVERLAP,
    NO_SPREAD,
    SINGLE_CATEGORY,
    Coefficient,
    Detail,
    Parts,
    Spread,
    check_confidence,
    check_interval_method,
    confidence_intervals,
    degrees_of_freedom,
    log_confidence_intervals,
    spread_bounds,
)
from tracker.measures.sample import Floats, Integers, Sample, pattern_table_of, pattern_table_sums
from tracker.measures.weights import Weighting, weights

FEW_PAIRS: Final = 100
"""Up to so many pairs at once each one's posterior is drawn, which takes a millisecond."""

_AT_A_TIME = 200_000  # pairs of annotators times answers


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

    def table(self, pair: int) -> dict[tuple[Answer, Answer], int]:
        """Return the cross-table of one pair."""
        rows = slice(*np.searchsorted(self.pair, [pair, pair + 1]))
        columns = (self.first, self.second, self.items)
        cells = zip(*(column[rows].tolist() for column in columns), strict=True)
        return {(self.answers[a], self.answers[b]): items for a, b, items in cells}


@dataclass(frozen=True, eq=False)
class _Kappas:
    """For each pair, (C,), the parts of Cohen's kappa; and for each cell its influence, (N,)."""

    items: Floats
    observed: Floats
    expected: Floats
    value: Floats  # NaN if chance agrees perfectly
    error: Floats
    fourths: Floats
    influence: Floats


def kappa_cells(
    tables: Sequence[Mapping[tuple[Answer, Answer], int]], answers: Sequence[Answer] = ()
) -> Cells:
    """Return cross-tables ``{(answer of the first, answer of the second): items}`` as arrays.

    ``answers`` get the first codes, in their order, whether they occur or not.
    """
    others = {answer for table in tables for cell in table for answer in cell}.difference(answers)
    every = (*answers, *sorted(others))
    code = {answer: place for place, answer in enumerate(every)}
    rows = [
        (pair, code[first], code[second], items)
        for pair, table in enumerate(tables)
        for (first, second), items in table.items()
    ]
    pair, first, second, number = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return Cells(every, pair, first, second, number, len(tables))


def cohen_kappa(
    table: Mapping[tuple[Answer, Answer], int],
    confidence: float = 0.95,
    weighting: Weighting | None = None,
    interval: str = ASYMMETRIC,
) -> Coefficient:
    """Return Cohen's kappa of one pair; see `cohen_kappas`.

    Args:
        table: ``{(answer of the first, answer of the second): items}`` over the items that both
            answered. The first may be the truth and the second the pooled annotators, with one
            count per answer; the error then takes answers for items, which is too optimistic
            where several answers go to one item.
        confidence: of the bounds.
        weighting: agreement weights over the answers in ascending order, or over declared ones.
        interval: how the bounds are made.
    """
    return cohen_kappas(kappa_cells([table]), confidence, weighting, interval)[0]


def cohen_kappas(
    cells: Cells,
    confidence: float = 0.95,
    weighting: Weighting | None = None,
    interval: str = ASYMMETRIC,
) -> CohenKappas:
    """Return Cohen's kappa of each pair, at most 1; 0 is chance level under each one's own shares.

    Args:
        cells: the pairs' cross-tables over the items that both answered.
        confidence: of the bounds.
        weighting: agreement weights over ``cells.answers``; equal or not by default.
        interval: how the bounds are made, see `spread_bounds`; of more than
            `FEW_PAIRS` pairs no posterior is drawn.

    Returns:
        Per pair the coefficient with its observed and expected agreement, or undefined:
        no_overlap (an empty table), single_category (both gave one and the same answer).

    Raises:
        InvalidOption: there is no such interval.

    Source:
        Cohen (1960), Educ. Psychol. Meas. 20, 37; weights: Cohen (1968), Psychol. Bull. 70, 213;
        error by Fleiss, Cohen and Everitt (1969), Psychol. Bull. 72, 323, equation 13.
    """
    weighting = weighting or weights("identity", cells.answers)
    check_confidence(confidence)
    check_interval_method(interval)
    columns = [np.zeros((len(_COLUMNS), 0))]
    for _, part in _parts(cells):
        kappas = _kappas(part, weighting)
        columns.append(np.array([getattr(kappas, name) for name in _COLUMNS]))
    return CohenKappas(cells, confidence, weighting, interval, np.hstack(columns))


_COLUMNS: Final = ("items", "observed", "expected", "value", "error", "fourths")  # of `_Kappas`


@dataclass(frozen=True, eq=False)
class CohenKappas(MadeRows[Coefficient]):
    """Cohen's kappa of each pair: of a hundred thousand, bounds are made of those that are read.

    Attributes:
        cells: the pairs' cross-tables; ``confidence``, ``weighting``, ``interval`` are those of
            `cohen_kappas`.
        columns: what is computed of all pairs at once, shape (6, C).
    """

    cells: Cells
    confidence: float
    weighting: Weighting
    interval: str
    columns: Floats

    @property
    def values(self) -> Floats:
        """Return the kappas, shape (C,); NaN if undefined."""
        values: Floats = self.columns[_COLUMNS.index("value")]
        return values

    def __len__(self) -> int:
        return self.cells.pairs

    def made(self, places: Integers) -> Iterator[Coefficient]:
        """Yield the kappas of some pairs."""
        columns = self.columns[:, places]
        items, *_, error, _ = columns
        details = {"weights": self.weighting.name}
        method = "log" if self.interval == ASYMMETRIC else self.interval
        # Of very many pairs nearly all have an ordinary interval: theirs are made all at once.
        ordinary = (items > 1) & (error >= NO_SPREAD)
        low, high = _ordinary(columns, ordinary, self.confidence, self.interval)
        few = self.interval == ASYMMETRIC and len(self) <= FEW_PAIRS
        rows = zip(
            places.tolist(), ordinary.tolist(), low.tolist(), high.tolist(),
            *columns[:-1].tolist(), strict=True,
        )  # fmt: skip
        for pair, plain, lower, upper, number, agreed, chance, kappa, spread in rows:
            drawn = None
            if few:
                drawn = _likely(self.cells, pair, kappa, self.weighting, self.confidence)
            if plain and drawn is None:
                yield Coefficient(
                    "cohen_kappa", kappa, None, agreed, chance, spread, lower, upper,
                    self.confidence, int(number), method, details,
                )  # fmt: skip
            else:
                both = Parts(agreed, chance)
                known = Spread(kappa, spread, both, int(number), int(number), None, drawn)
                yield _coefficient(known, details, self.confidence, self.interval)


def _ordinary(
    columns: Floats, ordinary: NDArray[np.bool_], confidence: float, interval: str
) -> tuple[Floats, Floats]:
    """Return the bounds of pairs with an error, by a formula; NaN for others."""
    items, _, _, value, error, fourths = columns
    if interval != ASYMMETRIC:
        return confidence_intervals(value, error, items, confidence)
    low, high = np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    items, _, _, value, error, fourths = columns[:, ordinary]
    freedom = degrees_of_freedom(items, error**2, fourths)
    low[ordinary], high[ordinary] = log_confidence_intervals(value, error, freedom, confidence)
    return low, high


def _likely(
    cells: Cells, pair: int, value: float, weighting: Weighting, confidence: float
) -> tuple[float, float] | None:
    """Return the bounds of one pair's posterior, from that of Fleiss' kappa of the two."""
    if math.isnan(value):
        return None
    patterns: Counter[Pattern] = Counter()
    for answers, items in cells.table(pair).items():
        patterns[make_pattern(answers)] += items
    if patterns.total() < 2:
        return None
    both = Sample(pattern_table_of(ItemPatterns(patterns), cells.answers), 2, weighting)
    return Estimate("cohen_kappa", value, twin=fleiss_kappa(both)).likely(confidence)


def kappa_influences(cells: Cells, weighting: Weighting) -> Iterator[tuple[int, _Kappas, Cells]]:
    """Yield kappas part by part, with the number of the part's first pair and its cells."""
    for start, part in _parts(cells):
        yield start, _kappas(part, weighting), part


def _parts(cells: Cells) -> Iterator[tuple[int, Cells]]:
    """Yield the pairs in parts whose marginals fit into memory together."""
    step = max(1, _AT_A_TIME // max(len(cells.answers), 1))
    for start in range(0, cells.pairs, step):
        low, high = np.searchsorted(cells.pair, [start, start + step])
        columns = (cells.pair, cells.first, cells.second, cells.items)
        pair, first, second, items = (column[low:high] for column in columns)
        pairs = min(step, cells.pairs - start)
        yield start, Cells(cells.answers, pair - start, first, second, items, pairs)


def _kappas(cells: Cells, weighting: Weighting) -> _Kappas:
    answers, pair = len(cells.answers), cells.pair
    shape = (cells.pairs, answers)
    count = cells.items.astype(np.float64)

    first, second = (
        pattern_table_sums(pair * answers + codes, count, cells.pairs * answers).reshape(shape)
        for codes in (cells.first, cells.second)
    )
    items = first.sum(axis=1)
    agreement = weighting.between(cells.first, cells.second)
    # In whole items as long as weights are whole: then "all alike" is an equality.
    agreed = pattern_table_sums(pair, agreement * count, cells.pairs)
    from_second, from_first = weighting.against(second), weighting.against(first)
    chance = (first * from_second).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed, expected = agreed / items, chance / items**2
        room = np.where(items**2 - chance > 1e-12 * items**2, 1 - expected, np.nan)
        value = (observed - expected) / room
        by_chance = (from_second[pair, cells.first] + from_first[pair, cells.second]) / items[pair]
        change = (agreement - observed[pair]) - (1 - value[pair]) * (by_chance - 2 * expected[pair])
        influence = change / (items * room)[pair]
    error = np.sqrt(pattern_table_sums(pair, count * influence**2, cells.pairs))
    fourths = pattern_table_sums(pair, count * influence**4, cells.pairs)
    return _Kappas(items, observed, expected, value, error, fourths, influence)


def _coefficient(
    of: Spread, details: Mapping[str, Detail], confidence: float, interval: str
) -> Coefficient:
    """Return a pair's kappa: undefined if no item is shared or chance agrees, else with bounds."""
    if not of.items:
        return Coefficient("cohen_kappa", None, NO_OVERLAP, confidence=confidence, details=details)
    if math.isnan(of.value):
        return Coefficient(
            "cohen_kappa", None, SINGLE_CATEGORY, 1.0, 1.0,
            confidence=confidence, items=of.items, details=details,
        )  # fmt: skip
    low, high, method = spread_bounds(of, confidence, interval)
    error = None if of.items < 2 else of.error if of.error >= NO_SPREAD else 0.0
    return Coefficient(
        "cohen_kappa", of.value, None, of.parts.observed, of.parts.expected, error, low, high,
        confidence, of.items, method, details,
    )  # fmt: skip
