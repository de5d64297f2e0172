"""Audits, recorded findings, and what is done about them."""

from __future__ import annotations

from tracker.ledger.auditing import AuditFindings
from tracker.ledger.flags import Flags
from tracker.web.api.operations import add_routes
from tracker.web.api.routing import resource

router = add_routes(resource("findings"), AuditFindings, Flags)
