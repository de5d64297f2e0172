"""A figure as a mean over those who answered, or over the answers given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from tracker.compare.kitagawa import Group
from tracker.core.tallies import AnnotatorTallies, Answer, Pattern, answers_in
from tracker.measures.krippendorff import disagreement
from tracker.measures.sample import Sample

DIVISIBLE = ("krippendorff_alpha", "percent_agreement")
"""The measures that are a mean over answers, in the order in which one is chosen."""


def groups_of(
    measure: str,
    of: Sample,
    tallies: AnnotatorTallies,
    name: Callable[[int, Answer], str],
) -> dict[str, Group]:
    """The parts of a figure, by what ``name`` calls an annotator's answer.

    The value of a group is the measure with the group's answers in the place of all: alpha with
    their mean distance from the other answers of their items, agreement with their mean
    agreement. Weighted by their share of the answers these add up to the figure.

    Args:
        measure: one of `DIVISIBLE`.
        of: the item patterns, for which the measure is defined.
        tallies: the same answers, by annotator.
        name: of the group of an annotator's id and own answer.
    """
    scored = _distance_from_others(of) if measure == DIVISIBLE[0] else _agreement_with_others(of)
    chance = disagreement(of).expected if measure == DIVISIBLE[0] else None
    weights: dict[str, float] = defaultdict(float)
    sums: dict[str, float] = defaultdict(float)
    answers: dict[str, int] = defaultdict(int)
    for annotator, met in tallies.counts.items():
        for (own, pattern), items in met.items():
            size = answers_in(pattern)
            if size < 2:
                continue
            # Alpha counts every answer alike, agreement every item.
            weight = items if chance is not None else items / size
            group = name(annotator, own)
            weights[group] += weight
            sums[group] += weight * scored(own, pattern)
            answers[group] += items
    total = sum(weights.values())

    def value(mean: float) -> float:
        return mean if chance is None else 1 - mean / chance

    return {
        group: Group(weight / total, value(sums[group] / weight), answers[group])
        for group, weight in sorted(weights.items())
    }


_Scored = Callable[[Answer, Pattern], float]


def _distance_from_others(of: Sample) -> _Scored:
    between = disagreement(of).between
    return _mean_with_others(of, lambda one, other: float(between.between(one, other)), 0.0)


def _agreement_with_others(of: Sample) -> _Scored:
    weighting = of.weighting
    return _mean_with_others(of, lambda one, other: float(weighting.between(one, other)), 1.0)


def _mean_with_others(of: Sample, between: Callable[..., float], with_itself: float) -> _Scored:
    """The mean over the other answers of an item of what two answers are to each other."""
    codes: Mapping[Answer, int] = {answer: code for code, answer in enumerate(of.table.answers)}

    @cache
    def of_two(one: Answer, other: Answer) -> float:
        if one == other:
            return with_itself
        return between(np.array(codes[one]), np.array(codes[other]))

    @cache
    def mean(own: Answer, pattern: Pattern) -> float:
        total = sum(count * of_two(own, answer) for answer, count in pattern) - of_two(own, own)
        return total / (answers_in(pattern) - 1)

    return mean
