"""Each annotator's agreement with the co-annotators of the same items, and what these reach."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tracker.audit.statistics.exact_tests import (
    Z_95,
    Draws,
    exchangeable_draws,
    exchangeable_lower_tail,
)
from tracker.core.tallies import Answer, FloatArray, IntArray, Pattern, answers_in_pattern
from tracker.core.tally_columns import TallyColumns


@dataclass(frozen=True)
class Alignment:
    """One annotator's agreement, item by item; A is the share of co-annotators agreed with.

    Attributes:
        n: items that others answered too.
        observed: mean of A.
        deviation: standard deviation of A over these items; None below two.
        expected: mean over the items of the chance that two of an item's annotators agree, the
            annotator among them: what A would be of any of them.
        compared: items of three answers or more, where the others can be compared.
        own: mean of A over these.
        peers: mean over these of the agreement of the co-annotators with each other; None
            where there is none.
        error: standard error of ``own`` less ``peers``.
        informative: items where A could have been another: not all answers equally common.
        excess: sum over the items of A less its expectation.
    """

    annotator: int
    n: int
    observed: float
    deviation: float | None
    expected: float
    compared: int
    own: float | None
    peers: float | None
    error: float | None
    informative: int
    excess: float
    draws: Draws
    pattern: IntArray
    items: IntArray

    @property
    def gap(self) -> float | None:
        """Agreement above the co-annotators' on the same items; None without three answers."""
        return None if self.own is None or self.peers is None else self.own - self.peers

    @property
    def gap_interval(self) -> tuple[float, float] | None:
        """A 95% interval of the gap, from its spread over items."""
        if self.gap is None or self.error is None:
            return None
        return self.gap - Z_95 * self.error, self.gap + Z_95 * self.error

    @property
    def observed_interval(self) -> tuple[float, float] | None:
        """A 95% interval of the agreement over items, within 0 to 1."""
        if self.deviation is None:
            return None
        reach = Z_95 * self.deviation / math.sqrt(self.n)
        return max(self.observed - reach, 0.0), min(self.observed + reach, 1.0)

    @cached_property
    def lower(self) -> float:
        """Probability of as little agreement, if any of the items' annotators."""
        return exchangeable_lower_tail(self.draws, self.pattern, self.items, self.excess)


def peer_agreement_alignments(shared: TallyColumns) -> dict[int, Alignment]:
    """The agreement of every annotator with a shared item, by id."""
    if not len(shared.number):
        return {}
    draws = peer_agreement_draws(shared.patterns)
    met, place_met = shared.met
    peers_of, own_of = _of_met(met)
    pattern = np.zeros(len(met), dtype=np.int64)
    pattern[place_met] = shared.pattern
    more = ~np.isnan(peers_of)
    difference = np.where(more, own_of - peers_of, 0.0)
    of_met = (
        np.ones(len(met)), own_of, own_of**2, draws.mean[pattern], more,
        np.where(more, own_of, 0.0), np.where(more, peers_of, 0.0), difference**2,
        draws.variance[pattern] > 0,
    )  # fmt: skip
    totals = np.stack([shared.total(values[place_met]) for values in of_met], axis=1).tolist()
    alignments = {}
    for place, annotator in enumerate(shared.annotators.tolist()):
        n, own, own_square, chance, wide, own_wide, peers, square, informative = totals[place]
        if not n:
            continue
        rows = shared.rows_of(place)
        gap = (own_wide - peers) / wide if wide else 0.0
        alignments[annotator] = Alignment(
            annotator=annotator,
            n=int(n),
            observed=own / n,
            deviation=math.sqrt(max(own_square - own**2 / n, 0.0) / (n - 1)) if n > 1 else None,
            expected=chance / n,
            compared=int(wide),
            own=own_wide / wide if wide else None,
            peers=peers / wide if wide else None,
            error=math.sqrt(max(square - wide * gap**2, 0.0) / (wide - 1) / wide)
            if wide > 1
            else None,
            informative=int(informative),
            excess=own - chance,
            draws=draws,
            pattern=shared.pattern[rows],
            items=shared.number[rows],
        )
    return alignments


def peer_agreement_draws(patterns: Sequence[Pattern]) -> Draws:
    """What an answer's agreement with the other answers to its item may be, by pattern."""
    return exchangeable_draws(patterns, _agreeing)


