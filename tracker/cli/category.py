"""``tracker category``."""

from __future__ import annotations

from tracker.cli.operations import operation_group
from tracker.ledger.categories import Categories

categories, register = operation_group(
    "category", "List, order, merge and rename categories.", Categories
)
