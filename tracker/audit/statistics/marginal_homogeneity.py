"""One annotator's categories against the truth's, on the same items."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracker.audit.statistics.poisson_binomial import poisson_binomial_tails
from tracker.audit.statistics.stratified import clopper_pearson
from tracker.core.tallies import Answer, Pattern


@dataclass(frozen=True)
class Margins:
    """How often one category was given, and how often it is true.

    Attributes:
        items: items with a truth that the annotator answered.
        given: answers that hold the category.
        true: truths that hold it.
        over: given where it is not true.
        under: not given where it is true.
        overall_p_value: that all the categories together are given as often as they are true
            (Stuart and Maxwell); None where an answer may hold several or it is undefined.
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
    found = {}
    for category in sorted({c for cell in tables for answer in cell for c in answer}):
        both = over = under = 0
        for (truth, own), items in tables.items():
            held, true = category in own, category in truth
            both += items * (held and true)
            over += items * (held and not true)
            under += items * (true and not held)
        found[category] = Margins(n, both + over, both + under, over, under, overall)
    return found


def stuart_maxwell(table: Mapping[tuple[Answer, Answer], int]) -> float | None:
    """P-value that rows and columns have the same distribution (Stuart 1955; Maxwell 1970).

    The statistic d' S^-1 d, with d the differences of the margins and S their covariance under
    the null hypothesis, has a chi-square distribution with as many degrees of freedom as S has
    ranks. None where answers are not single or all margins are alike.
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
