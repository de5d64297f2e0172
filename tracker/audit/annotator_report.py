"""One annotator: a page for whoever runs the project, and a report for the annotator."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Annotated, Any, Final

from sqlalchemy import Connection

from tracker.agreement.coefficients import study
from tracker.agreement.explain import agreement_influences
from tracker.agreement.query import Query
from tracker.audit.kind import Finding
from tracker.audit.query import audit_query
from tracker.audit.result import (
    Audit,
    AuditedAnnotator,
    check_audit_suppress_below,
    suppressed_audit_figures,
)
from tracker.audit.run import audit_questions
from tracker.audit.statistics.dawid_skene import dawid_skene_competences
from tracker.core.errors import InvalidOption
from tracker.core.results import Json, Record, Spread, json_by_question
from tracker.counts.annotator_patterns import count_joint_patterns
from tracker.counts.filter import EVERYTHING, AnswerFilter, select_answers
from tracker.counts.items import count_answers_per_item
from tracker.projects.annotators import AnnotatorInfo
from tracker.projects.questions import QuestionInfo
from tracker.render.formats import result_as_json

COMPARED_FIGURES: Final = {
    "answers": "answers",
    "agreement_with_peers": "agrees with others",
    "mean_difference": "answers higher or lower than others",
    "kappa_with_majority": "kappa with the majority of the others",
    "self_agreement": "same answer again",
    "gold_accuracy": "right on gold",
    "median_seconds": "seconds an answer (median)",
}
"""What a report shows the others' spread of, and its words."""

_ITEMS = 5
_OF_OTHERS = {"others", "others_seconds"}


@dataclass(frozen=True)
class AnnotatorPage(Record):
    """One annotator's figures beside the others', findings and recorded flags.

    Attributes:
        attributes: what files said of the annotator; None if nothing.
        recorded: the flags that were recorded, whatever became of them, as JSON.
    """

    annotator: Annotated[AnnotatorInfo, Spread]
    project: str
    figures: Annotated[Mapping[str, Any], Spread]
    attributes: Annotated[Mapping[str, str] | None, Json(rare=True)]
    recorded: Sequence[Mapping[str, Any]]

    def hints(self) -> Iterator[str]:
        """Yield how to write the report that the annotator may have."""
        words = f"{quote(self.annotator.name)} -p {quote(self.project)}"
        yield f"for the annotator's own eyes: tracker annotator report {words}"


def audited_annotator_figures(
    connection: Connection,
    questions: Sequence[QuestionInfo],
    annotator: AnnotatorInfo,
    *,
    competence: bool = False,
) -> dict[str, Any]:
    """Return the figures and the findings with their items, as JSON; of several, by question.

    ``influence`` is what Krippendorff's alpha becomes without the annotator; ``competence`` the
    probability of a right answer, on request. Of an annotator with no answer that counts there is
    none. Raises InvalidOption as `annotator_competences`; of several questions, those of
    spans have no competence.
    """
    pages = {}
    several = len(questions) > 1
    audits = audit_questions(connection, questions, audit_query(evidence=_ITEMS))
    for question, audit in zip(questions, audits, strict=True):
        rows = {row["annotator"]: row for row in audit.to_dict()["annotators"]}
        page = rows.get(annotator.name, {})
        if page:
            page["influence"] = _influence(connection, question, annotator)
        if competence and not (several and question.answers == "spans"):
            page["competence"] = annotator_competences(connection, question).get(annotator.id)
        pages[question.name] = page
    return json_by_question({}, pages)


def _influence(
    connection: Connection, question: QuestionInfo, annotator: AnnotatorInfo
) -> dict[str, Any] | None:
    if question.answers == "spans":
        return None
    counted = study(connection, question, Query())
    measure, value, rows = agreement_influences(counted, "annotator", only=annotator.id)
    if not rows:
        return None
    (mine,) = rows
    return {"measure": measure, "value": value, "without": mine.without, "change": mine.change}


