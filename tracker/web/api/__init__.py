"""The interface for programs, one file a resource; a resource is a file here and a line below."""

from __future__ import annotations

from tracker.web.api import (
    annotators,
    categories,
    changes,
    exports,
    figures,
    findings,
    gate,
    hooks,
    imports,
    items,
    jobs,
    notes,
    projects,
    questions,
    snapshots,
    uploads,
    webhooks,
)
from tracker.web.api.openapi import openapi_router

_RESOURCES = (
    projects, figures, snapshots, findings, gate, items, annotators,
    categories, questions, notes, changes, imports, uploads, exports, jobs, hooks,
    webhooks,
)  # fmt: skip
_ROUTERS = [resource.router for resource in _RESOURCES]
API = (*_ROUTERS, openapi_router(_ROUTERS))
"""The routes of the interface, and that of its description."""
