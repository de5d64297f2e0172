"""A project assessed: tallies counted, measures and rates computed, named and put in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from tracker import queries
from tracker.agreement.assessment import Assessment, Counts
from tracker.agreement.changes import level_changes
from tracker.agreement.coefficients import (
    check_agreement_measures,
    coefficients,
    finish_coefficients,
)
from tracker.agreement.levels import periods_of_items
from tracker.agreement.metric import check_metric, sample_under_metric
from tracker.agreement.query import OF_ITEMS, Query
from tracker.agreement.recent import recent_level
from tracker.agreement.spans import SpanFigures, SpanPair, assess_spans
from tracker.agreement.study import Study, study
from tracker.agreement.uncertainty import study_with_uncertainty
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, ItemPatterns
from tracker.measures import MEASURES
from tracker.measures.accuracy import GoldAgreement, accuracy_from_confusion
from tracker.measures.category_rates import CategoryRate, category_rates
from tracker.measures.coefficient import Coefficient
from tracker.measures.numeric.icc import IntraclassCorrelation, intraclass_correlations
from tracker.measures.one_vs_rest import one_vs_rest_coefficients
from tracker.measures.sample import Sample
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.projects.question import QuestionInfo
from tracker.queries import Selection


def assess(
    connection: Connection,
    question: QuestionInfo,
    query: Query | None = None,
    *,
    selection: Selection | None = None,
    recent: bool = False,
) -> Assessment:
    """The project's figures now, or those that are asked for, with their errors.

    ``selection`` is what the question's choice comes to, where that is known; with ``recent`` the
    last change of their level is looked for, and those of categories, annotators and shares.

    Raises InvalidOption for a measure, a reading, a choice or a way to an error that does not
    fit the project.
    """
    asked = query or Query()
    if question.answers == "spans":
        return _assess_spans(connection, question, asked, selection)
    counted = study(connection, question, asked)
    figures, rates = study_with_uncertainty(counted)
    found = assessment_of(
        question, counted.sample, counted.patterns, counted.names, figures, asked, rates
    )
    periods = periods_of_items(counted) if recent else []
    level = recent_level(counted, periods)
    return replace(
        found,
        gold=_pooled_gold(connection, counted.selection),
        selection=counted.selection.told,
        intraclass=_intraclass(counted),
        answers_of_models=_answers_of_models(connection, counted.selection, found),
        errors=asked.uncertainty.method,
        recent=level,
        changes=level_changes(counted, periods, level),
    )


def _answers_of_models(connection: Connection, selection: Selection, found: Assessment) -> int:
    """The answers of models where there are no others, so that a reader is told of them."""
    if found.counts.answers:
        return 0
    return sum(one.answers for one in queries.count_model_answers(connection, selection))


def _intraclass(counted: Study) -> tuple[IntraclassCorrelation, ...]:
    """The forms of the intraclass correlation, on scales that have them."""
    if counted.query.metric.scale_of(counted.question) not in {"interval", "ratio"}:
        return ()
    confidence = counted.query.confidence
    values = counted.sample.values
    return tuple(intraclass_correlations(counted.patterns, values, counted.marginals, confidence))


def assessment_of(
    question: QuestionInfo,
    of: Sample,
    patterns: ItemPatterns,
    names: Mapping[int, str],
    figures: Sequence[Coefficient],
    query: Query,
    rates: Sequence[CategoryRate] | None = None,
    *,
    binary: bool = True,
) -> Assessment:
    """The figures that follow from item patterns, of a project or of a part of it.

    ``rates`` are those of the categories with other errors than the usual; ``binary`` says
    whether each category's own coefficients are wanted.
    """
    if rates is None:
        rates = category_rates(patterns, list(names), query.confidence, query.interval)
    return Assessment(
        project=question.project.name,
        scale=query.metric.scale_of(question),
        counts=Counts(
            items=patterns.items,
            items_compared=patterns.items_compared,
            annotators=of.annotators,
            answers=patterns.answers,
            labels=patterns.labels,
        ),
        measures=tuple(figures),
        rates=tuple(rates),
        categories=names,
        gold=None,
        patterns=patterns,
        binary=one_vs_rest_coefficients(of, list(names), query.confidence, query.interval)
        if binary
        else {},
    )


def assess_project_spans(
    connection: Connection,
    question: QuestionInfo,
    asked: Query,
    selection: Selection | None = None,
) -> tuple[SpanFigures, Selection]:
    """Every figure on a project's spans, and whose they are."""
    if selection is None:
        selection = queries.select_answers(connection, question, asked.filter)
    found = assess_spans(
        connection,
        selection,
        annotators=annotator_names(connection, question.project),
        categories=category_names(connection, question),
        confidence=asked.confidence,
    )
    return found, selection


