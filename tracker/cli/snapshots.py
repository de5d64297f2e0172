"""``tracker snapshots``: the records themselves, listed, shown, verified, thinned out."""

from __future__ import annotations

from tracker.cli.operations import operation_group
from tracker.ledger.figures import Figures
from tracker.ledger.history import Snapshots

snapshots, register = operation_group(
    "snapshots", "List, show, verify and thin out snapshots.", Snapshots, Figures
)
