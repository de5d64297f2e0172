"""Audits of a project's annotators, and what is known about one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from tracker.core.errors import InvalidOption
from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    from tracker.audit import Audit, Looking
    from tracker.audit.annotator_report import OwnReport
    from tracker.flags import Recorded


_ITEMS = 5  # shown for each finding about one annotator


class Audits(Transactions):
    """The methods that audit annotators."""

    def audit(self, project: str, *, record: bool = False, **looking: Unpack[Looking]) -> Audit:
        """Return the findings on the project's annotators.

        Args:
            project: the project's name.
            record: store the findings that stand up.
            looking: see `tracker.audit.Looking`.
        """
        if record:
            return self.record_audit(project, **looking)[0]
        from tracker.audit import audit_project, audit_query

        query = audit_query(**looking)
        with self.asking(project, query.filter) as (connection, found):
            return audit_project(connection, found, query)

    def record_audit(self, project: str, **looking: Unpack[Looking]) -> tuple[Audit, Recorded]:
        """Store an audit; return it, and what became of the findings that were recorded before."""
        from tracker.audit import audit_project, audit_query
        from tracker.flags import record_flags
        from tracker.projects.change_log import lock_project

        query = audit_query(**looking)
        if query.filter.as_of is not None or query.filter.known_at is not None:
            raise InvalidOption("findings of the past are not recorded", "leave out: --record")
        with self.changing(project) as (connection, found):
            # Before anything is counted: an audit of older answers must not close newer flags.
            lock_project(connection, found.project_id)
            audited = audit_project(connection, found, query)
            return audited, record_flags(connection, found, audited, closes=query.whole)

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
        with self.asking(audit.project) as (connection, found):
            ids = {one.name: one.id for one in list_annotators(connection, found.project)}
        return renamed_audit(audit, self.pseudonyms(audit.project), ids)

    def pseudonyms(self, project: str) -> dict[int, str]:
        """Return a pseudonym for every annotator, by number; see `projects.pseudonyms`."""
        from tracker.projects.annotators import annotator_pseudonyms

        with self.asking(project) as (connection, found):
            return annotator_pseudonyms(connection, found.project)

    def annotator(self, project: str, name: str, *, competence: bool = False) -> dict[str, Any]:
        """Return one annotator's figures beside the others', findings and recorded flags.

        With ``competence`` also the probability of a right answer by Dawid and Skene's model.
        """
        from tracker.audit.annotator_report import annotator_competences, audited_annotator_page
        from tracker.flags import ALL, list_flags
        from tracker.projects.annotator_attributes import annotator_attributes
        from tracker.projects.annotators import find_annotator

        with self.asking(project) as (connection, found):
            annotator = find_annotator(connection, found.project, name)
            told = audited_annotator_page(connection, found, annotator)
            known = annotator_attributes(connection, found.project).get(annotator.id)
            if known:
                told["attributes"] = known
            recorded = list_flags(connection, found.project, states=[ALL], annotator=annotator.name)
            if competence:
                told["competence"] = annotator_competences(connection, found).get(annotator.id)
        return told | {"recorded": [one.to_dict() for one in recorded]}

    def annotator_report(self, project: str, name: str, *, suppress_below: int = 5) -> OwnReport:
        """Return what an annotator may see: the own figures, and the others' without names.

        Figures that rest on fewer than ``suppress_below`` answers are left out. Raises
        InvalidOption for an annotator with no answer that enters the figures.
        """
        from tracker.audit import audit_project, audit_query
        from tracker.audit.annotator_report import annotator_own_report
        from tracker.audit.result import check_audit_suppress_below
        from tracker.projects.annotators import find_annotator

        check_audit_suppress_below(suppress_below)
        with self.asking(project) as (connection, found):
            annotator = find_annotator(connection, found.project, name)
            audited = audit_project(connection, found, audit_query(evidence=_ITEMS))
        mine = next((one for one in audited.annotators if one.id == annotator.id), None)
        if mine is None:
            raise InvalidOption(
                f"no answer of {annotator.name!r} is counted in {found.project.name!r}"
            )
        return annotator_own_report(audited, mine, suppress_below)
