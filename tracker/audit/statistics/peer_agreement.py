"""Each annotator's agreement with the co-annotators of the same items, and what these reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tracker.audit.statistics.exchangeability import (
    Draws,
    exchangeable_draws,
    exchangeable_lower_tail,
)
from tracker.audit.statistics.poisson_binomial import Z_95
from tracker.core.tallies import Answer, FloatArray, IntArray, Pattern, answers_in_pattern
from tracker.core.tally_columns import TallyColumns


@dataclass(frozen=True)
class Alignment:
    """One annotator's agreement, item by item; A is the share of co-annotators agreed with.

    Attributes:
        annotator: the annotator's id.
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
    peers_of, own_of = _of_rows(shared)
    expected = draws.mean[shared.pattern]
    telling = (draws.variance > 0)[shared.pattern]
    more = ~np.isnan(peers_of)
    difference = np.where(more, own_of - peers_of, 0.0)
    items = shared.total(1.0)
    compared = shared.total(more)
    columns = zip(
        shared.annotators.tolist(),
        items.tolist(),
        shared.total(own_of).tolist(),
        shared.total(own_of**2).tolist(),
        shared.total(expected).tolist(),
        compared.tolist(),
        shared.total(np.where(more, own_of, 0.0)).tolist(),
        shared.total(np.where(more, peers_of, 0.0)).tolist(),
        shared.total(difference**2).tolist(),
        shared.total(telling).tolist(),
        strict=True,
    )
    found = {}
    for place, column in enumerate(columns):
        annotator, n, own, own_square, chance, wide, own_wide, peers, square, informative = column
        if not n:
            continue
        rows = shared.rows_of(place)
        gap = (own_wide - peers) / wide if wide else 0.0
        found[annotator] = Alignment(
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
    return found


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


def _of_rows(shared: TallyColumns) -> tuple[FloatArray, FloatArray]:
    """Per row the agreement of the others with each other, NaN below three, and one's own."""
    met, place = shared.met
    peers, own = np.full(len(met), np.nan), np.zeros(len(met))
    for row, (answer, pattern) in enumerate(met):
        among = peer_agreement(answer, pattern)
        peers[row] = np.nan if among is None else among
        own[row] = (dict(pattern)[answer] - 1) / (answers_in_pattern(pattern) - 1)
    return peers[place], own[place]
