"""Models judged: what is counted once for all of them, and what follows of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from shlex import quote
from typing import Any, TypeAlias, Unpack

import numpy as np
from sqlalchemy import Connection

from tracker.agreement.counts_sql import (
    any_confidence,
    confidences_against_gold,
    confidences_against_majority,
)
from tracker.agreement.query import AS_DECLARED, Metric, check_metric, sample_under_metric
from tracker.agreement.readiness import thresholds_of
from tracker.core.beside_columns import BesideColumns
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, FloatArray, IntArray, Pattern
from tracker.counts.annotator_patterns import count_gold_confusions
from tracker.counts.beside_people import (
    Labelled,
    count_beside_people,
    count_labelled_answers,
    of_models,
)
from tracker.counts.choosing import Choosing
from tracker.counts.filter import EVERYTHING, AnswerFilter, make_answer_filter, select_answers
from tracker.counts.selection import Selection
from tracker.judge.asking import EPSILON, EPSILONS, EXPERTISE, MARGIN, TUNING, USED_FOR
from tracker.judge.biases import Reading, family_of, judge_biases
from tracker.judge.compare import compare_models, count_two_models
from tracker.judge.copied import people_who_copy
from tracker.judge.examples import MOST_KINDS, Kind, confused_examples, with_examples
from tracker.judge.result import (
    AgainstTruths,
    BesideMajority,
    Confused,
    Judge,
    JudgeBias,
    JudgeMeasure,
    JudgeRates,
    ModelsCompared,
    PersonBeside,
)
from tracker.judge.slices_sql import BySlice, count_beside_people_by_slice
from tracker.judge.spans import SPAN_MEASURE, count_span_judges
from tracker.judge.verdict import judge_verdict
from tracker.measures.accuracy import Calibration, accuracy_from_confusion
from tracker.measures.accuracy import calibration as make_calibration
from tracker.measures.alternative_test import Alike, alternative_test, count_advantages
from tracker.measures.cohen import Cells, cohen_kappas
from tracker.measures.intervals import NO_OVERLAP, Coefficient, check_confidence, wilson_interval
from tracker.measures.isolated_rater import (
    ALPHA,
    RATER_MEASURES,
    Beside,
    Given,
    Read,
    agreement_with_majority,
    constant_rater,
    gap_between,
    group_coefficient,
    random_coefficient,
    rater_beside_group,
    rater_coefficient,
)
from tracker.measures.registry import MEASURES
from tracker.measures.weights import krippendorff_distances
from tracker.projects.annotators import (
    AnnotatorInfo,
    annotator_attributes,
    find_flagged_annotators,
    list_annotators,
)
from tracker.projects.categories import category_names
from tracker.projects.items import count_items_with_attribute
from tracker.projects.names import near_names
from tracker.projects.questions import QuestionInfo, are_many_numbers
from tracker.render.cells import figure_cell

NONE = "(none)"
"""What an answer without a category is called."""
_MOST_CONFUSED = 20


@dataclass(frozen=True)
class JudgeQuery:
    """What is asked about models as judges; see `tracker.judge.asking.JudgeOptions`."""

    models: Sequence[str] = ()
    measure: str = ALPHA
    margin: float = MARGIN
    epsilon: float | None = None
    confidence: float = 0.95
    metric: Metric = AS_DECLARED
    filter: AnswerFilter = EVERYTHING


def judge_query(
    *,
    models: Sequence[str] = (),
    measure: str = ALPHA,
    margin: float = MARGIN,
    epsilon: float | None = None,
    confidence: float = 0.95,
    weights: str | None = None,
    scale: str | None = None,
    distance: str | None = None,
    questions: Sequence[str] = (),
    **choosing: Unpack[Choosing],
) -> JudgeQuery:
    """Return the query that the arguments of `JudgeAsked` make; raises InvalidOption."""
    check_confidence(confidence)
    metric = Metric(weights, scale, distance)
    choice = make_answer_filter(**choosing)
    return JudgeQuery(models, measure, margin, epsilon, confidence, metric, choice)


@dataclass(frozen=True)
class Bench:
    """What is counted of a question once for all its judges.

    Attributes:
        question: which.
        query: what is asked.
        people: the selection of people's answers.
        models: the judges, by id.
        known: every annotator, by id.
        attributes: of annotators, likewise.
        names: the categories by id, in order.
        tuning_items: items left out because prompts were tuned on them.
        flagged: people with open findings.
    """

    question: QuestionInfo
    query: JudgeQuery
    people: Selection
    models: Mapping[int, AnnotatorInfo]
    known: Mapping[int, AnnotatorInfo]
    attributes: Mapping[int, Mapping[str, str]]
    names: Mapping[int, str]
    tuning_items: int
    flagged: Set[int]

    def epsilons(self, people: Iterable[int]) -> dict[int, float]:
        """Return epsilon of each person: the one asked for, or by what is known of them."""
        given = self.query.epsilon
        return {
            person: EPSILONS.get(self.attributes.get(person, {}).get(EXPERTISE, ""), EPSILON)
            if given is None
            else given
            for person in people
        }

    def read(self, annotators: int) -> Read:
        """Return the reading of so many annotators' answers."""
        return partial(
            sample_under_metric, self.question, self.names, annotators=annotators,
            metric=self.query.metric,
        )  # fmt: skip

    def judge(
        self, model: AnnotatorInfo, rows: Sequence[JudgeMeasure], measure: str, **more: Any
    ) -> Judge:
        """Return a judge with the verdict on one of its measures."""
        main = next(row for row in rows if row.measure == measure)
        verdict = judge_verdict(main, self.query.margin, self.query.confidence)
        return Judge(
            question=self.question.name,
            model=model.name,
            attributes=self.attributes.get(model.id, {}),
            tuning_items=self.tuning_items,
            **verdict._asdict(),
            measure=measure,
            margin=self.query.margin,
            measures=rows,
            **more,
        )

    def word(self, answer: Answer) -> str:
        """Return an answer's categories by name."""
        return "|".join(self.names[category] for category in answer if category > 0) or NONE


