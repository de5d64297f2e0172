"""Figures of projects, as they are, as they were, and beside each other."""

from __future__ import annotations

from tracker.ledger.figures import Figures
from tracker.web.api.operations import add_routes
from tracker.web.api.routing import resource

router = add_routes(resource("figures"), Figures)
