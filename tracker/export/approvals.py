"""A batch's results of Mechanical Turk with ``Approve`` and ``Reject`` filled, for the upload."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import closing

from sqlalchemy import Connection

from tracker.core.errors import Refused
from tracker.formats.source import SourceFile
from tracker.formats.streams import head_columns, table_rows
from tracker.projects.annotators import find_annotators, list_annotators
from tracker.projects.projects import ProjectInfo

_FILLED = ("Approve", "Reject")
Approvals = tuple[list[str], list[list[str]], Counter[str]]
"""The columns and rows of a batch, and how many rows were approved, rejected or left."""


def rejection_reasons(
    connection: Connection, project: ProjectInfo, rejected: Mapping[str, str]
) -> dict[str, str | None]:
    """Return all names of annotators, each with the reason for rejecting them, if any."""
    find_annotators(connection, project, [*rejected])
    return {
        name: next((rejected[other] for other in person.names if other in rejected), None)
        for person in list_annotators(connection, project)
        for name in person.names
    }


def fill_approvals(path: str, reasons: Mapping[str, str | None]) -> Approvals:
    """Return a batch's results with both columns filled; raises Refused for another file."""
    rows, numbers = [], Counter[str]()
    with closing(SourceFile(path)) as batch:
        columns = head_columns(batch)
        if lacking := {"AssignmentId", "WorkerId"}.difference(columns):
            raise Refused(f"{path} lacks {' and '.join(sorted(lacking))}: not a batch's results")
        columns += [name for name in _FILLED if name not in columns]
        for _, cells in table_rows(batch, _FILLED):
            worker, status = cells["WorkerId"].strip(), cells.get("AssignmentStatus", "").strip()
            outcome = "of unknown workers"
            if status not in {"", "Submitted"} or any(cells.get(name) for name in _FILLED):
                outcome = "settled before"
            elif reason := reasons.get(worker):
                outcome, cells["Reject"] = "rejected", reason
            elif worker in reasons:
                outcome, cells["Approve"] = "approved", "x"
            numbers[outcome] += 1
            rows.append([cells.get(name, "") for name in columns])
    return columns, rows, numbers
