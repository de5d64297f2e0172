"""The Python face: one database, and the same answers that the commands give."""

from __future__ import annotations

from tracker.ledger.agreement import AgreementQuestions, Pages
from tracker.ledger.audits import Audits
from tracker.ledger.digesting import Digesting
from tracker.ledger.history import Snapshots
from tracker.ledger.imports import Syncing
from tracker.ledger.namespaces import Records
from tracker.ledger.reports import Reports
from tracker.ledger.watching import Watching


class Ledger(
    Digesting, Syncing, AgreementQuestions, Audits, Snapshots, Reports, Pages, Watching, Records
):
    """One database of projects, by its URL.

    Every call is one transaction. Methods raise the errors of `errors`. Those that
    count answers take the keyword arguments of `tracker.counts.filter.Selecting`, too:
    ``annotators``, ``exclude_annotators``, ``exclude_flagged``, ``since``, ``until``, ``where``,
    ``as_of``, ``known_at``, ``guideline`` and ``question``.
    """

    def __repr__(self) -> str:
        return f"tracker.open({str(self.database)!r})"