def _agreeing(pattern: Pattern) -> tuple[list[float], Fraction]:
    others = answers_in_pattern(pattern) - 1
    counts = [count for _, count in pattern]
    apart = math.gcd(*(count - counts[0] for count in counts))
    return [(count - 1) / others for count in counts], Fraction(apart, others)


def peer_agreement(own: Answer, pattern: Pattern) -> float | None:
    """Chance that two of an item's others agree, one answer of ``own`` taken out; None below 3."""
    size = answers_in_pattern(pattern) - 1
    if size < 2:
        return None
    counts = (count - (answer == own) for answer, count in pattern)
    return sum(count * (count - 1) for count in counts) / (size * (size - 1))


def _of_met(met: Sequence[tuple[Answer, Pattern]]) -> tuple[FloatArray, FloatArray]:
    """Return the agreement of the others with each other, NaN below three, and one's own."""
    peers, own = np.full(len(met), np.nan), np.zeros(len(met))
    for row, (answer, pattern) in enumerate(met):
        among = peer_agreement(answer, pattern)
        peers[row] = np.nan if among is None else among
        own[row] = (dict(pattern)[answer] - 1) / (answers_in_pattern(pattern) - 1)
    return peers, own


# -- Each annotator's answers against what most of the co-annotators of the same items gave -------


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
    answers = shared.distinct_answers
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
        blind_error: what that would be if the answers said nothing.
    """

    value: float
    error: float
    blind_error: float


_CELLS = 1 << 16


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
    # Few tables at a time stay in the processor's cache: of 230 answers in a third of the time.
    some = max(1, _CELLS // max(tables[:1].size, 1))
    parts = (tables[first : first + some] for first in range(0, len(tables), some))
    return [score for part in parts for score in _scores(part)]


def _scores(tables: FloatArray) -> Iterator[Score | None]:
    size = tables.sum(axis=2)
    kept = size >= 1.0
    rows = kept.sum(axis=1)
    size = np.where(kept, size, 1.0)
    shares = tables / size[:, :, None]
    # Half an item more in every row, spread evenly: a row of equal answers has some variance too.
    p = (tables + 0.5 / max(tables.shape[2], 1)) / (size + 0.5)[:, :, None]
    squared = p**2
    squares = squared.sum(axis=2)
    several = np.maximum(rows, 2)
    mean = (shares * kept[:, :, None]).sum(axis=1) / several[:, None]
    x = (shares - mean[:, None, :]) * kept[:, :, None]
    weight = kept / size  # of a row's covariance, diag(p) - p p'
    noise = ((1.0 - squares) * weight).sum(axis=1) / several
    linear = 4.0 * (((p * x**2).sum(axis=2) - (p * x).sum(axis=2) ** 2) * weight).sum(axis=1)
    # The traces of the products of every two rows' covariances: of all pairs, of a row with itself.
    of_all = [np.einsum("ark,ar->ak", powers, weight) for powers in (p, squared)]
    used = kept.any(axis=0)
    weighted = p[:, used] * np.sqrt(weight)[:, used, None]
    gram = weighted.swapaxes(1, 2) @ weighted
    traces = (of_all[0] ** 2 - 2.0 * of_all[0] * of_all[1]).sum(axis=1) + (gram**2).sum(axis=(1, 2))
    own = ((squares - 2.0 * (p**3).sum(axis=2) + squares**2) * weight**2).sum(axis=1)
    # Off the diagonal the weights of the centred rows are -1 / n, on it they are 1 - 1 / n.
    square = np.maximum(2.0 * (traces + own * ((several - 1.0) ** 2 - 1.0)) / several**2, 0.0)
    freedom = several - 1
    value = (x**2).sum(axis=(1, 2)) / freedom - noise
    errors = np.sqrt(np.maximum(linear + square, 0.0)) / freedom, np.sqrt(square) / freedom
    columns = zip(value.tolist(), *(error.tolist() for error in errors), strict=True)
    several_rows = (rows > 1).tolist()
    for score, enough in zip(columns, several_rows, strict=True):
        yield Score(*score) if enough else None


def majority_kappa(counts: FloatArray) -> float | None:
    """Cohen's kappa of a table of counts, shape (q, q); None if it is undefined."""
    total = counts.sum()
    if not total:
        return None
    observed = np.trace(counts) / total
    expected = float(counts.sum(axis=0) @ counts.sum(axis=1)) / total**2
    return None if expected >= 1 else float((observed - expected) / (1 - expected))
