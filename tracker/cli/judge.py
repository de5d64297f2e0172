"""``tracker judge``."""

from __future__ import annotations

import typer

from tracker.cli.operations import add_operations
from tracker.ledger.judges import Judging


def register(app: typer.Typer) -> None:
    add_operations(app, Judging, "")