@dataclass(frozen=True)
class OwnReport:
    """What an annotator may see: the own figures and findings, and the rest without names.

    Attributes:
        audit: what was found; of the others it holds more than an annotator may see.
        others: the number of the others, and the quartiles of each of their figures if enough
            of them have it.
        findings: the own ones that are not clear and rest on enough answers.
        recorded: what became of the recorded ones, as JSON, by kind and category.
        texts: of the items that show findings, by name.
    """

    audit: Audit
    annotator: AuditedAnnotator
    figures: Mapping[str, Any]
    others: Mapping[str, Any]
    findings: Sequence[Finding]
    recorded: Mapping[tuple[str, str | None], Mapping[str, Any]] = field(default_factory=dict)
    texts: Mapping[str, str | None] = field(default_factory=dict)

    def items(self, flag: Finding) -> list[dict[str, Any]]:
        """Return the items that show a finding, with the own answer alone.

        None that tell which items have a known answer: they are to be asked of others, too.
        """
        rows = () if flag.kind == "low_gold_accuracy" else self.audit.shown.get(flag.key, ())
        own = [{key: value for key, value in row.items() if key not in _OF_OTHERS} for row in rows]
        known = self.texts
        return [row | ({"text": known[row["item"]]} if known.get(row.get("item", "")) else {})
                for row in own]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``tracker annotator report``."""
        return result_as_json(self)


def annotator_own_report(audit: Audit, annotator: AuditedAnnotator, least: int) -> OwnReport:
    """Return an annotator's own report, without figures of fewer than ``least`` answers."""
    others = [
        suppressed_audit_figures(other.figures, least)
        for other in audit.annotators
        if other.id != annotator.id
    ]
    return OwnReport(
        audit,
        annotator,
        suppressed_audit_figures(annotator.figures, least),
        {"annotators": len(others)}
        | {name: _quartiles([row.get(name) for row in others], least) for name in COMPARED_FIGURES},
        [
            flag
            for flag in annotator.flags
            if flag.state != "clear" and flag.n >= least
            if not (flag.unconfirmed or flag.remark)
        ],
    )


@dataclass(frozen=True)
class OwnReportByQuestion:
    """What an annotator may see of each question with an answer that counts."""

    project: str
    annotator: str
    reports: Sequence[OwnReport]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``tracker annotator report``: of one question its own, or all."""
        pages = {report.audit.question: report.to_dict() for report in self.reports}
        return json_by_question({"project": self.project, "annotator": self.annotator}, pages)


def annotator_own_reports(
    connection: Connection,
    questions: Sequence[QuestionInfo],
    annotator: AnnotatorInfo,
    least: int,
    choice: AnswerFilter = EVERYTHING,
) -> OwnReportByQuestion:
    """Return an annotator's own report of each question, as `annotator_own_report`.

    ``choice`` says which answers are counted, the annotator's and the others'.

    Raises InvalidOption for an annotator with no answer that enters the figures.
    """
    check_audit_suppress_below(least)
    project = questions[0].project.name
    query = replace(audit_query(evidence=_ITEMS), filter=choice)
    reports = [
        annotator_own_report(audit, candidate, least)
        for audit in audit_questions(connection, questions, query)
        for candidate in audit.annotators
        if candidate.id == annotator.id
    ]
    if not reports:
        raise InvalidOption(f"no answer of {annotator.name!r} is counted in {project!r}")
    return OwnReportByQuestion(project, annotator.name, reports)


def _quartiles(values: Sequence[float | None], least: int) -> Mapping[str, float] | None:
    known = [value for value in values if value is not None]
    if len(known) < max(least, 2):
        return None
    low, middle, high = statistics.quantiles(known, n=4, method="inclusive")
    return {"lower_quartile": low, "median": middle, "upper_quartile": high}


MOST_ANSWERS = 500_000
"""The model is fitted to who answered what on each item, in memory; not to more than this."""


def annotator_competences(connection: Connection, question: QuestionInfo) -> dict[int, float]:
    """The probability of a right answer by annotator id (`dawid_skene`).

    Raises InvalidOption for a project of spans, and for one of too many answers.
    """
    if question.answers == "spans":
        raise InvalidOption(
            f"{question.project.name!r} is a project of spans", "leave out --competence"
        )
    selection = select_answers(connection, question)
    answers = sum(
        number * items for number, items in count_answers_per_item(connection, selection).items()
    )
    if answers > MOST_ANSWERS:
        raise InvalidOption(
            f"a model of {answers:,} answers takes too long; {MOST_ANSWERS:,} are the most",
            "leave out --competence",
        )
    return dawid_skene_competences(count_joint_patterns(connection, selection))
