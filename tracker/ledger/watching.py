"""What a program that watches the ledger asks: what was recorded last, and whether it is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tracker.ledger.transactions import Transactions

if TYPE_CHECKING:
    from tracker.counts.recorded import LastImport, LastSnapshot, OpenFindings


class RecordedFigures(NamedTuple):
    """What was recorded last of all projects that are not archived; nothing is computed."""

    snapshots: Sequence[LastSnapshot]
    findings: Sequence[OpenFindings]
    imports: Sequence[LastImport]


class Watching(Transactions):
    """The methods for who watches."""

    def recorded_figures(self, measure: str = "krippendorff_alpha") -> RecordedFigures:
        """Return the last snapshots with the figures of a measure, open findings, imports."""
        from tracker.counts.recorded import last_imports, last_snapshots, open_findings

        if self.is_missing:
            return RecordedFigures((), (), ())
        with self.database.read() as connection:
            return RecordedFigures(
                last_snapshots(connection, measure),
                open_findings(connection),
                last_imports(connection),
            )

    def is_ready(self) -> bool:
        """Return whether the database can be used; one without tables will get them."""
        from tracker.core.errors import DatabaseUnusable

        try:
            return self.database.revision() in {None, self.database.head}
        except DatabaseUnusable:
            return False
