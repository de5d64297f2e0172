"""How an annotator's answers differ from those of the co-annotators, and resemble a model's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracker.audit.evidence import Evidence
from tracker.audit.statistics.exact_tests import (
    binomial,
    clamped_tail_probability,
    upper_tail_bounds,
)
from tracker.audit.statistics.peer_agreement import majority_of_others
from tracker.core.audit_tallies import BesideModels, SharedItems
from tracker.core.tallies import Answer, FloatArray, Pattern, answers_in_pattern

_FEWEST = 0.5  # added to either side of an odds ratio: it stays finite, and near 1 of few items


@dataclass(frozen=True)
class Habits:
    """One annotator's odds relative to the co-annotators of the same items."""

    leaning: Mapping[int, float]
    right: float

    def weight(self, answer: Answer, truth: Answer) -> float:
        """Odds of an answer against another annotator's, where ``truth`` is right."""
        product = self.right if answer == truth else 1.0
        for category in answer:
            product *= self.leaning.get(category, 1.0)
        return product


def copying_habits(evidence: Evidence) -> dict[int, Habits]:
    """The habits of every annotator in the tallies."""
    leanings: dict[int, dict[int, float]] = {}
    for usage in evidence.usages:
        ratio = (usage.odds_more + _FEWEST) / (usage.odds_less + _FEWEST)
        leanings.setdefault(usage.annotator, {})[usage.category] = ratio
    shared = evidence.shared_columns
    met, place = shared.met
    more, less = np.zeros(len(met)), np.zeros(len(met))
    for row, (own, pattern) in enumerate(met):
        size = answers_in_pattern(pattern)
        for truth, share in majority_of_others(own, pattern).items():
            held = dict(pattern)[truth]
            if own == truth:
                more[row] += share * (size - held) / size
            else:
                less[row] += share * held / size
    right = (shared.total(more[place]) + _FEWEST) / (shared.total(less[place]) + _FEWEST)
    return {
        annotator: Habits(leanings.get(annotator, {}), odds)
        for annotator, odds in zip(shared.annotators.tolist(), right.tolist(), strict=True)
    }


def joint_copying_chance(
    first: Habits, second: Habits, pattern: Pattern, answers: Collection[Answer]
) -> float:
    """Probability that these two, among an item's annotators, share one of some answers.

    Given the item's answers, who gave which is weighted by both annotators' odds, the others'
    being 1. Which answer is right is not known: each is taken to be with a probability that
    grows with the number who gave it, threefold for each.
    """
    if not answers:
        return 0.0
    most = max(count for _, count in pattern)
    chance = weight = 0.0
    for truth, number in pattern:
        likely = 3.0 ** (number - most)
        together = every = 0.0
        for answer, count in pattern:
            odds = first.weight(answer, truth)
            for other, times in pattern:
                ways = count * (times - (answer == other))
                term = odds * second.weight(other, truth) * ways
                every += term
                together += term if answer == other and answer in answers else 0.0
        chance += likely * together / every
        weight += likely
    return chance / weight


def chance_of_model_answer(own: Habits, pattern: Pattern, given: Answer) -> float:
    """Probability that this one, among the people who answered an item, gave a model's answer.

    As `joint_copying_chance`; the model counts as one more who gave its answer.
    """
    chance = weight = 0.0
    most = max(count for _, count in pattern)
    for truth, number in pattern:
        likely = 3.0 ** (number + (truth == given) - most)
        ways = {answer: count * own.weight(answer, truth) for answer, count in pattern}
        chance += likely * ways.get(given, 0.0) / sum(ways.values())
        weight += likely
    return chance / weight


# -- People beside a model: how often each gives its answer where most of the others do not -------


class SharedAnswers:
    """Of each pair: the items that could tell, how many of them they share, and the expected.

    ``chance``, ``telling`` and ``hits`` are by row: how likely both share an answer to such an
    item, whether it could tell, and whether they do.
    """

    def __init__(
        self, rows: SharedItems | BesideModels, chance: FloatArray, telling: Any, hits: Any
    ) -> None:
        def total(values: Any) -> FloatArray:
            sums = np.bincount(rows.pair, rows.items * values, len(rows.pairs))
            return sums.astype(np.float64)

        self.items, self.telling = total(1.0), total(telling)
        self.seen, self.expected = total(telling & hits), total(telling * chance)

    def bounds(self) -> FloatArray:
        """Return an upper bound of each pair's upper tail."""
        return upper_tail_bounds(self.telling, self.seen, self.expected)

    def tail(self, place: int, chances: Iterable[tuple[int, float]]) -> tuple[float, float]:
        """Return the expected number and the exact tail, from so many items of each chance."""
        total, expected = np.ones(1), 0.0
        for items, chance in chances:
            expected += items * chance
            total = np.convolve(total, binomial(items, chance))
        return expected, clamped_tail_probability(float(total[int(self.seen[place]) :].sum()))


class GivenBesideModels(SharedAnswers):
    """Of each person and model: the items that could tell, how often both agree, the expected.

    A good model and good people agree much, so only those answers of a model count that fewer than
    half of an item's other people gave (``minority``), or all. Given the people's answers, any of
    the n of them is as likely as any other to be among the k who gave the model's: k / n. So
    neither a hard item nor an error that many make tells against anybody. Who is right more often
    than the others, or leans to the same category, is tested again with the own habits.
    """

    def __init__(self, beside: BesideModels, *, minority: bool) -> None:
        self.minority = minority
        telling = self._telling(beside.given, beside.answers)
        super().__init__(beside, beside.given / beside.answers, telling, beside.same > 0)

    def again(
        self, place: int, met: Mapping[tuple[Pattern, Answer, bool], int], own: Habits
    ) -> tuple[float, float]:
        """Return the expected number and the exact tail, from the person's own habits."""
        chances = (
            (items, chance_of_model_answer(own, pattern, given))
            for (pattern, given, _), items in sorted(met.items())
            if self._telling(dict(pattern).get(given, 0), answers_in_pattern(pattern))
        )
        return self.tail(place, chances)

    def _telling(self, given: Any, answers: Any) -> Any:
        """Return whether so many of so many people leave open who of them gave an answer."""
        payload = (given > 0) & (given < answers)
        return payload & (2 * (given - 1) < answers - 1) if self.minority else payload
