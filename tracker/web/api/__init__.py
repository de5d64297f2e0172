"""The interface for programs: routes made of operations, and those by hand, one file a resource."""

from __future__ import annotations

from tracker.ledger.adjudication import Adjudication
from tracker.ledger.annotators import Annotators
from tracker.ledger.answering import Answering
from tracker.ledger.assignments import Assignments
from tracker.ledger.auditing import AuditFindings
from tracker.ledger.categories import Categories
from tracker.ledger.digests import Digests
from tracker.ledger.estimates import Estimates
from tracker.ledger.figures import Figures
from tracker.ledger.flags import Flags
from tracker.ledger.history import Snapshots
from tracker.ledger.judges import Judging
from tracker.ledger.notes import Notes
from tracker.ledger.panels import Panels
from tracker.ledger.pay import Pay
from tracker.ledger.questions import Questions
from tracker.ledger.rounds import Rounds
from tracker.ledger.rules import Rules
from tracker.ledger.webhooks import Webhooks
from tracker.web.api import changes, exports, gate, hooks, imports, items, jobs, projects, uploads
from tracker.web.api.openapi import openapi_router
from tracker.web.api.operations import add_routes
from tracker.web.api.routing import resource

_ROUTERS = [
    projects.router,
    add_routes(resource("figures"), Figures, Estimates, Panels, Digests, Snapshots),
    add_routes(resource("findings"), AuditFindings, Flags),
    gate.router,
    items.router,
    add_routes(resource("adjudication"), Adjudication),
    add_routes(resource("judges"), Judging),
    add_routes(resource("records"), Annotators, Categories, Questions, Notes),
    add_routes(resource("work"), Assignments, Answering, Rounds, Rules, Pay),
    changes.router,
    imports.router,
    uploads.router,
    exports.router,
    jobs.router,
    hooks.router,
    add_routes(resource("hooks"), Webhooks),
]
API = (*_ROUTERS, openapi_router(_ROUTERS))
"""The routes of the interface, and that of its description."""
