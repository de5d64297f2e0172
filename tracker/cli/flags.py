"""``tracker flags``: the findings that audits recorded, and what is done about them."""

from __future__ import annotations

from tracker.cli.operations import operation_group
from tracker.ledger.flags import Flags

flags, register = operation_group(
    "flags", "List recorded findings, act on them, and answer appeals.", Flags
)
