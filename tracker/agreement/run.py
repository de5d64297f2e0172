"""Errors other than those of independent items: resampled, by annotator, by cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from sqlalchemy import Connection

from tracker.agreement.changes import level_changes
from tracker.agreement.coefficients import (
    Study,
    check_agreement_measures,
    coefficients,
    finish_coefficients,
    study,
)
from tracker.agreement.groups_sql import count_patterns_by_cluster
from tracker.agreement.levels import Course, course_of_items
from tracker.agreement.query import (
    OF_ITEMS,
    Query,
    check_metric,
    sample_under_metric,
)
from tracker.agreement.readiness import thresholds_of
from tracker.agreement.recent import recent_level
from tracker.agreement.result import Assessment, Counts
from tracker.agreement.spans import SpanFigures, SpanPair, assess_spans
from tracker.core.errors import InvalidOption
from tracker.core.tallies import AnnotatorTallies, ItemPatterns
from tracker.counts.annotator_patterns import count_gold_confusions
from tracker.counts.filter import select_answers
from tracker.counts.items import count_model_answers
from tracker.counts.selection import Selection
from tracker.counts.tallies import count_annotator_tallies
from tracker.lake.connection import manifest_of
from tracker.measures.accuracy import GoldAgreement, accuracy_from_confusion
from tracker.measures.category_rates import (
    CategoryRate,
    bootstrapped_rates,
    category_rate_influences,
    category_rates,
    clustered_category_rate,
    one_vs_rest_coefficients,
)
from tracker.measures.estimate import Estimate
from tracker.measures.intervals import Coefficient
from tracker.measures.numeric import IntraclassCorrelation, intraclass_correlations
from tracker.measures.registry import MEASURES
from tracker.measures.resampling import (
    bootstrap,
    coefficient_over_clusters,
    jackknife_item_patterns,
    jackknife_over_annotators,
)
from tracker.measures.sample import Floats, Sample
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.projects.items import check_item_attribute
from tracker.projects.kept import stored_with_answers
from tracker.projects.questions import QuestionInfo


def study_with_uncertainty(counted: Study) -> tuple[list[Coefficient], list[CategoryRate]]:
    """The study's figures and category rates with the errors asked for.

    Those that cannot have them keep their own: pairs' kappas and, over annotators, rates.

    Raises InvalidOption for what does not go together, or an unknown attribute.
    """
    asked = counted.query
    how = asked.uncertainty
    how.check()
    overall = counted.figures()
    rates = category_rates(counted.patterns, list(counted.names), asked.confidence, asked.interval)
    if how.replicates is not None and counted.sample.items:
        of, times, seed = counted.sample, how.replicates, how.seed
        return (
            bootstrap(of, overall, replicates=times, seed=seed),
            bootstrapped_rates(of, rates, replicates=times, seed=seed),
        )
    if how.resample == "annotators":
        without = [figures for _, figures in coefficients_without_annotators(counted)]
        resampled = [
            jackknife_over_annotators(figure, [figures[figure.measure] for figures in without])
            if without and figure.measure in without[0]
            else figure
            for figure in overall
        ]
        return resampled, rates
    if how.cluster is not None:
        return uncertainty_by_cluster(counted, how.cluster, overall, rates)
    return overall, rates


def coefficients_without_annotators(
    counted: Study, tallies: AnnotatorTallies | None = None
) -> Iterator[tuple[int, dict[str, float | None]]]:
    """Each annotator's id, and the values of the measures without the annotator's answers.

    From what the answers met; nothing is counted again. Figures of pairs are not among them.
    """
    if tallies is None:
        tallies = count_annotator_tallies(counted.connection, counted.selection)
    wanted = [n for n in counted.wanted if MEASURES[n].needs in {"patterns", "marginals"}]
    marginals = counted.full_sample.marginals
    for annotator, patterns in jackknife_item_patterns(counted.patterns, tallies):
        others = counted.read(patterns, len(counted.annotators) - 1)
        if marginals is not None:
            kept = {who: own for who, own in marginals.items() if who != annotator}
            others = replace(others, marginals=kept)
        figures = coefficients(wanted, others, None, counted.query.confidence)
        # Scott's pi of three annotators has a value for each two of them, and none of its own.
        yield annotator, {name: figure.value for name, figure in figures.items()}


_AT_A_TIME = 100_000

Row = tuple[str | int, int, int]  # cluster, the place of a pattern, items


def uncertainty_by_cluster(
    counted: Study,
    attribute: str,
    figures: Sequence[Coefficient],
    rates: Sequence[CategoryRate],
) -> tuple[list[Coefficient], list[CategoryRate]]:
    """Figures and rates with the errors of clusters; those without influences keep their own.

    Each figure's clusters are those with an item that enters it.

    Raises InvalidOption for an attribute that no item has.
    """
    check_item_attribute(counted.connection, counted.question.project, attribute)
    wanted = {
        name: _entering(counted, estimate)
        for name, estimate in counted.estimates.items()
        if isinstance(estimate, Estimate) and estimate.influence is not None
    }
    of_rates, could_agree = category_rate_influences(
        counted.sample, [rate.category for rate in rates]
    )
    influences = np.vstack([*wanted.values(), of_rates, could_agree])
    patterns = [pattern for pattern, items in counted.patterns if items]
    place = {pattern: n for n, pattern in enumerate(patterns)}
    rows = count_patterns_by_cluster(counted.connection, counted.selection, attribute)
    squares, fourths = np.zeros(len(influences)), np.zeros(len(influences))
    clusters = np.zeros(len(influences), dtype=np.int64)
    numbered = ((cluster, place[pattern], items) for cluster, pattern, items in rows)
    for part, number in _parts(numbered):
        sums, entered = _summed(part, number, influences)
        squares += (sums**2).sum(axis=1)
        fourths += (sums**4).sum(axis=1)
        clusters += entered
    powers = zip(squares.tolist(), fourths.tolist(), strict=True)
    cluster_sums = list(zip(powers, clusters.tolist(), strict=True))
    of = dict(zip(wanted, cluster_sums, strict=False))
    of_pairs = {n: isinstance(e, Estimate) and e.of_pairs for n, e in counted.estimates.items()}
    how = counted.query.interval
    agreeable = clusters[len(wanted) + len(rates) :].tolist()
    return [
        coefficient_over_clusters(
            figure, *of[figure.measure], attribute, how, of_pairs=of_pairs[figure.measure]
        )
        if figure.measure in of
        else figure
        for figure in figures
    ], [
        clustered_category_rate(rate, moments[0], number, could)
        for rate, (moments, number), could in zip(
            rates, cluster_sums[len(wanted) :], agreeable, strict=False
        )
    ]


def _entering(counted: Study, estimate: Estimate) -> Floats:
    """The influence of one item of each pattern; NaN where its items do not enter the figure."""
    influence = np.zeros(0) if estimate.influence is None else estimate.influence
    alone = counted.sample.table.sizes < 2
    return np.where(alone & (estimate.items == estimate.compared), np.nan, influence)


def _parts(rows: Iterable[Row]) -> Iterator[tuple[list[tuple[int, int, int]], int]]:
    """Whole clusters, numbered from 0, some at a time, and how many there are."""
    held: list[tuple[int, int, int]] = []
    last: str | int | None = None
    number = -1
    for cluster, pattern, items in rows:
        # An item without the attribute is its own cluster, named by its number.
        if cluster != last or type(cluster) is not type(last):
            if len(held) >= _AT_A_TIME:
                yield held, number + 1
                held, number = [], -1
            last, number = cluster, number + 1
        held.append((number, pattern, items))
    if held:
        yield held, number + 1


def _summed(
    rows: Sequence[tuple[int, int, int]], clusters: int, influences: Floats
) -> tuple[Floats, np.ndarray]:
    """Per figure each cluster's sum of influences, (M, C), and how many clusters enter, (M,)."""
    cluster, pattern, items = np.array(rows, dtype=np.int64).T
    enters = ~np.isnan(influences)
    filled = np.where(enters, influences, 0.0)
    sums = np.array(
        [np.bincount(cluster, influence[pattern] * items, clusters) for influence in filled]
    )
    met = np.array(
        [np.bincount(cluster[enter[pattern]], minlength=clusters) > 0 for enter in enters]
    )
    return sums, met.sum(axis=1)


