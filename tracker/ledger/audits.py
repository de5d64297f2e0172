"""Audits of a project's annotators, and what is known about one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from sqlalchemy import Connection

from tracker.core.errors import InvalidOption
from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    from tracker.agreement.asking import Asking
    from tracker.agreement.explain import Advice
    from tracker.audit.annotator_report import OwnReport, OwnReportByQuestion
    from tracker.audit.flags import Recorded
    from tracker.audit.looking import Looking
    from tracker.audit.query import AuditQuery
    from tracker.audit.result import Audit, AuditByQuestion
    from tracker.audit.verdict import VerdictJson
    from tracker.counts.choosing import Selecting
    from tracker.projects.projects import ProjectInfo
    from tracker.projects.questions import QuestionInfo


class Audits(Transactions):
    """The methods that audit annotators."""

    def audit(self, project: str, *, record: bool = False, **looking: Unpack[Looking]) -> Audit:
        """Return the findings on the annotators of a project's only question, or of the one named.

        Args:
            project: the project's name.
            record: store the findings that stand up.
            looking: see `tracker.audit.Looking`.
        """
        if record:
            return self.record_audit(project, **looking)[0]
        from tracker.audit.flags import settled_audits
        from tracker.audit.query import audit_query

        query = audit_query(**looking)
        with self.asking(project, query.filter) as (connection, question):
            (audit,) = settled_audits(connection, [question], query)
            return audit

    def record_audit(self, project: str, **looking: Unpack[Looking]) -> tuple[Audit, Recorded]:
        """Store an audit; return it, and what became of the findings that were recorded before."""
        from tracker.audit.query import audit_query
        from tracker.projects.questions import find_question

        query = audit_query(**looking)
        (audited,), recorded = self._record(
            project, query, lambda db, info: [find_question(db, info, query.filter.question)]
        )
        return audited, recorded

    def audit_by_question(
        self, project: str, *, questions: Sequence[str] = (), **looking: Unpack[Looking]
    ) -> AuditByQuestion:
        """Return the findings of each question; the false discovery rate holds over all of them.

        Args:
            project: the project's name.
            questions: only these, by name; all for none.
            looking: see `tracker.audit.Looking`.
        """
        from tracker.audit.flags import settled_audits
        from tracker.audit.query import audit_query
        from tracker.audit.result import AuditByQuestion

        query = audit_query(**looking)
        named = _named(questions, query)
        with self.asking_each(project, query.filter, named) as (connection, each):
            audits = tuple(settled_audits(connection, each, query))
        return AuditByQuestion(each[0].project.name, audits)

    def verdict(
        self, project: str, *, questions: Sequence[str] = (), **selecting: Unpack[Selecting]
    ) -> VerdictJson:
        """Return what is plainly wrong, whatever it is about, as JSON.

        ``verdict`` has the concerns, the weightiest first; see `tracker.audit.verdict.Verdict`. The
        arguments are those of `gate`.
        """
        from tracker.audit.verdict import project_verdict
        from tracker.counts.filter import make_answer_filter

        choice = make_answer_filter(**selecting)
        with self.asking_each(project, choice, questions) as (connection, asked):
            verdict = project_verdict(connection, asked, choice)
            return verdict.to_dict(asked[0].project.name)

    def record_audit_by_question(
        self, project: str, *, questions: Sequence[str] = (), **looking: Unpack[Looking]
    ) -> tuple[AuditByQuestion, Recorded]:
        """Store the audits of questions; return them as `record_audit` does."""
        from tracker.audit.query import audit_query
        from tracker.audit.result import AuditByQuestion
        from tracker.projects.questions import find_questions

        query = audit_query(**looking)
        named = _named(questions, query)
        audited, recorded = self._record(
            project, query, lambda db, info: find_questions(db, info, named)
        )
        return AuditByQuestion(project, tuple(audited)), recorded

    def _record(
        self,
        project: str,
        query: AuditQuery,
        find: Callable[[Connection, ProjectInfo], list[QuestionInfo]],
    ) -> tuple[list[Audit], Recorded]:
        """Audit questions, record what is found, and tell webhooks; raises InvalidOption.

        The audit is made before others have to wait, and again if something changed meanwhile: one
        of older answers must not close newer flags.
        """
        from tracker.audit.flags import Recorded, record_flags
        from tracker.audit.run import audit_questions
        from tracker.projects.projects import last_change, lock_project
        from tracker.sync.events import tell_webhooks

        if query.filter.as_of is not None or query.filter.known_at is not None:
            raise InvalidOption("findings of the past are not recorded", "leave out: --record")
        with self.reading(project) as (connection, info):
            state = last_change(connection, info.id)
            audited = audit_questions(connection, find(connection, info), query)
        recorded = Recorded(0, 0, 0, 0)
        with self.writing(project) as (connection, info):
            lock_project(connection, info.id)
            questions = find(connection, info)
            if last_change(connection, info.id) != state:
                audited = audit_questions(connection, questions, query)
            for question, audit in zip(questions, audited, strict=True):
                recorded += record_flags(connection, question, audit, closes=query.whole)
            raised = {"new": recorded.new, "reopened": recorded.reopened}
            if any(raised.values()):
                payload = {"project": info.name, **raised}
                tell_webhooks(connection, info.id, "finding_raised", payload)
        return audited, recorded

    def advice(
        self,
        project: str,
        *,
        flagged: Sequence[str] | None = None,
        category: str | None = None,
        merges: bool = False,
        **asking: Unpack[Asking],
    ) -> Advice | None:
        """Return what a question's definitions look like without the answers of those flagged.

        None if nobody is flagged, or if nothing is left to compare.

        Args:
            project: the project's name.
            flagged: their names, if an audit of the same answers has been made; else one is made.
            category: only the confusions with this one.
            merges: the merges that help most, instead of confusions.
            asking: as of `confusions` and `best_merges`.
        """
        from tracker.agreement.query import agreement_query
        from tracker.audit.advice import advice_without
        from tracker.audit.query import AuditQuery
        from tracker.audit.run import audit_project

        query = agreement_query(**asking)
        with self.asking(project, query.filter) as (connection, question):
            if flagged is None:
                audit = audit_project(connection, question, AuditQuery(filter=query.filter))
                flagged = audit.flagged_names
            return advice_without(
                connection, question, query, flagged, category=category, merges=merges
            )

    def anonymized(
        self, audit: Audit, *, pseudonyms: bool = True, suppress_below: int | None = None
    ) -> Audit:
        """Return an audit that may be shown to others.

        Args:
            audit: the audit, of a project of this database.
            pseudonyms: replace names with `pseudonyms`.
            suppress_below: leave out figures that rest on fewer answers.
        """
        from tracker.audit.result import renamed_audit, suppressed_audit
        from tracker.projects.annotators import list_annotators

        if suppress_below is not None:
            audit = suppressed_audit(audit, suppress_below)
        if not pseudonyms:
            return audit
        with self.reading(audit.project) as (connection, info):
            ids = {annotator.name: annotator.id for annotator in list_annotators(connection, info)}
        return renamed_audit(audit, self.pseudonyms(audit.project), ids)

    def pseudonyms(self, project: str) -> dict[int, str]:
        """Return a pseudonym for every annotator, by number; see `projects.pseudonyms`."""
        from tracker.projects.annotators import annotator_pseudonyms

        with self.reading(project) as (connection, info):
            return annotator_pseudonyms(connection, info)

    def annotator(
        self,
        project: str,
        name: str,
        *,
        competence: bool = False,
        questions: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Return the JSON of `Annotators.show`."""
        from tracker.ledger.annotators import Annotators

        page = Annotators(self).show(project, name, competence=competence, questions=questions)
        return page.to_dict()

    def annotator_report(
        self, project: str, name: str, *, suppress_below: int = 5, question: str | None = None
    ) -> OwnReport:
        """Return what an annotator may see: the own figures, and the others' without names.

        Of the project's only question, or the one named. Figures that rest on fewer than
        ``suppress_below`` answers are left out. Raises InvalidOption for an annotator with no
        answer that enters the figures.
        """
        from tracker.audit.annotator_report import annotator_own_reports
        from tracker.projects.annotators import find_annotator

        with self.asking(project, question=question) as (connection, about):
            annotator = find_annotator(connection, about.project, name)
            return annotator_own_reports(connection, [about], annotator, suppress_below).reports[0]

    def annotator_report_by_question(
        self,
        project: str,
        name: str,
        *,
        suppress_below: int = 5,
        questions: Sequence[str] = (),
        **selecting: Unpack[Selecting],
    ) -> OwnReportByQuestion:
        """Return what an annotator may see of each question, or of those named."""
        from tracker.audit.annotator_report import annotator_own_reports
        from tracker.audit.flag_list import list_flags
        from tracker.counts.filter import make_answer_filter
        from tracker.projects.annotators import find_annotator
        from tracker.projects.items import item_texts_by_name

        choice = make_answer_filter(**selecting)
        with self.asking_each(project, choice, questions) as (connection, each):
            project_found = each[0].project
            annotator = find_annotator(connection, project_found, name)
            own_reports = annotator_own_reports(connection, each, annotator, suppress_below, choice)
            rows = list_flags(connection, project_found, annotator=annotator.name)
            recorded = [flag.to_dict() for flag in rows]
            shown = {row.get("item", "") for report in own_reports.reports
                     for flag in report.findings for row in report.items(flag)}  # fmt: skip
            texts = item_texts_by_name(connection, project_found, shown)
            several = len(each) > 1
            reports = [
                replace(report, texts=texts, recorded={
                    (row["kind"], row["category"]): row
                    for row in recorded
                    if not several or row.get("question") in (None, report.audit.question)
                })
                for report in own_reports.reports
            ]  # fmt: skip
            return replace(own_reports, reports=reports)


def advice_as_json(advice: Advice | None) -> dict[str, Any]:
    """Return the entry of a document that has the same without those flagged; null if nobody is."""
    return {"without_flagged": None if advice is None else advice.to_dict()}


def _named(questions: Sequence[str], query: AuditQuery) -> Sequence[str]:
    """Return the names of the questions to audit, however they were given."""
    name = query.filter.question
    return questions if name is None else [*questions, name]