def span_pair_agreement(
    connection: Connection, question: QuestionInfo, asked: Query
) -> tuple[SpanPair, ...]:
    """Each pair of annotators of a project of spans, by name; the first is the reference."""
    return assess_project_spans(connection, question, asked)[0].pairs


def _assess_spans(
    connection: Connection,
    question: QuestionInfo,
    asked: Query,
    selection: Selection | None,
) -> Assessment:
    names = category_names(connection, question)
    check_metric(question, names, asked.metric)
    wanted = check_agreement_measures(question, asked.measures, asked.metric, few=True)
    asked.uncertainty.check()
    if asked.uncertainty != OF_ITEMS:
        raise InvalidOption(
            f"{question.project.name!r} is a project of spans, "
            "whose errors are those over documents"
        )
    found, selection = assess_project_spans(connection, question, asked, selection)
    made = Assessment(
        project=question.project.name,
        scale=question.scale,
        counts=found.counts,
        measures=tuple(one for one in found.coefficients() if one.measure in wanted),
        rates=found.rates,
        categories=names,
        gold=None,
        patterns=ItemPatterns(),
        selection=selection.told,
    )
    return replace(made, answers_of_models=_answers_of_models(connection, selection, made))


def _pooled_gold(connection: Connection, selection: Selection) -> GoldAgreement | None:
    tables, items = queries.count_gold_confusions(connection, selection)
    if not tables:
        return None
    pooled: Counter[tuple[Answer, Answer]] = Counter()
    for table in tables.values():
        pooled.update(table)
    return accuracy_from_confusion(pooled, items)


def measures_of_patterns(
    question: QuestionInfo, names: Mapping[int, str], query: Query
) -> list[str]:
    """The measures asked for; for none, all that need to know nothing but item patterns.

    Raises InvalidOption for one that needs more, or does not fit the project.
    """
    check_metric(question, names, query.metric)
    wanted = check_agreement_measures(question, query.measures, query.metric, few=True)
    known = [name for name in wanted if MEASURES[name].needs == "patterns"]
    more = [name for name in wanted if name not in known]
    if query.measures and more:
        raise InvalidOption(
            f"{more[0]} needs to know who answered what, which a rebuilt curve does not",
            f"these do not: {', '.join(n for n, m in MEASURES.items() if m.needs == 'patterns')}",
        )
    return known


def assess_patterns(
    question: QuestionInfo,
    names: Mapping[int, str],
    patterns: ItemPatterns,
    annotators: int,
    measures: Sequence[str],
    query: Query,
    *,
    rated: bool = True,
) -> Assessment:
    """The figures of item patterns of so many annotators; ``names`` are the categories by id.

    ``rated`` says whether the rates of the categories are wanted.
    """
    of = sample_under_metric(question, names, patterns, annotators, query.metric)
    found = coefficients(measures, of, None, query.confidence)
    return Assessment(
        project=question.project.name,
        scale=query.metric.scale_of(question),
        counts=Counts(
            items=patterns.items,
            items_compared=patterns.items_compared,
            annotators=annotators,
            answers=patterns.answers,
            labels=patterns.labels,
        ),
        measures=tuple(finish_coefficients(found, query.confidence, query.interval)),
        rates=tuple(
            category_rates(patterns, list(names) if rated else [], query.confidence, query.interval)
        ),
        categories=names,
        gold=None,
        patterns=patterns,
    )
