"""What a project is like now, or at other times: its progress, checks, changes, labels."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    import pandas as pd

    from tracker.agreement import Query
    from tracker.compare import StateComparison
    from tracker.gate import GateResult
    from tracker.queries import Selecting
    from tracker.status import Status

__all__ = ["Reports"]


class Reports(Transactions):
    """The methods that compare states, judge them, and write labels."""

    def gate(self, project: str, config: str | Path, **selecting: Unpack[Selecting]) -> GateResult:
        """What becomes of each check of the file ``config``."""
        from tracker.gate import judge, read_config
        from tracker.queries import filter_of

        checks, choice = read_config(Path(config), project), filter_of(**selecting)
        with self.reading(project, choice) as (connection, found):
            return judge(connection, found, checks, choice)

    def compare(
        self,
        project: str,
        a: str,
        b: str,
        *,
        other: str | None = None,
        anyway: bool = False,
        query: Query | None = None,
    ) -> StateComparison:
        """What changed from one state to another, by how much, and because of what.

        For the ways to name a state see `compare.find_state`; the second may be of ``other``, a
        project. ``anyway`` compares states of other settings, too.
        """
        from tracker.compare import compare_states, find_states, refuse_unlike
        from tracker.projects.project import find_project

        with self.reading(project) as (connection, found):
            second = found if other is None else find_project(connection, other)
            first, then = find_states(connection, (found, a), (second, b), query)
            if not anyway:
                refuse_unlike(first, then)
            return compare_states(connection, first, then)

    def status(
        self, project: str, *, as_of: date | str | None = None, known_at: date | str | None = None
    ) -> Status:
        """How far the project is, or was."""
        from tracker.queries import filter_of
        from tracker.status import project_status

        choice = filter_of(as_of=as_of, known_at=known_at)
        with self.reading(project, choice) as (connection, found):
            return project_status(connection, found, choice.as_of or choice.known_at)

    def export_frame(self, project: str, **selecting: Unpack[Selecting]) -> pd.DataFrame:
        """The labels that stand, one row each; what is not known is missing."""
        import pandas as pd

        from tracker.export import LABEL_COLUMNS, standing_labels
        from tracker.queries import filter_of

        choice = filter_of(**selecting)
        with self.reading(project, choice) as (connection, found):
            rows = list(standing_labels(connection, found, choice=choice))
        frame = pd.DataFrame(rows, columns=list(LABEL_COLUMNS))
        return frame.astype({"pass": "Int64", "start": "Int64", "end": "Int64"})