# -- A project assessed: tallies counted, measures and rates computed, named and put in order -----


@stored_with_answers
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
    assessment = assessment_of(
        question, counted.sample, counted.patterns, counted.names, figures, asked, rates
    )
    course = course_of_items(counted) if recent else Course()
    level = recent_level(counted, course)
    return replace(
        assessment,
        gold=_pooled_gold(connection, counted.selection),
        selection=counted.selection.told,
        intraclass=_intraclass(counted),
        answers_of_models=_answers_of_models(connection, counted.selection, assessment),
        errors=asked.uncertainty.method,
        recent=level,
        changes=level_changes(counted, course, level),
        manifest=manifest_of(connection),
    )


def _answers_of_models(connection: Connection, selection: Selection, assessment: Assessment) -> int:
    """The answers of models where there are no others, so that a reader is told of them."""
    if assessment.counts.answers:
        return 0
    return sum(answer.answers for answer in count_model_answers(connection, selection))


def _intraclass(counted: Study) -> tuple[IntraclassCorrelation, ...]:
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
        thresholds=thresholds_of(question.project),
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
        selection = select_answers(connection, question, asked.filter)
    figures = assess_spans(
        connection,
        selection,
        annotators=annotator_names(connection, question.project),
        categories=category_names(connection, question),
        confidence=asked.confidence,
    )
    return figures, selection


@stored_with_answers
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
    figures, selection = assess_project_spans(connection, question, asked, selection)
    assessment = Assessment(
        project=question.project.name,
        scale=question.scale,
        counts=figures.counts,
        measures=tuple(
            coefficient for coefficient in figures.coefficients() if coefficient.measure in wanted
        ),
        rates=figures.rates,
        categories=names,
        gold=None,
        patterns=ItemPatterns(),
        thresholds=thresholds_of(question.project),
        selection=selection.told,
    )
    return replace(
        assessment, answers_of_models=_answers_of_models(connection, selection, assessment)
    )


def _pooled_gold(connection: Connection, selection: Selection) -> GoldAgreement | None:
    tables, items = count_gold_confusions(connection, selection)
    if not tables:
        return None
    return accuracy_from_confusion(sum(map(Counter, tables.values()), Counter()), items)


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
    estimates = coefficients(measures, of, None, query.confidence)
    figures = finish_coefficients(estimates, query.confidence, query.interval)
    rates = None if rated else ()
    return assessment_of(question, of, patterns, names, figures, query, rates, binary=False)
