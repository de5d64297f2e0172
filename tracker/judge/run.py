"""Models judged: what is counted once for all of them, and what follows of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection

from tracker.agreement.counts_sql import (
    any_confidence,
    confidences_against_gold,
    confidences_against_majority,
)
from tracker.agreement.readiness import thresholds_of
from tracker.core.beside_columns import BesideColumns
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, FloatArray
from tracker.counts.annotator_patterns import count_gold_confusions
from tracker.counts.beside_people import (
    Labelled,
    count_beside_people,
    count_labelled_answers,
    of_models,
)
from tracker.judge.bench import Bench, JudgeQuery, judge_bench
from tracker.judge.biases import Reading, family_of, judge_biases
from tracker.judge.compare import compare_models, count_two_models
from tracker.judge.copied import people_who_copy
from tracker.judge.examples import Examples, Kind, confused_examples, with_examples
from tracker.judge.labels import (
    Labels,
    confused_labels,
    label_rates,
    labels_of,
    truth_words,
    worst_kinds,
)
from tracker.judge.people import against_truths, people_beside, without_each
from tracker.judge.result import BesideMajority, Judge, JudgeBias, JudgeMeasure, ModelsCompared
from tracker.judge.slices_sql import BySlice, count_beside_people_by_slice
from tracker.judge.soft_labels import (
    Sides,
    SoftLabelDistances,
    Sure,
    count_sides,
    count_sure_answers,
    sides_with,
    soft_label_distances,
)
from tracker.judge.spans import SPAN_MEASURE, count_span_judges
from tracker.judge.verdict import judge_measure
from tracker.measures.accuracy import Calibration
from tracker.measures.accuracy import calibration as make_calibration
from tracker.measures.alternative_test import Alike, alternative_test, count_advantages
from tracker.measures.estimate import informative_items_of
from tracker.measures.isolated_rater import (
    ALPHA,
    RATER_MEASURES,
    Beside,
    Given,
    agreement_with_majority,
    constant_rater,
    group_coefficient,
    random_coefficient,
    rater_and_group,
    rater_beside_group,
    rater_coefficient,
)
from tracker.measures.registry import MEASURES
from tracker.measures.weights import krippendorff_distances
from tracker.projects.annotators import (
    AnnotatorInfo,
    annotators_by_attribute,
    find_flagged_annotators,
    list_annotators,
)
from tracker.projects.kept import stored_with_answers
from tracker.projects.questions import QuestionInfo
from tracker.render.cells import figure_cell


def judge_question(
    connection: Connection, question: QuestionInfo, query: JudgeQuery
) -> tuple[list[Judge], list[ModelsCompared]]:
    """Return each model that answered a question as a judge of it, by name, and every two of them.

    The number of statements depends neither on the models nor on the labels.
    """
    judges, compared = _judged(connection, question, query)
    flagged = find_flagged_annotators(connection, question)
    names = {row.name for row in list_annotators(connection, question.project) if row.id in flagged}
    return [_with_flagged(judge, names) for judge in judges], compared


def _with_flagged(judge: Judge, flagged: set[str]) -> Judge:
    """Return a judge with the reservation that people beside it have open findings."""
    people = sorted(flagged.intersection(person.annotator for person in judge.people))
    if not people:
        return judge
    said = f"of {', '.join(people)} findings are open; without them: --exclude-flagged"
    return replace(judge, reservations=[*judge.reservations, said])


@stored_with_answers
def _judged(
    connection: Connection, question: QuestionInfo, query: JudgeQuery
) -> tuple[list[Judge], list[ModelsCompared]]:
    bench = judge_bench(connection, question, query)
    if question.answers == "spans":
        return _judges_of_spans(connection, bench), []
    measures = [
        name for name in RATER_MEASURES
        if question.answers in MEASURES[name].answers
        and name != ("gwet_ac1" if query.metric.weighted else "gwet_ac2")
        and (name == ALPHA or query.metric.weighted or not bench.has_many_numbers)
    ]  # fmt: skip
    if query.measure not in measures:
        raise InvalidOption(
            f"the verdict cannot rest on {query.measure}", f"one of: {', '.join(measures)}"
        )
    ids = frozenset(bench.models)
    beside = dict(count_beside_people(connection, bench.people, ids).of_models())
    labelled: dict[int, Labelled] = {
        model: {(given, None, met): n for (given, met), n in rows.given_to_patterns.items()}
        for model, rows in beside.items()
    }
    if bench.people.references:
        labelled |= count_labelled_answers(connection, bench.people, ids)
    golds, _ = count_gold_confusions(connection, bench.people.with_models(ids))
    answers = sum(int(rows.items.sum()) for rows in beside.values())
    slices = count_beside_people_by_slice(connection, bench.people, ids, answers)
    calibrations = _calibrations(connection, bench)
    sides: dict[int, dict[str, dict[Sides, int]]] = {}
    if query.group is not None:
        groups = annotators_by_attribute(connection, question.project, query.group)
        sides = count_sides(connection, bench.people, ids, groups)
    sure = {}
    if any_confidence(connection, bench.people):
        sure = count_sure_answers(connection, bench.people, ids)
    tables = {model: labels_of(rows) for model, rows in labelled.items()}
    kinds = {model: worst_kinds(bench, model, table) for model, table in tables.items()}
    every = [kind for of_model in kinds.values() for kind in of_model]
    examples = confused_examples(connection, bench.people, every, bench.names, answers)
    judges = {
        number: _judge(bench, measures, model, _Counted(
            beside.get(number) or _NOBODY, labelled[number], tables[number], kinds[number],
            examples, slices.get(number, {}), golds, sides.get(number, {}), sure.get(number),
            calibrations.get(number),
        ))
        for number, model in sorted(bench.models.items(), key=lambda row: row[1].name)
        if number in labelled
    }  # fmt: skip
    if len(judges) < 2:
        return [*judges.values()], []
    pairs = count_two_models(connection, bench.people, frozenset(judges))
    compared = compare_models(judges, pairs, bench.read(2), query.measure, query.confidence)
    return [*judges.values()], compared


def _judges_of_spans(connection: Connection, bench: Bench) -> list[Judge]:
    query = bench.query
    if query.measure not in {ALPHA, SPAN_MEASURE}:  # the first one is the default of all questions
        raise InvalidOption(
            f"the verdict cannot rest on {query.measure}", f"of spans: {SPAN_MEASURE}"
        )
    counted = count_span_judges(connection, bench.people, frozenset(bench.models))
    names = {number: annotator.name for number, annotator in bench.known.items()}
    judges = []
    for number, model in sorted(bench.models.items(), key=lambda row: row[1].name):
        spans = counted.get(number)
        if spans is None:
            continue
        row = spans.measure(query.confidence)
        judges.append(
            bench.judge(
                model,
                [row],
                SPAN_MEASURE,
                humans=len(spans.persons),
                items=row.model_with_humans.items,
                alternative_test=alternative_test(
                    spans.advantages, bench.epsilons(spans.persons), names
                ),
                truth="each person's spans",
                rates=spans.rates(bench.names),
                people=spans.beside(names, query.confidence),
            )
        )
    return judges


_NOBODY = BesideColumns((), (), *np.zeros((6, 0), dtype=np.int64))


def _distances(
    bench: Bench, met: Given, sure: Sure | None, *, among: bool = False
) -> SoftLabelDistances:
    scale = bench.query.metric.scale_of(bench.question)
    in_order = bench.question.answers == "one" and scale != "nominal"
    return soft_label_distances(
        met,
        places=numbers_of_categories(bench.names) if in_order else None,
        sure=sure,
        categories=len(bench.names),
        confidence=bench.query.confidence,
        among=among,
    )


class _Counted(NamedTuple):
    """What was counted of one model; of all models the examples, and of everybody the golds."""

    rows: BesideColumns
    labelled: Labelled
    labels: Labels
    kinds: Sequence[Kind]
    examples: Examples
    slices: BySlice
    golds: Mapping[int, Mapping[tuple[Answer, Answer], int]]
    sides: Mapping[str, Mapping[Sides, int]]
    sure: Sure | None
    calibration: Calibration | None


def _judge(bench: Bench, measures: Sequence[str], model: AnnotatorInfo, of: _Counted) -> Judge:
    query, rows = bench.query, of.rows
    people = np.unique(rows.person).tolist()
    given = rows.given_to_patterns
    read = bench.read(len(people) + 1)
    tables = rater_and_group([*given.items()], rows.answers)
    beside = rater_beside_group(*tables, read, len(people))
    constant = constant_rater(beside, read) if given else beside
    without = [
        rater_beside_group(*left, read, len(people) - 1) for left in without_each(rows, *tables)
    ]
    figures = [
        measure_beside(name, beside, constant, query.confidence, without) for name in measures
    ]
    rater, member = agreement_with_majority(beside)
    copying = people_who_copy(rows, several=bench.question.answers == "several")
    copied_by = [bench.known[person].name for person in copying]
    return bench.judge(
        model,
        figures,
        query.measure,
        humans=len(people),
        items=beside.group.items,
        majority=None
        if bench.has_many_numbers
        else BesideMajority(
            rater.coefficient(query.confidence), member.coefficient(query.confidence)
        ),
        gold=against_truths(model.id, of.golds, query.confidence),
        alternative_test=alternative_test(
            count_advantages(rows, answers_alike(bench, rows.answers)),
            bench.epsilons(people),
            {number: annotator.name for number, annotator in bench.known.items()},
        ),
        truth=truth_words(of.labelled),
        rates=label_rates(bench, of.labels),
        confusion=with_examples(confused_labels(bench, of.labels), of.kinds, of.examples),
        people=people_beside(bench, rows),
        biases=_biases(bench, model, given, of.slices),
        copied_by=copied_by,
        reservations=_reservations(bench, model, copied_by, figures),
        distances=_distances(bench, given, of.sure),
        distances_of_people=_distances(bench, given, None, among=True),
        sides=sides_with(of.sides, confidence=query.confidence),
        calibration=of.calibration,
    )


def _biases(bench: Bench, model: AnnotatorInfo, given: Given, slices: BySlice) -> list[JudgeBias]:
    scale = bench.query.metric.scale_of(bench.question)
    many = bench.question.answers == "one" and scale != "nominal"
    points = numbers_of_categories(bench.names) if many else {}
    family = bench.attributes.get(model.id, {}).get("family") or family_of(model.name)
    return judge_biases(model, family, given, slices, Reading(bench.names, points))


def _reservations(
    bench: Bench, model: AnnotatorInfo, copied_by: Sequence[str], figures: Sequence[JudgeMeasure]
) -> list[str]:
    """Return what to bear in mind of people: no opinion of their own, or no standard."""
    reservations = []
    if copied_by:
        out = " ".join(f"--exclude-annotator {quote(name)}" for name in copied_by)
        reservations.append(
            f"{', '.join(copied_by)} gave {model.name}'s answers where others did not, and so say "
            f"nothing of it; without them: {out}"
        )
    (alpha,) = (row.humans_with_humans for row in figures if row.measure == ALPHA)
    least, _ = thresholds_of(bench.question.project)
    if alpha.ci_high is not None and alpha.ci_high < least:
        reservations.append(
            f"people agree too little with each other to be a standard (alpha "
            f"{figure_cell(alpha.value)}, tentative from {least:g}); to be as good is not enough"
        )
    return reservations


def measure_beside(
    name: str, beside: Beside, constant: Beside, confidence: float, without: Sequence[Beside]
) -> JudgeMeasure:
    """Return one measure of a judge beside people, and of a constant one.

    ``without`` are the judge and the others, without each of the people or each of some.
    """
    pairs = [(rater_coefficient(name, each), group_coefficient(name, each)) for each in without]
    return judge_measure(
        rater_coefficient(name, beside),
        group_coefficient(name, beside),
        rater_coefficient(name, constant),
        at_random=random_coefficient(name, beside),
        informative=informative_items_of(beside.pooled.table),
        confidence=confidence,
        without=[
            None if rater.value is None or group.value is None else rater.value - group.value
            for rater, group in pairs
        ],
        people=beside.group.annotators,
    )


def answers_alike(bench: Bench, answers: Sequence[Answer]) -> Alike:
    """Return how answers are compared by the alternative test: by the question's scale.

    Categories are the same or not; numbers and ranks are as near as their squared difference is
    small; sets are so alike as their distance is short.
    """
    question, metric = bench.question, bench.query.metric
    scale = metric.scale_of(question)
    if question.answers == "several" and (metric.distance or "exact") != "exact":
        distances = krippendorff_distances(
            metric.distance or "", answers, {}, np.ones(len(answers))
        )
        return lambda first, second: -distances.between(first, second)
    if question.answers == "several" or scale == "nominal":
        return lambda first, second: (first == second).astype(np.float64)
    numbers = numbers_of_categories(bench.names)
    points: FloatArray = np.array([numbers[category] for (category,) in answers])
    return lambda first, second: np.asarray(-((points[first] - points[second]) ** 2))


def numbers_of_categories(names: Mapping[int, str]) -> dict[int, float]:
    """Return the number of each category: its name's, if all are numbers, else its rank."""
    try:
        return {category: float(name) for category, name in names.items()}
    except ValueError:
        return {category: float(rank) for rank, category in enumerate(names)}


def _calibrations(connection: Connection, bench: Bench) -> dict[int, Calibration]:
    """Return the calibration of each model with confidences, against truths or the majority."""
    if not any_confidence(connection, bench.people):
        return {}
    models = of_models(bench.people, frozenset(bench.models))
    if bench.people.references:
        tallies = confidences_against_gold(connection, models)
    else:
        tallies = confidences_against_majority(connection, models, bench.people)
    return {model: make_calibration(tally) for model, tally in tallies.items()}