def judge_bench(connection: Connection, question: QuestionInfo, query: JudgeQuery) -> Bench:
    """Return the judges of a question, and whom they are compared with.

    Raises InvalidOption for a model that is none, for a measure or a reading that does not fit,
    and NotFound for a name that nobody has.
    """
    known = list_annotators(connection, question.project)
    models = {annotator.id: annotator for annotator in known if annotator.kind == "model"}
    if query.models:
        models = {model.id: model for model in _named(query.models, known, question)}
    names = category_names(connection, question)
    check_metric(question, names, query.metric)
    people = select_answers(connection, question, query.filter)
    people = people.without(frozenset(a.id for a in known if a.kind == "model"))
    return Bench(
        question,
        query,
        replace(people, unless=((USED_FOR, (TUNING,)),)),
        models,
        {annotator.id: annotator for annotator in known},
        annotator_attributes(connection, question.project),
        names,
        count_items_with_attribute(connection, question.project, USED_FOR, TUNING),
        find_flagged_annotators(connection, question),
    )


def _named(
    names: Sequence[str], known: Sequence[AnnotatorInfo], question: QuestionInfo
) -> Iterable[AnnotatorInfo]:
    by_name = {name: annotator for annotator in known for name in annotator.names}
    models = [annotator.name for annotator in known if annotator.kind == "model"]
    for name in names:
        annotator = by_name.get(name)
        if annotator is None or annotator.kind != "model":
            what = "has no model" if annotator is None else f"has a {annotator.kind}, no model,"
            advice = near_names(name, models) or (
                f"its models: {', '.join(models)}"
                if models
                else f"tracker annotator kind NAME model -p {question.project.name}"
            )
            raise InvalidOption(f"{question.project.name!r} {what} {name!r}", advice)
        yield annotator


