"""Notes on the time line of a project."""

from __future__ import annotations

from tracker.ledger.notes import Notes
from tracker.web.api.operations import add_routes
from tracker.web.api.routing import resource

router = add_routes(resource("records"), Notes)
