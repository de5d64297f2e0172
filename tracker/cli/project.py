"""``tracker project``."""

from __future__ import annotations

from tracker.cli.operations import operation_group
from tracker.ledger.notes import Notes
from tracker.ledger.projects import Projects

projects, register = operation_group(
    "project",
    "Create, set, list, show, rename, archive and delete projects; note events; list changes.",
    Projects,
    Notes,
)
