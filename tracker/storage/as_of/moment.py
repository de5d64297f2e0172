"""A state of a project's ledger, on its two clocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, case, func, select

from tracker.storage.as_of.annotators import ERASURE
from tracker.storage.schema import Change, Label


@dataclass(frozen=True)
class Moment:
    """A state of a project's ledger.

    Attributes:
        as_of: only answers labeled then or earlier; None for all.
        through: the number of the last change that was known; None for all.
        known_at: the moment until which findings were known; None for all.
    """

    as_of: int | None = None
    through: int | None = None
    known_at: int | None = None


NOW = Moment()


def moment_as_of(
    connection: Connection, project_id: int, as_of: int | None, known_at: int | None
) -> Moment:
    """Return the state that two clocks show."""
    if known_at is None:
        return Moment(as_of)
    return Moment(as_of, last_change_as_of(connection, project_id, known_at), known_at)


def last_change_as_of(connection: Connection, project_id: int, known_at: int) -> int:
    """Return the number of the last change that was recorded by a moment, or 0."""
    last = select(func.max(Change.id)).where(
        Change.project_id == project_id, Change.recorded_at <= known_at
    )
    return connection.scalar(last) or 0


def stored_erasure_since(connection: Connection, project_id: int, through: int) -> int | None:
    """Return the last change after a given one that erased somebody's answers; None if none did."""
    last = select(func.max(Change.id)).where(
        Change.project_id == project_id, Change.id > through, Change.kind == ERASURE
    )
    return connection.scalar(last)


def as_of_caveats(connection: Connection, project_id: int, moment: Moment) -> Iterator[str]:
    """Yield a sentence for each thing that a past state cannot show as it was."""
    if moment.as_of is not None:
        without_time = func.sum(case((Label.has_own_time, 0), else_=1))
        counts = select(without_time, func.count()).where(Label.project_id == project_id)
        untimed, labels = connection.execute(counts).one()
        if untimed:
            yield (
                f"{int(untimed):,} of {labels:,} labels have no time of their own: "
                "they count from when they were recorded"
            )
    if moment.through is not None and stored_erasure_since(connection, project_id, moment.through):
        yield "answers that were known then have been erased since: they are in no figure"
