"""``tracker round``."""

from __future__ import annotations

from tracker.cli.operations import operation_group
from tracker.ledger.rounds import Rounds

rounds, register = operation_group(
    "round", "Hold guidelines against each other on items that all answer.", Rounds
)
