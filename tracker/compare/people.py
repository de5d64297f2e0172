"""Whether other people would have made a difference, too: the jackknife over annotators.

A test over items says whether these annotators would differ on other items. Two teams drawn from
the same people differ as well, and always: then the annotators are a sample, too, and the error is
at least that of leaving each of them out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from tracker.agreement.coefficients import Study
from tracker.agreement.run import coefficients_without_annotators
from tracker.core.tallies import AnnotatorTallies
from tracker.measures.category_rates import category_rates
from tracker.measures.difference_tests import NO_DIFFERENCE, Comparison
from tracker.measures.intervals import NOT_APPLICABLE, TOO_FEW_ANNOTATORS, WITHOUT_SPREAD
from tracker.measures.resampling import jackknife_item_patterns, jackknife_pulls

MOST: Final = 200
"""Annotators of a side, each of whom is left out in turn; of more the items' error says enough."""

Without: TypeAlias = Mapping[tuple[str, str], Mapping[str, float | None]]
"""By kind (measure or category), name and annotator: the figure without the annotator's answers."""


def figures_without_people(
    study: Study, tallies: AnnotatorTallies | None, people: Mapping[int, str]
) -> Without:
    """Return each measure, and each category's rate by its name, without each annotator."""
    if tallies is None or len(tallies.counts) > MOST:
        return {}
    figures: dict[tuple[str, str], dict[str, float | None]] = {}
    for annotator, values in coefficients_without_annotators(study, tallies):
        for name, value in values.items():
            figures.setdefault(("measure", name), {})[people[annotator]] = value
    for annotator, patterns in jackknife_item_patterns(study.patterns, tallies):
        for rate in category_rates(patterns, list(study.names), interval="t"):
            figures.setdefault(("category", study.names[rate.category]), {})[people[annotator]] = (
                rate.rate
            )
    return figures


def compared_with_other_people(
    comparison: Comparison, first: Mapping[str, float | None], second: Mapping[str, float | None]
) -> Comparison:
    """Return a tested difference with the p-value of other annotators.

    The variance is the larger of the items' and the jackknife's over the annotators, who are
    compared with themselves if they answered on both sides; t has one degree of freedom less than
    there are annotators, of two different teams two less.

    Args:
        comparison: the difference, second less first, tested over items.
        first: the first figure without each annotator, by name.
        second: likewise of the second.
    """
    if comparison.difference is None or comparison.standard_error is None:
        return replace(comparison, undefined_annotators=comparison.undefined or NOT_APPLICABLE)
    if not first or not second:
        return comparison  # not counted
    pulls, others = jackknife_pulls([*first.values()]), jackknife_pulls([*second.values()])
    if pulls is None or others is None:
        return replace(comparison, undefined_annotators=TOO_FEW_ANNOTATORS)
    before, after = dict(zip(first, pulls, strict=True)), dict(zip(second, others, strict=True))
    people = before.keys() | after.keys()
    moves = (after.get(who, 0.0) - before.get(who, 0.0) for who in people)
    error = max(comparison.standard_error, math.sqrt(math.fsum(move**2 for move in moves)))
    if error <= NO_DIFFERENCE:
        alike = abs(comparison.difference) <= NO_DIFFERENCE
        reason = None if alike else WITHOUT_SPREAD
        return replace(
            comparison, p_value_annotators=1.0 if alike else None, undefined_annotators=reason
        )
    freedom = len(people) - (1 if before.keys() == after.keys() else 2)
    tested = comparison.by_t(comparison.difference, error, freedom)
    return replace(comparison, p_value_annotators=tested.p_value, undefined_annotators=None)
