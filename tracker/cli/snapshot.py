"""``tracker snapshot``: the figures and tallies as they are, recorded."""

from __future__ import annotations

import typer

from tracker.cli.operations import add_operations
from tracker.ledger.history import Snapshots


def register(app: typer.Typer) -> None:
    add_operations(app, Snapshots, "")
