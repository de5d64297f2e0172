"""What checks look at: figures now, findings now, snapshots; each counted when one asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from shlex import quote
from typing import Any

from sqlalchemy import Connection

from tracker.agreement.changes import Changed
from tracker.agreement.coefficients import check_agreement_measures
from tracker.agreement.query import Query, check_metric
from tracker.agreement.recent import Recent
from tracker.agreement.result import Assessment
from tracker.agreement.run import assess, assess_patterns
from tracker.audit.flags import settled_audits
from tracker.audit.models import CONFIDENCE, ModelAgreement, ModelCategory, models_beside_people
from tracker.audit.query import AuditQuery
from tracker.audit.result import Audit
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.counts.filter import EVERYTHING, AnswerFilter, select_answers
from tracker.gate.config import (
    EVERY,
    AtLeast,
    Check,
    Figure,
    GateConfig,
    JudgeTrusted,
    MaxDrop,
    refused_toml_table,
)
from tracker.history.snapshot import SnapshotRecord, find_snapshot, last_snapshot_of_choice
from tracker.judge.bench import JudgeQuery
from tracker.judge.result import Judge
from tracker.judge.run import judge_question
from tracker.measures.category_rates import CategoryRate
from tracker.measures.intervals import Coefficient
from tracker.measures.registry import MEASURES
from tracker.projects.annotators import list_annotators
from tracker.projects.categories import category_names
from tracker.projects.names import near_names
from tracker.projects.questions import QuestionInfo


@dataclass(frozen=True)
class Standing:
    """One figure as it stands, or stood: a measure's, or the agreement on a category.

    ``read`` is how it was read, where that changes it: weights, scale, distance. Of a ``model``,
    ``people`` is the same of two people on its items: the human ceiling. ``since`` is the day on
    which the level of agreement began that it is of, if it is not of all answers.
    """

    measure: str | None
    category: str | None
    value: float | None
    low: float | None
    high: float | None
    confidence: float
    undefined: str | None
    read: Mapping[str, Any]
    model: str | None = None
    people: float | None = None
    since: str | None = None


@dataclass(frozen=True)
class Levels:
    """The figures of the level of agreement before the last change, and since the day of it."""

    day: str
    before: Assessment
    now: Assessment


def gate_standings(assessment: Assessment, figure: Figure) -> list[Standing]:
    """The figures of that name; several for `EVERY` category, none where there is none."""
    if figure.measure is not None:
        return [
            _measured(measure)
            for measure in assessment.measures
            if measure.measure == figure.measure
        ]
    rated = ((assessment.categories[rate.category], rate) for rate in assessment.rates)
    return [_rated(name, rate) for name, rate in rated if figure.category in {EVERY, name}]


def model_standings(
    model_agreement: ModelAgreement | None, figure: Figure, confidence: float
) -> list[Standing]:
    """The figures of a model beside the people, as `gate_standings`; None if it met nobody."""
    none = Standing(
        figure.measure, figure.category, None, None, None, confidence, "no_overlap", {},
        figure.model,
    )  # fmt: skip
    if model_agreement is None:
        return [none]
    if figure.measure == "cohen_kappa" and model_agreement.majority is not None:
        return [replace(_measured(model_agreement.majority), model=model_agreement.model)]
    if figure.measure is not None:
        return [_beside(none, model_agreement)] if figure.measure == "percent_agreement" else [none]
    rows = (
        category
        for category in model_agreement.categories
        if figure.category in {EVERY, category.category}
    )
    return [_beside(replace(none, category=row.category), row) for row in rows] or [none]


def _beside(none: Standing, model_agreement: ModelAgreement | ModelCategory) -> Standing:
    """A share of agreement with people, and that of two people."""
    undefined = "no_overlap" if model_agreement.with_people is None else None
    return replace(
        none, value=model_agreement.with_people, low=model_agreement.low, high=model_agreement.high,
        undefined=undefined, people=model_agreement.people, confidence=CONFIDENCE,
    )  # fmt: skip


def _measured(figure: Coefficient) -> Standing:
    read = {key: figure.details.get(key) for key in ("weights", "scale", "distance")}
    bounds = figure.ci_low, figure.ci_high, figure.confidence, figure.undefined
    return Standing(figure.measure, None, figure.value, *bounds, read)


def _rated(name: str, rate: CategoryRate) -> Standing:
    return Standing(
        None, name, rate.rate, rate.ci_low, rate.ci_high, rate.confidence, rate.undefined, {}
    )


@dataclass(frozen=True, eq=False)
class AuditsNow:
    """The audits of some questions, as `tracker audit` makes them of all together."""

    connection: Connection
    questions: Sequence[QuestionInfo]
    choice: AnswerFilter = EVERYTHING

    @cached_property
    def by_question(self) -> Mapping[int, Audit]:
        """The audit of each question by its number, for all kinds of findings."""
        audits = settled_audits(self.connection, self.questions, AuditQuery(filter=self.choice))
        return {question.id: audit for question, audit in zip(self.questions, audits, strict=True)}


@dataclass(frozen=True, eq=False)
class Present:
    """A project as its gate sees it, on a connection that sees one state.

    Raises Refused where the file does not fit the project, NotFound for a snapshot that it names
    and the project does not have.
    """

    connection: Connection
    question: QuestionInfo
    asked: GateConfig
    choice: AnswerFilter = EVERYTHING
    audits: AuditsNow | None = None

    @cached_property
    def config(self) -> GateConfig:
        """The file's checks, their names found in the project."""
        names = category_names(self.connection, self.question)
        asked = self.asked
        if any(_model_of(check)[1] for check in asked.checks):
            asked = _with_models(asked, self.connection, self.question)
        return fitted_gate_config(asked, self.question, names)

    @cached_property
    def selection(self) -> Mapping[str, Any] | None:
        """Which answers are looked at, as JSON; None for all."""
        return select_answers(self.connection, self.question, self.choice).told

    @cached_property
    def assessment(self) -> Assessment:
        """The measures that checks name, every category and the counts."""
        of_figures = [check for check in self.config.checks if isinstance(check, AtLeast | MaxDrop)]
        measures = [
            figure.figure.measure
            for figure in of_figures
            if figure.figure.measure is not None and figure.figure.model is None
        ]
        query = self._query(list(dict.fromkeys(measures)) or [self._cheapest()])
        wanted = any(isinstance(figure, MaxDrop) or figure.figure.recent for figure in of_figures)
        return assess(self.connection, self.question, query, recent=wanted)

    def _query(self, measures: Sequence[str]) -> Query:
        config = self.config
        return Query(measures, config.confidence, config.metric, self.choice, config.interval)

    @cached_property
    def levels(self) -> Mapping[str | None, Levels]:
        """The figures before and since the last change of level, under None if there was one.

        Those of a category that changed for itself are under its name.
        """
        assessment = self.assessment
        parts: dict[str | None, Recent | Changed] = {
            change.name: change for change in assessment.changes if change.subject == "category"
        }
        if assessment.recent is not None:
            parts[None] = assessment.recent
        return {name: self._levels_of(part) for name, part in parts.items()}

    def _levels_of(self, change: Recent | Changed) -> Levels:
        names = category_names(self.connection, self.question)
        known = [measure.measure for measure in self.assessment.measures]
        query = self._query([name for name in known if MEASURES[name].needs == "patterns"])
        people = self.assessment.counts.annotators
        before, now = (
            assess_patterns(self.question, names, patterns, people, query.measures, query)
            for patterns in change.levels
        )
        return Levels(change.day, before, now)

    def level_of(self, category: str | None) -> Levels | None:
        """The last change of level that a figure's category had, if it had one; else that of all.

        None if the level is steady.
        """
        return self.levels.get(category) or self.levels.get(None)

    def standings(self, figure: Figure) -> list[Standing]:
        """The figures of that name, of the people or of a model; see `gate_standings`."""
        if figure.model is not None:
            return model_standings(self._models[figure.model], figure, self.config.confidence)
        overall = gate_standings(self.assessment, figure)
        return (
            [self._recent(figure, standing) for standing in overall] if figure.recent else overall
        )

    def _recent(self, figure: Figure, overall: Standing) -> Standing:
        """The figure of the last level; that of all answers if it was the only one."""
        level = self.level_of(overall.category)
        if level is None:
            return overall
        (since,) = gate_standings(level.now, replace(figure, category=overall.category))
        return replace(since, since=level.day)

    @cached_property
    def _models(self) -> Mapping[str, ModelAgreement | None]:
        """The models that checks name beside the people; None for one that met nobody."""
        figures = (
            check.figure for check in self.config.checks if isinstance(check, AtLeast | MaxDrop)
        )
        names = {figure.model for figure in figures if figure.model is not None}
        agreements = models_beside_people(
            self.connection, self.question, self.choice,
            only=names, confidence=self.config.confidence,
        )  # fmt: skip
        return dict.fromkeys(names) | {agreement.model: agreement for agreement in agreements}

    def judge(self, model: str, margin: float) -> Judge | None:
        """Return a model as a judge of the question; None if it answered nothing."""
        query = JudgeQuery(
            (model,), margin=margin, confidence=self.config.confidence, metric=self.config.metric,
            filter=self.choice,
        )  # fmt: skip
        judges, _ = judge_question(self.connection, self.question, query)
        return next(iter(judges), None)

    def _cheapest(self) -> str:
        """A measure to ask for where none is wanted: asking for none would give all."""
        fits = (
            name for name, measure in MEASURES.items() if self.question.answers in measure.answers
        )
        return next(fits)

    @cached_property
    def audit(self) -> Audit:
        """The audit for all kinds of findings: one of those given, or of this question alone."""
        alone = AuditsNow(self.connection, [self.question], self.choice)
        return (self.audits or alone).by_question[self.question.id]

    @cached_property
    def snapshots(self) -> Mapping[str | None, SnapshotRecord | None]:
        """By number or name, the snapshots that checks name; by None the `last_snapshot`."""
        drops = (check for check in self.config.checks if isinstance(check, MaxDrop))
        return dict(self._snapshots_of(drops))

    def _snapshots_of(
        self, drops: Iterator[MaxDrop]
    ) -> Iterator[tuple[str | None, SnapshotRecord | None]]:
        for check in drops:
            if check.since is None:
                yield None, self.last_snapshot()
                continue
            try:
                yield check.since, find_snapshot(self.connection, self.question, check.since)
            except NotFound as error:
                where = f"{self.config.source}:{check.place.of('since')}"
                raise NotFound(f"{where}: {error.message}", error.mend) from None

    def last_snapshot(self) -> SnapshotRecord | None:
        """The last snapshot of the same choice of answers: others would not be comparable."""
        return last_snapshot_of_choice(self.connection, self.question, self.selection)


