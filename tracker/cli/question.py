"""``tracker question``."""

from __future__ import annotations

from tracker.cli.operations import operation_group
from tracker.ledger.questions import Questions

questions, register = operation_group(
    "question", "List, show, add, set and rename a project's questions.", Questions
)
