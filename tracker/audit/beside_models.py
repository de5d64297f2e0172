"""People's answers beside a model's: how often each gives it where most of the others do not.

A good model and good people agree much, so only those answers of a model count that fewer than
half of an item's other people gave. Given the people's answers, any of the n of them is as likely
as any other to be among the k who gave the model's: k / n. So neither a hard item nor an error
that many make tells against anybody. Who is right more often than the others, or leans to the
same category, is tested again with the own habits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.audit.habits import Habits, chance_of_model_answer
from tracker.audit.statistics.exact_tests import (
    binomial,
    clamped_tail_probability,
    upper_tail_bounds,
)
from tracker.core.audit_tallies import BesideModels
from tracker.core.tallies import Answer, FloatArray, Pattern, answers_in_pattern


class GivenBesideModels:
    """Of each person and model: the items that could tell, how often both agree, the expected.

    Counted are the model's answers that fewer than half of the item's other people gave, or all.
    """

    def __init__(self, beside: BesideModels, *, minority: bool) -> None:
        self.beside, self.minority = beside, minority
        telling = self._telling(beside.given, beside.answers)
        self.items = self._total(np.ones(len(telling)))
        self.telling = self._total(telling)
        self.seen = self._total(telling & (beside.same > 0))
        self.expected = self._total(telling * beside.given / beside.answers)

    def bounds(self) -> FloatArray:
        """Return an upper bound of each pair's upper tail."""
        return upper_tail_bounds(self.telling, self.seen, self.expected)

    def again(
        self, place: int, met: Mapping[tuple[Pattern, Answer, bool], int], own: Habits
    ) -> tuple[float, float]:
        """Return the expected number and the exact tail, from the person's own habits."""
        total, expected = np.ones(1), 0.0
        for (pattern, given, _), items in sorted(met.items()):
            if self._telling(dict(pattern).get(given, 0), answers_in_pattern(pattern)):
                chance = chance_of_model_answer(own, pattern, given)
                expected += items * chance
                total = np.convolve(total, binomial(items, chance))
        tail = float(total[int(self.seen[place]) :].sum())
        return expected, clamped_tail_probability(tail)

    def _total(self, values: NDArray[Any]) -> FloatArray:
        weights = self.beside.items * values
        return np.bincount(self.beside.pair, weights, len(self.beside.pairs)).astype(np.float64)

    def _telling(self, given: Any, answers: Any) -> Any:
        """Return whether so many of so many people leave open who of them gave an answer."""
        payload = (given > 0) & (given < answers)
        return payload & (2 * (given - 1) < answers - 1) if self.minority else payload
