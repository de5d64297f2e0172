"""A project assessed: tallies counted, measures and rates computed, named and put in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Connection

from tracker import counting
from tracker.assess.assessment import Assessment, Counts
from tracker.catalogue.categories import category_names
from tracker.catalogue.names import near
from tracker.catalogue.projects import ProjectInfo
from tracker.counting import Selection
from tracker.errors import InvalidOption
from tracker.measures import MEASURES
from tracker.measures.coefficient import NOT_APPLICABLE, Coefficient
from tracker.measures.gold import GoldAgreement, against_gold
from tracker.measures.pairs import cohen_kappa
from tracker.measures.rates import category_rates
from tracker.tally import Answer, ItemPatterns

__all__ = ["assess"]


def assess(
    connection: Connection,
    project: ProjectInfo,
    *,
    measures: Sequence[str] = (),
    confidence: float = 0.95,
) -> Assessment:
    """The project's figures now; all measures, or those named.

    Raises InvalidOption for a measure that does not exist.
    """
    wanted = _check_measures(measures)
    selection = counting.select_answers(connection, project)
    annotators = counting.annotators_with_answers(connection, selection)
    names = category_names(connection, project)
    if project.answers == "spans":
        return _assess_spans(connection, selection, annotators, wanted, confidence)
    patterns = counting.item_patterns(connection, selection)
    coefficients = [
        MEASURES[name].function(patterns, annotators=len(annotators), confidence=confidence)
        if MEASURES[name].needs == "patterns"
        else _of_the_pair(connection, selection, annotators, confidence)
        for name in wanted
    ]
    return Assessment(
        project=project.name,
        scale=project.scale,
        counts=Counts(
            items=patterns.items,
            items_compared=patterns.items_compared,
            annotators=len(annotators),
            answers=patterns.answers,
            labels=patterns.labels,
        ),
        measures=tuple(coefficients),
        rates=tuple(category_rates(patterns, list(names), confidence)),
        categories=names,
        gold=_pooled_gold(connection, selection),
        patterns=patterns,
    )


def _check_measures(names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in MEASURES:
            raise InvalidOption(
                f"there is no measure {name!r}",
                near(name, MEASURES) or f"one of: {', '.join(MEASURES)}",
            )
    return list(dict.fromkeys(names)) or list(MEASURES)


def _of_the_pair(
    connection: Connection, selection: Selection, annotators: Sequence[int], confidence: float
) -> Coefficient:
    """Cohen's kappa of a project of exactly two annotators."""
    if len(annotators) != 2:
        return Coefficient("cohen_kappa", None, NOT_APPLICABLE, confidence=confidence)
    tallies = counting.pair_tallies(connection, selection)
    first, second = annotators
    return cohen_kappa(tallies.counts.get((first, second), {}), confidence)


def _assess_spans(
    connection: Connection,
    selection: Selection,
    annotators: Sequence[int],
    wanted: Sequence[str],
    confidence: float,
) -> Assessment:
    """Spans have no chance-corrected agreement on whole items: their counts only."""
    counts = counting.span_counts(connection, selection)
    return Assessment(
        project=selection.project.name,
        scale=selection.project.scale,
        counts=Counts(**counts, annotators=len(annotators)),
        measures=tuple(
            Coefficient(name, None, NOT_APPLICABLE, confidence=confidence) for name in wanted
        ),
        rates=(),
        categories=category_names(connection, selection.project),
        gold=None,
        patterns=ItemPatterns(),
    )


def _pooled_gold(connection: Connection, selection: Selection) -> GoldAgreement | None:
    tables, items = counting.confusions(connection, selection)
    if not tables:
        return None
    pooled: Counter[tuple[Answer, Answer]] = Counter()
    for table in tables.values():
        pooled.update(table)
    return against_gold(pooled, items)