def _with_models(config: GateConfig, connection: Connection, question: QuestionInfo) -> GateConfig:
    """The checks with the models' names as the project has them; raises Refused for others."""
    models = [
        annotator
        for annotator in list_annotators(connection, question.project)
        if annotator.kind == "model"
    ]
    names = {
        name: annotator.name
        for annotator in models
        for name in (annotator.name, *annotator.aliases)
    }
    checks: list[Check] = []
    for check in config.checks:
        key, model = _model_of(check)
        if model is not None and model not in names:
            project = question.project.name
            mend = near_names(model, names) or (
                f"who is one: tracker annotator kind {quote(project)} {quote(model)} model"
            )
            message = f"{project!r} has no model {model!r}"
            raise refused_toml_table(config.source, check.place, message, mend, key=key)
        if isinstance(check, AtLeast) and model is not None:
            checks.append(replace(check, figure=replace(check.figure, model=names[model])))
        elif isinstance(check, JudgeTrusted):
            checks.append(replace(check, model=names[check.model]))
        else:
            checks.append(check)
    return replace(config, checks=tuple(checks))


def _model_of(check: Check) -> tuple[str, str | None]:
    """Return the key under which a check names a model, and the name; None if it names none."""
    if isinstance(check, JudgeTrusted):
        return "judge", check.model
    return "model", check.figure.model if isinstance(check, AtLeast | MaxDrop) else None


