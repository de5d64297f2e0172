"""The commands that show figures: ``tracker status`` and its like."""

from __future__ import annotations

import typer

from tracker.cli.operations import add_operations
from tracker.ledger.auditing import AuditFindings
from tracker.ledger.figures import Figures


def register(app: typer.Typer) -> None:
    for namespace in (Figures, AuditFindings):
        add_operations(app, namespace, "")
