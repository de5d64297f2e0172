"""Snapshots: the records themselves."""

from __future__ import annotations

from tracker.ledger.history import Snapshots
from tracker.web.api.operations import add_routes
from tracker.web.api.routing import resource

router = add_routes(resource("figures"), Snapshots)
