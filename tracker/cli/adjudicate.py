"""``tracker adjudicate``."""

from __future__ import annotations

from tracker.cli.operations import operation_group
from tracker.ledger.adjudication import Adjudication

adjudicate, register = operation_group(
    "adjudicate", "Decide where annotators differ, and count why they did.", Adjudication
)
