"""The answers that measures are computed from; what measures share is computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tracker.core.tallies import Answer, ItemPatterns
from tracker.measures.coefficient import NO_OVERLAP, TOO_FEW_ANNOTATORS, TOO_FEW_ITEMS
from tracker.measures.pattern_table import Floats, Table, pattern_table_of
from tracker.measures.weights import Weighting, weights


@dataclass(frozen=True, eq=False)
class Sample:
    """Item patterns under one definition of agreement.

    Attributes:
        table: the patterns as arrays.
        annotators: how many annotators gave these answers.
        weighting: how much two answers agree, from 0 to 1.
        values: the number of each category, where categories are numbers.
        scale: alpha's distance: nominal, ordinal, interval, ratio, exact, jaccard or masi.
        several: answers are sets of categories.
        ordered: the categories' order means something, so that they have ranks.
        marginals: per annotator, how many items got each answer; None if not counted.
    """

    table: Table
    annotators: int
    weighting: Weighting
    values: Mapping[int, float] = field(default_factory=dict)
    scale: str = "nominal"
    several: bool = False
    ordered: bool = True
    marginals: Mapping[int, Mapping[Answer, int]] | None = None

    @property
    def items(self) -> int:
        """Items with an answer."""
        return int(self.table.items.sum())

    @cached_property
    def compared(self) -> int:
        """Items with two answers or more."""
        return int(self.table.items[self.table.sizes > 1].sum())

    @property
    def reading(self) -> dict[str, str]:
        """The weights by name, as figures say them."""
        return {"weights": self.weighting.name}

    @cached_property
    def agreement(self) -> Floats:
        """Per pattern the mean weight of its pairs of annotators, (P,); 0 below two answers."""
        sizes = self.table.sizes.astype(np.float64)
        pairs = self.table.pairs(self.weighting) - self.weighting.itself * sizes
        possible = sizes * (sizes - 1)
        mean: Floats = np.divide(pairs, possible, out=np.zeros(len(sizes)), where=possible > 0)
        return mean

    @cached_property
    def observed(self) -> float:
        """Observed agreement: the mean over items compared (Fleiss 1971, equation 2)."""
        return float(self.mean_agreement(self.table.items[None, :].astype(np.float64))[0])

    def mean_agreement(self, items: Floats) -> Floats:
        """Return observed agreement for other numbers of items of each pattern.

        Args:
            items: shape (B, P).

        Returns:
            Shape (B,); NaN if a row has no item of two answers.
        """
        compared = self.table.sizes > 1
        kept = items[:, compared]
        total = kept.sum(axis=1)
        mean: Floats = np.divide(
            kept @ self.agreement[compared], total, out=np.full(len(items), np.nan), where=total > 0
        )
        return mean

    @cached_property
    def shares(self) -> Floats:
        """The mean over items of each answer's share of the item, (A,); they add up to 1.

        Every item weighs the same, however many answers it has (Gwet 2014, chapter 2).
        """
        return self.table.over_answers(self.entry_shares * self.entry_items) / max(self.items, 1)

    @cached_property
    def entry_shares(self) -> Floats:
        """Each entry's share of its item, (N,)."""
        shares: Floats = self.table.count / self.table.sizes[self.table.owner]
        return shares

    @cached_property
    def entry_items(self) -> Floats:
        """The items of each entry's pattern, (N,)."""
        items: Floats = self.table.items[self.table.owner].astype(np.float64)
        return items

    @cached_property
    def why_not(self) -> str | None:
        """The reason why nothing can be compared, or None if something can."""
        if not len(self.table.items):
            return TOO_FEW_ITEMS
        if self.annotators < 2:
            return TOO_FEW_ANNOTATORS
        return None if self.compared else NO_OVERLAP


def sample_for_measures(
    patterns: ItemPatterns,
    annotators: int,
    *,
    categories: Sequence[int] = (),
    declared: bool = True,
    values: Mapping[int, float] | None = None,
    weighting: str = "identity",
    by_rank: bool = False,
    scale: str = "nominal",
    several: bool = False,
    ordered: bool = True,
    marginals: Mapping[int, Mapping[Answer, int]] | None = None,
) -> Sample:
    """Return a tally under a reading.

    Args:
        patterns: how many items have each multiset of answers.
        annotators: how many annotators gave them.
        categories: in order; any others that occur follow in ascending order.
        declared: all of ``categories`` can be answered, whether they occur or not.
        values: the number of each category, where categories are numbers.
        weighting: identity, linear, quadratic or ordinal.
        by_rank: linear and quadratic weights use ranks, as on an ordinal scale.
        scale: alpha's distance.
        several: answers are sets of categories.
        ordered: the order of ``categories`` means something.
        marginals: per annotator, how many items got each answer, for Conger's kappa.

    Raises:
        InvalidOption: unknown weights, or weights that need numbers and have none.
    """
    table = pattern_table_of(patterns, () if several else [(category,) for category in categories])
    if not declared:
        table = table.of_used_answers()
    return Sample(
        table,
        annotators,
        weights(weighting, table.answers, values, ordered=by_rank),
        values or {},
        scale,
        several,
        ordered,
        marginals,
    )
