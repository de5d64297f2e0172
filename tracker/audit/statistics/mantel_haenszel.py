"""How each annotator used each category, item by item against the co-annotators.

One ``Usage`` is one annotator and one category, summed over the items that others answered too;
items with one answer never enter. The items are the strata: nothing is compared across them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.audit.statistics.exact_tests import (
    EXACT_ITEMS,
    Z_95,
    Chance,
    Tails,
    clopper_pearson,
    poisson_binomial_normal_tails,
    poisson_binomial_tails,
)
from tracker.core.tallies import Answer, FloatArray, IntArray, Pattern, answers_in_pattern
from tracker.core.tally_columns import TallyColumns


@dataclass(frozen=True)
class Usage:
    """One annotator's use of one category; T of an item's n annotators gave the category.

    Attributes:
        n: the annotator's answers to items that others answered too.
        own: how many of these answers hold the category.
        certain: how many of the items have T = n.
        informative: how many of the items have 0 < T < n; only these can tell.
        expected: sum over the items of T / n, in answers.
        peers: sum over the items of (T - own) / (n - 1), in answers.
        variance: sum over the items of T (n - T) / n^2, in answers squared.
        odds_more: sum over the items where own = 1 of (n - T) / n.
        odds_less: sum over the items where own = 0 of T / n.
        spread: the three sums of Robins, Breslow and Greenland's variance: PR, PS + QR, QS.
        chances: the informative items by (T, n) in lowest terms; empty above ``EXACT_ITEMS``.
    """

    annotator: int
    category: int
    n: int
    own: int
    certain: int
    informative: int
    expected: float
    peers: float
    variance: float
    odds_more: float
    odds_less: float
    spread: tuple[float, float, float]
    chances: tuple[Chance, ...]

    @property
    def observed_share(self) -> float:
        """Share of the annotator's shared answers that hold the category."""
        return self.own / self.n

    @property
    def expected_share(self) -> float:
        """Mean over the items of T / n, the annotator's own answer included."""
        return self.expected / self.n

    @property
    def peer_share(self) -> float:
        """Mean over the items of the share of co-annotators who gave the category."""
        return self.peers / self.n

    @property
    def odds_ratio(self) -> float | None:
        """Common odds ratio over the items (Mantel and Haenszel 1959), annotator to peers.

        With the 2 by 2 table of an item [[a, b], [c, d]], the annotator's answer in its first row
        and the co-annotators' in its second: sum(a d / n) / sum(b c / n). ``inf`` where only the
        divisor is 0, None if both are.
        """
        if self.odds_less > 0:
            return self.odds_more / self.odds_less
        return math.inf if self.odds_more > 0 else None

    @property
    def odds_interval(self) -> tuple[float, float] | None:
        """A 95% interval of the common odds ratio; None if the ratio is undefined.

        Robins, Breslow and Greenland 1986, equation 6, which holds for many small tables. Where
        the ratio is 0 or ``inf``, the bound at which so lopsided a count of the informative items,
        each taken to have their mean chance, has a probability of 0.025.
        """
        more, less = self.odds_more, self.odds_less
        if more > 0 and less > 0:
            pr, mixed, qs = self.spread
            variance = pr / (2 * more**2) + mixed / (2 * more * less) + qs / (2 * less**2)
            reach = math.exp(Z_95 * math.sqrt(variance))
            return more / less / reach, more / less * reach
        if more <= 0 and less <= 0:
            return None
        chance = (self.expected - self.certain) / self.informative
        extreme = math.pow(0.025, 1.0 / self.informative)  # the chance of each that gives 0.025
        if more > 0:
            return extreme / (1 - extreme) * (1 - chance) / chance, math.inf
        return 0.0, (1 - extreme) / extreme * (1 - chance) / chance

    @cached_property
    def tails(self) -> Tails:
        """Probability of as few and of as many own answers, if answered as the peers did."""
        if not self.informative:
            return Tails(1.0, 1.0)
        if self.informative <= EXACT_ITEMS:
            return poisson_binomial_tails(self.own - self.certain, self.chances)
        return poisson_binomial_normal_tails(self.own, self.expected, self.variance)


def mantel_haenszel_usages(shared: TallyColumns) -> list[Usage]:
    """Every annotator's use of every category that occurs on their shared items.

    A category that no annotator of an annotator's shared items gave has no entry. Ordered by
    annotator as in ``shared``, then by category.
    """
    rows = _rows_of(shared)
    return _summed(rows) if rows.group.size else []