def judge_question(
    connection: Connection, question: QuestionInfo, query: JudgeQuery
) -> tuple[list[Judge], list[ModelsCompared]]:
    """Return each model that answered a question as a judge of it, by name, and every two of them.

    The number of statements depends neither on the models nor on the labels.
    """
    bench = judge_bench(connection, question, query)
    if question.answers == "spans":
        return _judges_of_spans(connection, bench), []
    measures = [
        name for name in RATER_MEASURES
        if question.answers in MEASURES[name].answers
        and name != ("gwet_ac1" if query.metric.weighted else "gwet_ac2")
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
    judges = {}
    tables = {model: _labels(rows) for model, rows in labelled.items()}
    kinds = {model: _worst_kinds(bench, model, table) for model, table in tables.items()}
    every = [kind for of_model in kinds.values() for kind in of_model]
    examples = confused_examples(connection, bench.people, every, bench.names, answers)
    for number, model in sorted(bench.models.items(), key=lambda row: row[1].name):
        if number not in labelled:
            continue
        rows = beside.get(number) or _NOBODY
        judges[number] = _judge(
            bench, measures, model, rows, labelled[number], golds,
            slices.get(number, {}), calibrations.get(number),
        )  # fmt: skip
        shown = with_examples(judges[number].confusion, kinds[number], examples)
        judges[number] = replace(judges[number], confusion=shown)
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


_EMPTY = np.zeros(0, dtype=np.int64)
_NOBODY = BesideColumns((), (), *(_EMPTY for _ in range(6)))


def _judge(
    bench: Bench,
    measures: Sequence[str],
    model: AnnotatorInfo,
    rows: BesideColumns,
    labelled: Labelled,
    golds: Mapping[int, Mapping[tuple[Answer, Answer], int]],
    slices: BySlice,
    calibration: Calibration | None,
) -> Judge:
    query = bench.query
    people = np.unique(rows.person).tolist()
    given = rows.given_to_patterns
    read = bench.read(len(people) + 1)
    beside = rater_beside_group([*given.items()], read, len(people))
    constant = constant_rater(beside, read) if given else beside
    figures = [measure_beside(name, beside, constant, query.confidence) for name in measures]
    rater, member = agreement_with_majority(beside)
    truths = _labels(labelled)
    copying = people_who_copy(rows, several=bench.question.answers == "several")
    copied_by = [bench.known[person].name for person in copying]
    return bench.judge(
        model,
        figures,
        query.measure,
        humans=len(people),
        items=beside.group.items,
        majority=BesideMajority(
            rater.coefficient(query.confidence), member.coefficient(query.confidence)
        ),
        gold=_gold(model.id, golds, query.confidence),
        alternative_test=alternative_test(
            count_advantages(rows, answers_alike(bench, rows.answers)),
            bench.epsilons(people),
            {number: annotator.name for number, annotator in bench.known.items()},
        ),
        truth=_truth_words(labelled),
        rates=_rates(bench, truths),
        confusion=_confusion(bench, truths),
        people=_people(bench, rows),
        biases=_biases(bench, model, given, slices),
        copied_by=copied_by,
        reservations=_reservations(bench, model, people, copied_by, figures),
        calibration=calibration,
    )


def _biases(bench: Bench, model: AnnotatorInfo, given: Given, slices: BySlice) -> list[JudgeBias]:
    scale = bench.query.metric.scale_of(bench.question)
    many = bench.question.answers == "one" and scale != "nominal"
    points = numbers_of_categories(bench.names) if many else {}
    family = bench.attributes.get(model.id, {}).get("family") or family_of(model.name)
    return judge_biases(model, family, given, slices, Reading(bench.names, points))


def _reservations(
    bench: Bench,
    model: AnnotatorInfo,
    people: Sequence[int],
    copied_by: Sequence[str],
    figures: Sequence[JudgeMeasure],
) -> list[str]:
    """Return what to bear in mind: people who are no standard, or no opinion of their own."""
    reservations = []
    if copied_by:
        out = " ".join(f"--exclude-annotator {quote(name)}" for name in copied_by)
        reservations.append(
            f"{', '.join(copied_by)} gave {model.name}'s answers where others did not, and so say "
            f"nothing of it; without them: {out}"
        )
    flagged = [bench.known[person].name for person in people if person in bench.flagged]
    if flagged:
        reservations.append(
            f"of {', '.join(flagged)} findings are open; without them: --exclude-flagged"
        )
    (alpha,) = (row.humans_with_humans for row in figures if row.measure == ALPHA)
    least, _ = thresholds_of(bench.question.project)
    if alpha.ci_high is not None and alpha.ci_high < least:
        reservations.append(
            f"people agree too little with each other to be a standard (alpha "
            f"{figure_cell(alpha.value)}, tentative from {least:g}); to be as good is not enough"
        )
    return reservations


def measure_beside(name: str, beside: Beside, constant: Beside, confidence: float) -> JudgeMeasure:
    """Return one measure of a judge beside people, and of a constant one."""
    rater, group = rater_coefficient(name, beside), group_coefficient(name, beside)
    gap = gap_between(rater, group, confidence)
    return JudgeMeasure(
        name,
        rater.coefficient(confidence),
        group.coefficient(confidence),
        rater_coefficient(name, constant).coefficient(confidence),
        random_coefficient(name, beside),
        None if gap is None else gap.value,
        None if gap is None else gap.low,
        None if gap is None else gap.high,
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
    return partial(_squared, points)


def numbers_of_categories(names: Mapping[int, str]) -> dict[int, float]:
    """Return the number of each category: its name's, if all are numbers, else its rank."""
    try:
        return {category: float(name) for category, name in names.items()}
    except ValueError:
        return {category: float(rank) for rank, category in enumerate(names)}


def _squared(points: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    apart: FloatArray = -((points[first] - points[second]) ** 2)
    return apart


# -- What the model makes of items whose label is known -------------------------------------------


def label_of(truth: Answer | None, pattern: Pattern) -> Answer | None:
    """Return an item's label: its truth or, without one, what most people gave; None if neither."""
    if truth is not None:
        return truth
    ranked = sorted(pattern, key=lambda entry: -entry[1])
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


Labels: TypeAlias = Mapping[tuple[Answer, Answer], int]
"""Items of a label by it and the model's answer: ``{(label, given): items}``."""


def _labels(labelled: Labelled) -> Labels:
    counts: Counter[tuple[Answer, Answer]] = Counter()
    for (given, truth, pattern), items in labelled.items():
        label = label_of(truth, pattern)
        if label is not None:
            counts[label, given] += items
    return counts


def _truth_words(labelled: Labelled) -> str:
    known = sum(items for (_, truth, _), items in labelled.items() if truth is not None)
    majority = sum(
        items
        for (_, truth, pattern), items in labelled.items()
        if truth is None and label_of(None, pattern) is not None
    )
    parts = [
        f"{items:,} {words}"
        for items, words in (
            (known, "by decision or reference"),
            (majority, "by people's majority"),
        )
        if items
    ]
    return "items with a label: " + (" and ".join(parts) or "none")


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _rates(bench: Bench, truths: Labels) -> dict[str, JudgeRates]:
    question = bench.question
    if are_many_numbers(question.answers, question.scale, len(bench.names)):
        return {}
    every = sum(truths.values())
    rates = {}
    for accuracy in accuracy_from_confusion(truths, every, list(bench.names)).categories:
        others = every - accuracy.true
        right = others - (accuracy.given - accuracy.right)
        rates[bench.names[accuracy.category]] = JudgeRates(
            accuracy.recall, _share(right, others), accuracy.precision, accuracy.true,
            accuracy.given,
        )  # fmt: skip
    return rates


def _apart(truths: Labels) -> list[tuple[tuple[Answer, Answer], int]]:
    """Return the labels and other answers of the model, the most frequent first."""
    apart = [row for row in truths.items() if row[0][0] != row[0][1]]
    return sorted(apart, key=lambda row: (-row[1], row[0]))


def _confusion(bench: Bench, truths: Labels) -> list[Confused]:
    return [
        Confused(bench.word(truth), bench.word(given), items)
        for (truth, given), items in _apart(truths)[:_MOST_CONFUSED]
    ]


def _worst_kinds(bench: Bench, model: int, truths: Labels) -> list[Kind]:
    """Return the confusions of which items are shown; none if answers are sets."""
    if bench.question.answers == "several":
        return []
    return [Kind(model, truth, given) for ((truth,), (given,)), _ in _apart(truths)[:MOST_KINDS]]


def _gold(
    model: int, golds: Mapping[int, Mapping[tuple[Answer, Answer], int]], confidence: float
) -> AgainstTruths | None:
    own = golds.get(model)
    if own is None:
        return None
    people: Counter[tuple[Answer, Answer]] = Counter()
    for annotator, table in golds.items():
        if annotator != model:
            people.update(table)
    accuracies = (
        _accuracy(
            sum(n for (truth, given), n in table.items() if truth == given),
            sum(table.values()),
            confidence,
        )
        for table in (own, people)
    )
    return AgainstTruths(sum(own.values()), *accuracies)


def _accuracy(right: int, answers: int, confidence: float) -> Coefficient:
    if not answers:
        return Coefficient("accuracy", None, NO_OVERLAP)
    share = right / answers
    low, high = wilson_interval(share, answers, confidence)
    return Coefficient(
        "accuracy", share, ci_low=low, ci_high=high, confidence=confidence, items=answers
    )


# -- The model and each person --------------------------------------------------------------------


def _people(bench: Bench, rows: BesideColumns) -> list[PersonBeside]:
    """Return the model beside each person, those it agrees with least first."""
    confidence = bench.query.confidence
    persons, person = np.unique(rows.person, return_inverse=True)
    # Every answer as an item of its own, so that each has its weights.
    every = [(((answer, 1),), 1) for answer in rows.answers]
    read = sample_under_metric(bench.question, bench.names, every, 2, bench.query.metric)
    code = {answer: place for place, answer in enumerate(read.table.answers)}
    place = np.array([code[answer] for answer in rows.answers], dtype=np.int64)
    shape = (len(persons), len(rows.answers), len(rows.answers))
    cell, of_cell = np.unique(
        np.ravel_multi_index((person, rows.given, rows.own), shape), return_inverse=True
    )
    pair, given, own = np.unravel_index(cell, shape)
    items = np.bincount(of_cell, rows.items, len(cell)).astype(np.int64)
    cells = Cells(read.table.answers, pair, place[given], place[own], items, len(persons))
    kappas = cohen_kappas(cells, confidence, read.weighting)
    answered = np.bincount(person, rows.items, len(persons))
    alike = np.bincount(person, rows.items * (rows.given == rows.own), len(persons))
    shared, others = _with_others(rows, person, len(persons))
    people = [
        PersonBeside(
            bench.known[number].name,
            int(answered[n]),
            _accuracy(int(alike[n]), int(answered[n]), confidence),
            kappa,
            float(others[n] / shared[n]) if shared[n] else None,
        )
        for n, (number, kappa) in enumerate(zip(persons.tolist(), kappas, strict=True))
    ]
    people.sort(key=lambda row: (row.agreement.ci_high or 0.0, row.annotator))
    return people


def _with_others(
    rows: BesideColumns, person: IntArray, people: int
) -> tuple[FloatArray, FloatArray]:
    """Return each person's items that others answered, and a sum over these items, (people,).

    It is that of the share of the others who gave the person's answer.
    """
    width = max(len(rows.answers), 1)
    keys, place = np.unique(rows.pattern * width + rows.own, return_inverse=True)
    same = np.array(
        [dict(rows.patterns[key // width])[rows.answers[key % width]] - 1 for key in keys.tolist()],
        dtype=np.float64,
    )
    others = rows.sizes[rows.pattern] - 1
    share = np.divide(same[place], others, out=np.zeros(len(place)), where=others > 0)
    return (
        np.bincount(person, rows.items * (others > 0), people).astype(np.float64),
        np.bincount(person, rows.items * share, people).astype(np.float64),
    )


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
