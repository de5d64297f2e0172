"""Questions and their settings."""

from __future__ import annotations

from tracker.ledger.questions import Questions
from tracker.web.api.operations import add_routes
from tracker.web.api.routing import resource

router = add_routes(resource("records"), Questions)
