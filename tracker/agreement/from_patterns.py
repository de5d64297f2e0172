"""The figures that follow from item patterns alone, at one point of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tracker.agreement.assessment import Assessment, Counts
from tracker.agreement.coefficients import check_measures, coefficients, finish
from tracker.agreement.metric import check_metric, sample
from tracker.agreement.query import Query
from tracker.core.errors import InvalidOption
from tracker.core.tallies import ItemPatterns
from tracker.measures import MEASURES
from tracker.measures.category_rates import category_rates
from tracker.projects.project import ProjectInfo


def measures_of_patterns(project: ProjectInfo, names: Mapping[int, str], query: Query) -> list[str]:
    """The measures asked for; for none, all that need to know nothing but item patterns.

    Raises InvalidOption for one that needs more, or does not fit the project.
    """
    check_metric(project, names, query.metric)
    wanted = check_measures(project, query.measures, query.metric, few=True)
    known = [name for name in wanted if MEASURES[name].needs == "patterns"]
    more = [name for name in wanted if name not in known]
    if query.measures and more:
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
    query: Query,
) -> Assessment:
    """The figures of item patterns of so many annotators; ``names`` are the categories by id."""
    of = sample(project, names, patterns, annotators, query.metric)
    found = coefficients(measures, of, None, query.confidence)
    return Assessment(
        project=project.name,
        scale=query.metric.scale_of(project),
        counts=Counts(
            items=patterns.items,
            items_compared=patterns.items_compared,
            annotators=annotators,
            answers=patterns.answers,
            labels=patterns.labels,
        ),
        measures=tuple(finish(found, query.confidence, query.interval)),
        rates=tuple(category_rates(patterns, list(names), query.confidence, query.interval)),
        categories=names,
        gold=None,
        patterns=patterns,
    )
