"""The answers that measures are computed from; what measures share is computed once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracker.core.tallies import Answer, ItemPatterns, Pattern
from tracker.measures.intervals import NO_OVERLAP, TOO_FEW_ANNOTATORS, TOO_FEW_ITEMS
from tracker.measures.weights import Weighting, weights

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

_DENSE = 4_000_000  # cells of a matrix: 32 MB


@dataclass(frozen=True, eq=False)
class Table:
    """Item patterns with shape (P,), and their answers with shape (N,).

    One entry of N is one of the different answers of a pattern: a pattern of a, a, b has two
    entries, (a, 2) and (b, 1). The entries of a pattern are neighbors. There is no column per
    answer, so that many answers cost nothing.

    Attributes:
        answers: the different answers; their places are the codes in ``answer``.
        items: items of each pattern, (P,).
        sizes: answers to an item of each pattern, (P,).
        owner: the pattern of each entry, (N,), ascending.
        answer: the answer of each entry, (N,).
        count: annotators who gave it, (N,).
    """

    answers: tuple[Answer, ...]
    items: Integers
    sizes: Integers
    owner: Integers
    answer: Integers
    count: Integers

    def compared(self) -> Table:
        """Return the patterns of two answers or more."""
        kept = self.sizes > 1
        return self if kept.all() else self.take(np.flatnonzero(kept))

    def take(self, rows: Integers) -> Table:
        """Return the patterns at some places, in this order; a place may come several times."""
        start, end = (np.searchsorted(self.owner, rows, side) for side in ("left", "right"))
        owner = np.repeat(np.arange(len(rows)), end - start)
        entries = np.arange(len(owner)) + (end - np.cumsum(end - start))[owner]
        answer, count = self.answer[entries], self.count[entries]
        return Table(self.answers, self.items[rows], self.sizes[rows], owner, answer, count)

    def recoded(self, answers: Sequence[Answer]) -> Table:
        """Return the table with these answers' places as codes; all that occur are among them."""
        if answers == self.answers:
            return self
        code = {answer: place for place, answer in enumerate(answers)}
        codes = np.array([code.get(answer, -1) for answer in self.answers], dtype=np.int64)
        return replace(self, answers=tuple(answers), answer=codes[self.answer])

    def __add__(self, other: Table) -> Table:
        """Return all answers to the same items, row for row."""
        answers = (*self.answers, *sorted({*other.answers}.difference(self.answers)))
        both = self, other.recoded(answers)
        keys = np.concatenate([table.owner * len(answers) + table.answer for table in both])
        keys, place = np.unique(keys, return_inverse=True)
        count = np.bincount(place, np.concatenate([self.count, other.count])).astype(np.int64)
        owner, answer = np.divmod(keys, max(len(answers), 1))
        return Table(answers, self.items, self.sizes + other.sizes, owner, answer, count)

    def entries(self) -> Iterator[list[tuple[int, int]]]:
        """Yield the codes of each pattern's answers with how many annotators gave them."""
        cells = [*zip(self.answer.tolist(), self.count.tolist(), strict=True)]
        bounds = np.searchsorted(self.owner, np.arange(len(self.items) + 1)).tolist()
        return (cells[start:end] for start, end in pairwise(bounds))

    def over_patterns(self, entries: Floats | Integers) -> Floats:
        """Return the sum of a value per entry over each pattern, (P,)."""
        return pattern_table_sums(self.owner, entries, len(self.items))

    def over_answers(self, entries: Floats | Integers) -> Floats:
        """Return the sum of a value per entry over each answer, (A,)."""
        return pattern_table_sums(self.answer, entries, len(self.answers))

    def dense(self, entries: Floats) -> Floats:
        """Return a value per entry as a matrix of patterns and answers, (P, A)."""
        matrix = np.zeros((len(self.items), len(self.answers)))
        matrix[self.owner, self.answer] = entries
        return matrix

    def sums(self, entries: Floats, items: Floats) -> Floats:
        """Return sums over answers of a value per entry times numbers of items (B, P): (B, A)."""
        if len(self.answers) * len(self.items) <= _DENSE:
            return items @ self.dense(entries)
        from scipy.sparse import csr_array

        shape = (len(self.items), len(self.answers))
        sparse = csr_array((entries, (self.owner, self.answer)), shape)
        return np.asarray((sparse.T @ items.T).T)

    def pairs(self, weighting: Weighting) -> Floats:
        """Return for each pattern the sum of a weight over all ordered pairs of answers, (P,).

        Each answer is paired with itself, too: of n equal answers the sum is n squared.
        """
        count = self.count.astype(np.float64)
        equal = self.over_patterns(count * count)
        if weighting.nominal:
            return equal if weighting.itself else self.sizes**2 - equal
        total = weighting.itself * equal
        for first, second in pattern_entry_pairs(self.owner):
            weights = weighting.between(self.answer[first], self.answer[second])
            both = weights * count[first] * count[second]
            total += 2 * pattern_table_sums(self.owner[first], both, len(self.items))
        return total


