"""Audits of a project's annotators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from tracker.core.errors import InvalidOption
from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    from tracker.audit import Audit, AuditQuery
    from tracker.audit.thresholds import Floors
    from tracker.flags import Recorded
    from tracker.queries import AnswerFilter, Selecting

__all__ = ["Audits"]


class Audits(Transactions):
    """The methods that audit annotators."""

    def audit(
        self,
        project: str,
        *,
        alpha: float = 0.05,
        kinds: Sequence[str] = (),
        exclude_kinds: Sequence[str] = (),
        evidence: int = 0,
        floors: Floors | None = None,
        record: bool = False,
        **selecting: Unpack[Selecting],
    ) -> Audit:
        """The findings on the project's annotators; ``record`` stores those that stand up.

        Only the ``kinds`` named are looked for, without ``exclude_kinds``; ``evidence`` is how
        many items to show for each finding, ``floors`` the least effects of one.
        """
        from tracker.audit import audit_project, audit_query
        from tracker.audit.thresholds import DEFAULT_FLOORS
        from tracker.queries import filter_of

        query = audit_query(
            alpha=alpha,
            kinds=kinds,
            exclude_kinds=exclude_kinds,
            evidence=evidence,
            floors=floors or DEFAULT_FLOORS,
            choice=filter_of(**selecting),
        )
        if record:
            return self.record_audit(project, query)[0]
        with self.reading(project, query.filter) as (connection, found):
            return audit_project(connection, found, query)

    def record_audit(self, project: str, query: AuditQuery | None = None) -> tuple[Audit, Recorded]:
        """An audit, stored; with what became of the findings that earlier audits recorded."""
        from tracker.audit import AuditQuery, audit_project
        from tracker.flags import record_flags
        from tracker.projects.change_log import lock_project

        query = query or AuditQuery()
        if _is_past(query.filter):
            raise InvalidOption("findings of the past are not recorded", "leave out: --record")
        with self.writing(project) as (connection, found):
            # Before anything is counted: an audit of older answers must not close newer flags.
            lock_project(connection, found.id)
            audited = audit_project(connection, found, query)
            return audited, record_flags(connection, found, audited, closes=query.whole)

    def pseudonyms(self, project: str) -> dict[int, str]:
        """A pseudonym for every annotator of the project, by number; see `projects.pseudonyms`."""
        from tracker.projects.pseudonyms import pseudonyms

        with self.reading(project) as (connection, found):
            return pseudonyms(connection, found)


def _is_past(choice: AnswerFilter) -> bool:
    return choice.as_of is not None or choice.known_at is not None
