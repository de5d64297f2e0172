"""``tracker webhook``: addresses that receive events."""

from __future__ import annotations

from tracker.cli.operations import operation_group
from tracker.ledger.webhooks import Webhooks

webhooks, register = operation_group(
    "webhook", "Add, list, test and remove webhooks; deliver their messages.", Webhooks
)
