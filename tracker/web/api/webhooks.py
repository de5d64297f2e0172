"""Webhooks: addresses that receive events."""

from __future__ import annotations

from tracker.ledger.webhooks import Webhooks
from tracker.web.api.operations import add_routes
from tracker.web.api.routing import resource

router = add_routes(resource("hooks"), Webhooks)