def pattern_entry_pairs(owner: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Yield the places of every two entries of the same owner, some at a time; each two once.

    ``owner`` ascends, so that entries of one owner are neighbors: those s places apart, for
    s = 1, 2, ...
    """
    for shift in range(1, len(owner)):
        first = np.flatnonzero(owner[shift:] == owner[:-shift])
        if not len(first):
            break
        yield first, first + shift


def pattern_table_sums(places: Integers, values: Floats | Integers, number: int) -> Floats:
    """Return the sum of the values at each place from 0 to ``number - 1``."""
    return np.bincount(places, values, number).astype(np.float64, copy=False)


def pattern_table_of(
    patterns: Iterable[tuple[Pattern, int]], answers: Sequence[Answer] = ()
) -> Table:
    """Return the arrays of a number of items of each pattern.

    ``answers`` get the first codes, in this order, whether they occur or not; those that occur
    beside them follow in ascending order. A pattern with no answer or no item has no row.
    """
    kept = [(pattern, items) for pattern, items in patterns if pattern and items]
    others = {answer for pattern, _ in kept for answer, _ in pattern}.difference(answers)
    every = (*answers, *sorted(others))
    code = {answer: place for place, answer in enumerate(every)}
    lengths = np.array([len(pattern) for pattern, _ in kept], dtype=np.int64)
    owner = np.repeat(np.arange(len(kept), dtype=np.int64), lengths)
    answer = np.array([code[a] for pattern, _ in kept for a, _ in pattern], dtype=np.int64)
    count = np.array([n for pattern, _ in kept for _, n in pattern], dtype=np.int64)
    sizes = np.bincount(owner, count, len(kept)).astype(np.int64)
    items = np.array([items for _, items in kept], dtype=np.int64)
    return Table(every, items, sizes, owner, answer, count)


def merge_pattern_answer(answer: Answer, into: Mapping[int, int]) -> Answer:
    """Return an answer in which each category ``c`` of ``into`` is ``into[c]``, once."""
    return tuple(sorted({into.get(category, category) for category in answer}))


def merge_pattern_table(patterns: ItemPatterns, into: Mapping[int, int]) -> ItemPatterns:
    """Return the item patterns as if categories were one: ``{merged: the one it becomes}``."""
    counts: dict[Pattern, int] = {}
    for pattern, items in patterns:
        held: dict[Answer, int] = {}
        for answer, number in pattern:
            merged = merge_pattern_answer(answer, into)
            held[merged] = held.get(merged, 0) + number
        key = tuple(sorted(held.items()))
        counts[key] = counts.get(key, 0) + items
    return ItemPatterns(counts)


def patterns_without_category(patterns: ItemPatterns, category: int) -> ItemPatterns:
    """Return the item patterns without the answers that hold a category; empty items are gone."""
    counts: dict[Pattern, int] = {}
    for pattern, items in patterns:
        kept = tuple((answer, number) for answer, number in pattern if category not in answer)
        if kept:
            counts[kept] = counts.get(kept, 0) + items
    return ItemPatterns(counts)


@dataclass(frozen=True, eq=False)
class Sample:
    """Item patterns under one definition of agreement.

    Attributes:
        table: the patterns as arrays.
        annotators: how many annotators gave these answers.
        weighting: how much two answers agree, from 0 to 1.
        values: the number of each category, if categories are numbers.
        scale: alpha's distance: nominal, ordinal, interval, ratio, exact, jaccard or masi.
        ordered: the categories' order means something, so that they have ranks.
        marginals: per annotator, how many items got each answer; None if not counted.
    """

    table: Table
    annotators: int
    weighting: Weighting
    values: Mapping[int, float] = field(default_factory=dict)
    scale: str = "nominal"
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
        return np.divide(pairs, possible, out=np.zeros(len(sizes)), where=possible > 0)

    @cached_property
    def observed(self) -> float:
        """Observed agreement: the mean over items compared (Fleiss 1971, equation 2)."""
        return float(self.mean_agreement(self.table.items[None, :].astype(np.float64))[0])

    def mean_agreement(self, items: Floats) -> Floats:
        """Return observed agreement for other numbers of items of each pattern, (B, P): (B,).

        It is NaN if a row has no item of two answers.
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
        items = self.table.items[self.table.owner]
        return self.table.over_answers(self.entry_shares * items) / max(self.items, 1)

    @cached_property
    def entry_shares(self) -> Floats:
        """Each entry's share of its item, (N,)."""
        return self.table.count / self.table.sizes[self.table.owner]

    @cached_property
    def why_not(self) -> str | None:
        """The reason why nothing can be compared, or None if something can."""
        if not len(self.table.items):
            return TOO_FEW_ITEMS
        if self.annotators < 2:
            return TOO_FEW_ANNOTATORS
        return None if self.compared else NO_OVERLAP


def sample_for_measures(
    patterns: Iterable[tuple[Pattern, int]] | Table,
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
    """Return a tally under a reading; the arguments are `Sample`'s, and those of `weights`.

    ``categories`` are in order; any others that occur follow in ascending order, and so do all
    answers if one may hold ``several``. If categories are ``declared``, all can be answered,
    whether they occur or not. With ``by_rank``, linear and quadratic weights use ranks, as on an
    ordinal scale.

    Raises:
        InvalidOption: unknown weights, or weights that need numbers and have none.
    """
    table = patterns if isinstance(patterns, Table) else pattern_table_of(patterns)
    used = {table.answers[code] for code in np.unique(table.answer).tolist()}
    every = () if several else [(category,) for category in categories]
    first = [answer for answer in every if declared or answer in used]
    table = table.recoded((*first, *sorted(used.difference(first))))
    return Sample(
        table,
        annotators,
        weights(weighting, table.answers, values, ordered=by_rank),
        values or {},
        scale,
        ordered,
        marginals,
    )