def mantel_haenszel_of_chances(
    annotator: int, counts: Iterable[tuple[int, int, int, int]]
) -> Usage | None:
    """One annotator's usage from ``(own, T, n, items)`` of items with n > 1; None without any.

    What is counted of them is no category, whose number is 0 here.
    """
    table = np.array([row for row in counts if row[2] > 1], dtype=np.int64).reshape(-1, 4)
    if not len(table):
        return None
    own, held, size, items = table.T
    here = np.zeros(len(table), dtype=np.int64)
    cell = np.array([annotator]), np.array([0]), np.array([items.sum()])
    return _summed(_Rows(*cell, here, own, held, size, items))[0]


def _summed(rows: _Rows) -> list[Usage]:
    def total(values: NDArray[Any]) -> FloatArray:
        weights = (rows.items * values).astype(np.float64)
        return np.bincount(rows.group, weights, len(rows.annotators)).astype(np.float64)

    chance = rows.held / rows.size
    informative = total((rows.held > 0) & (rows.held < rows.size)).astype(np.int64)
    # Of an item's 2 by 2 table: R = a d / n, S = b c / n, P = (a + d) / n, Q = (b + c) / n.
    r, s = rows.own * (1.0 - chance), (1 - rows.own) * chance
    p = (rows.own + rows.size - 1 - rows.held + rows.own) / rows.size
    columns = (
        rows.annotators,
        rows.categories,
        rows.answers,
        total(rows.own).astype(np.int64),
        total(rows.held == rows.size).astype(np.int64),
        informative,
        total(chance),
        total((rows.held - rows.own) / (rows.size - 1)),
        total(chance * (1.0 - chance)),
        total(r),
        total(s),
    )
    sums = np.stack([total(p * r), total(p * s + (1 - p) * r), total((1 - p) * s)], axis=1)
    spread = map(tuple, sums.tolist())
    chances = _chances(rows, informative)
    few = (chances.get(group, ()) for group in range(len(rows.annotators)))
    values: list[Iterable[Any]] = [*(column.tolist() for column in columns), spread, few]
    return [Usage(*row) for row in zip(*values, strict=True)]