_MOST_NAMES = 12


def fitted_gate_config(
    config: GateConfig, question: QuestionInfo, categories: Mapping[int, str]
) -> GateConfig:
    """The checks with their measures as the project calls them (AC1 is AC2 with weights).

    Raises Refused, with the line, for a reading or a measure that does not fit the project, and
    for a category that it does not have.
    """
    try:
        check_metric(question, categories, config.metric)
    except InvalidOption as error:
        raise _of_reading(config, error) from None
    names = list(categories.values())
    checks = tuple(_fitted(config, check, question, names) for check in config.checks)
    return replace(config, checks=checks)


def _fitted(config: GateConfig, check: Check, question: QuestionInfo, names: list[str]) -> Check:
    if not isinstance(check, AtLeast | MaxDrop):
        return check
    measure, category = check.figure.measure, check.figure.category
    if measure is not None and check.figure.model is None:
        try:
            (measure,) = check_agreement_measures(question, [measure], config.metric, few=True)
        except InvalidOption as error:
            mend = _in_a_file(error.mend)
            raise refused_toml_table(
                config.source, check.place, error.message, mend, key="measure"
            ) from None
        return replace(check, figure=replace(check.figure, measure=measure))
    if measure is None and category not in {EVERY, *names}:
        mend = near_names(category or "", names) or _there(question, names)
        message = f"{question.project.name!r} has no category {category!r}"
        raise refused_toml_table(config.source, check.place, message, mend, key="category")
    return check


def _there(question: QuestionInfo, names: list[str]) -> str:
    if not names:
        return f"it has none yet: tracker import FILE --project {quote(question.project.name)}"
    more = ", …" if len(names) > _MOST_NAMES else ""
    return f"it has: {', '.join(names[:_MOST_NAMES])}{more}"


def _of_reading(config: GateConfig, error: InvalidOption) -> Refused:
    """The error on the line of the key that it is about."""
    keys = [key for key in ("weights", "scale", "distance") if getattr(config.metric, key)]
    key = next((key for key in keys if key in error.message), keys[0])
    message = _in_a_file(error.message) or ""
    return refused_toml_table(config.source, config.place, message, _in_a_file(error.mend), key=key)


def _in_a_file(text: str | None) -> str | None:
    """Words about options as they are about keys; a command to type stays one."""
    return text if text is None or "tracker " in text else text.replace("--", "")
