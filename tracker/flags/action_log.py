"""What was done about recorded findings, in order, as JSON."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from tracker.core import clock
from tracker.flags.states import flag_states, named_flag
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import every_category_name
from tracker.projects.project import ProjectInfo
from tracker.storage.schema import FlagChange, FlagRow


class Names:
    """What the numbers in a flag's key mean."""

    def __init__(self, connection: Connection, project: ProjectInfo) -> None:
        self.annotators = annotator_names(connection, project)
        self.categories = every_category_name(connection, project)

    def told(self, row: Row[Any]) -> dict[str, Any]:
        """The flag's number, and what it is about."""
        pair = row.other_id != row.annotator_id
        return {
            "flag": row.id,
            "annotator": self.annotators[row.annotator_id],
            "with": self.annotators[row.other_id] if pair else None,
            "kind": row.kind,
            "category": self.categories.get(row.category_id),
        }


def flag_changes(
    connection: Connection, project: ProjectInfo, number: int | None = None
) -> list[dict[str, Any]]:
    """What was done about a flag, or about all of a project's, in order; raises NotFound."""
    statement = (
        select(FlagRow.__table__, FlagChange.__table__)
        .join(
            FlagChange,
            (FlagChange.project_id == FlagRow.project_id) & (FlagChange.flag_id == FlagRow.id),
        )
        .where(FlagRow.project_id == project.id)
        .order_by(FlagChange.made_at, FlagChange.flag_id, FlagChange.number)
    )
    if number is not None:
        named_flag(project, flag_states(connection, project), number)
        statement = statement.where(FlagRow.id == number)
    names = Names(connection, project)
    return [
        {
            **names.told(row),
            "number": row.number,
            "at": clock.iso(row.made_at),
            "action": row.action,
            "state": row.state,
            "by": row.made_by,
            "note": row.note,
            "informative": row.informative,
        }
        for row in connection.execute(statement)
    ]