def _chances(rows: _Rows, informative: IntArray) -> dict[int, tuple[Chance, ...]]:
    """The informative items of each group by (T, n), for the groups small enough."""
    few = (rows.held > 0) & (rows.held < rows.size) & (informative[rows.group] <= EXACT_ITEMS)
    held, size, group = rows.held[few], rows.size[few], rows.group[few]
    if not group.size:
        return {}
    divisor = np.gcd(held, size)
    radix = int(size.max()) + 1
    code = (group * radix + size // divisor) * radix + held // divisor
    distinct, inverse = np.unique(code, return_inverse=True)
    items = np.bincount(inverse, rows.items[few]).astype(np.int64)
    chances: dict[int, list[Chance]] = {}
    for key, count in zip(distinct.tolist(), items.tolist(), strict=True):
        rest, numerator = divmod(key, radix)
        owner, denominator = divmod(rest, radix)
        chances.setdefault(owner, []).append((numerator, denominator, count))
    return {owner: tuple(of_owner) for owner, of_owner in chances.items()}


@dataclass(frozen=True)
class _Rows:
    """One row per annotator, own answer, pattern and category in the pattern; two answers or more.

    ``group`` is the row's annotator and category as an index into ``annotators`` and
    ``categories``; ``items`` how many items the row stands for; ``own`` 0 or 1.
    """

    annotators: IntArray
    categories: IntArray
    answers: IntArray
    group: IntArray
    own: IntArray
    held: IntArray
    size: IntArray
    items: IntArray


def _rows_of(shared: TallyColumns) -> _Rows:
    """Return every category of every row's pattern."""
    answers = shared.total(1.0).astype(np.int64)
    size = np.array([answers_in_pattern(pattern) for pattern in shared.patterns], dtype=np.int64)
    entry, place, flat = _spread(shared.patterns, shared.pattern)
    category_ids, category = np.unique(flat[:, 0], return_inverse=True)
    width = max(len(category_ids), 1)
    column = category[place]
    number = {category: index for index, category in enumerate(category_ids.tolist())}
    own_keys = [
        code * width + number[category]
        for code, answer in enumerate(shared.answers)
        for category in answer
        if category in number
    ]
    own = np.isin(shared.own[entry] * width + column, own_keys).astype(np.int64)
    distinct, group = np.unique(shared.owner[entry] * width + column, return_inverse=True)
    return _Rows(
        annotators=shared.annotators[distinct // width],
        categories=category_ids[distinct % width],
        answers=answers[distinct // width],
        group=group,
        own=own,
        held=flat[place, 1],
        size=size[shared.pattern][entry],
        items=shared.number[entry],
    )


def _spread(patterns: Sequence[Pattern], code: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """One row per entry and category of its pattern.

    Returns the row's entry, its place in the third array, and that array: one row per pattern and
    category, with the category and how many annotators gave it; shape (rows, 2).
    """
    held: list[Counter[int]] = []
    for pattern in patterns:
        held.append(Counter())
        for answer, count in pattern:
            for category in answer:
                held[-1][category] += count
    pairs = [pair for counts in held for pair in counts.items()]
    flat = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    length = np.array([len(counts) for counts in held], dtype=np.int64)
    start = np.cumsum(length) - length
    repeats = length[code]
    entry = np.repeat(np.arange(len(code)), repeats)
    first = np.cumsum(repeats) - repeats
    place = np.arange(len(entry)) - first[entry] + start[code][entry]
    return entry, place, flat


# -- One annotator's categories against the truth's, on the same items ----------------------------


@dataclass(frozen=True)
class Margins:
    """How often one category was given, and how often it is true.

    Attributes:
        items: items with a truth that the annotator answered.
        overall_p_value: that all the categories together are given as often as they are true
            (Stuart and Maxwell); None if an answer may hold several or it is undefined.
    """

    items: int
    given: int
    true: int
    over: int
    under: int
    overall_p_value: float | None

    @property
    def p_value(self) -> float:
        """McNemar's test (1947), exact: the binomial distribution of ``over`` at one half."""
        return poisson_binomial_tails(self.over, [(1, 2, self.over + self.under)]).two_sided

    @property
    def odds_ratio(self) -> float | None:
        """``over`` / ``under``, the matched pairs' odds ratio; ``inf`` or None without any."""
        if self.under:
            return self.over / self.under
        return math.inf if self.over else None

    @property
    def odds_interval(self) -> tuple[float, float]:
        """Its exact 95% interval, from that of the share of ``over``."""
        low, high = clopper_pearson(self.over, self.over + self.under)
        return low / (1 - low), math.inf if high >= 1 else high / (1 - high)


def marginal_homogeneity_margins(
    counts: Mapping[tuple[Answer, Answer, Pattern], int],
) -> dict[int, Margins]:
    """Every category of the answers and truths of one annotator's items, by id, ascending."""
    tables: Counter[tuple[Answer, Answer]] = Counter()
    for (truth, own, _), items in counts.items():
        tables[truth, own] += items
    n = tables.total()
    overall = stuart_maxwell(tables)
    margins = {}
    for category in sorted({c for cell in tables for answer in cell for c in answer}):
        both = over = under = 0
        for (truth, own), items in tables.items():
            held, true = category in own, category in truth
            both += items * (held and true)
            over += items * (held and not true)
            under += items * (true and not held)
        margins[category] = Margins(n, both + over, both + under, over, under, overall)
    return margins


def stuart_maxwell(table: Mapping[tuple[Answer, Answer], int]) -> float | None:
    """P-value that rows and columns have the same distribution (Stuart 1955; Maxwell 1970).

    The statistic d' S^-1 d, with d the differences of the margins and S their covariance under
    the null hypothesis, has a chi-square distribution with as many degrees of freedom as S has
    ranks. None if answers are not single or all margins are alike.
    """
    from scipy.special import chdtrc

    answers = sorted({answer for cell in table for answer in cell})
    if any(len(answer) != 1 for answer in answers):
        return None
    place = {answer: index for index, answer in enumerate(answers)}
    counts = np.zeros((len(answers), len(answers)))
    for (truth, own), items in table.items():
        counts[place[truth], place[own]] += items
    both = counts + counts.T
    covariance = np.diag(both.sum(axis=1)) - both
    difference = counts.sum(axis=1) - counts.sum(axis=0)
    rank = int(np.linalg.matrix_rank(covariance))
    if not rank:
        return None
    statistic = float(difference @ np.linalg.pinv(covariance) @ difference)
    return float(chdtrc(rank, statistic))
