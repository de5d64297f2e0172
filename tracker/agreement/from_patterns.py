"""The figures that follow from item patterns alone, at one point of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tracker.agreement.assessment import Assessment, Counts
from tracker.agreement.coefficients import check_measures, coefficients, finish
from tracker.agreement.metric import check_reading, sample
from tracker.agreement.study import Question
from tracker.core.errors import InvalidOption
from tracker.core.tallies import ItemPatterns
from tracker.measures import MEASURES
from tracker.measures.category_rates import category_rates
from tracker.projects.project import ProjectInfo

__all__ = ["assess_patterns", "measures_of_patterns"]


def measures_of_patterns(
    project: ProjectInfo, names: Mapping[int, str], question: Question
) -> list[str]:
    """The measures asked for; for none, all that need to know nothing but item patterns.

    Raises InvalidOption for one that needs more, or does not fit the project.
    """
    check_reading(project, names, question.reading)
    wanted = check_measures(project, question.measures, question.reading, few=True)
    known = [name for name in wanted if MEASURES[name].needs == "patterns"]
    more = [name for name in wanted if name not in known]
    if question.measures and more:
        raise InvalidOption(
            f"{more[0]} needs to know who answered what, which a rebuilt curve does not",
            f"these do not: {', '.join(n for n, m in MEASURES.items() if m.needs == 'patterns')}",
        )
    return known


def assess_patterns(
    project: ProjectInfo,
    names: Mapping[int, str],
    patterns: ItemPatterns,
    annotators: int,
    measures: Sequence[str],
    question: Question,
) -> Assessment:
    """The figures of item patterns of so many annotators; ``names`` are the categories by id."""
    of = sample(project, names, patterns, annotators, question.reading)
    found = coefficients(measures, of, None, question.confidence)
    return Assessment(
        project=project.name,
        scale=question.reading.scale_of(project),
        counts=Counts(
            items=patterns.items,
            items_compared=patterns.items_compared,
            annotators=annotators,
            answers=patterns.answers,
            labels=patterns.labels,
        ),
        measures=tuple(finish(found, question.confidence, question.interval)),
        rates=tuple(category_rates(patterns, list(names), question.confidence, question.interval)),
        categories=names,
        gold=None,
        patterns=patterns,
    )
