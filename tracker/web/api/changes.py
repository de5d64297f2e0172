"""Who changed what in a project, and when."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response

from tracker.ledger import Ledger
from tracker.ledger.projects import Projects
from tracker.web.api.routing import Answer, Cursor, Limit, next_link, reads, resource
from tracker.web.api.schema import model_of

router = resource("records")
_CHANGES = model_of(Projects.changes)


@router.get("/projects/{project:segment}/changes", **reads("listProjectChanges", _CHANGES))
def list_changes(
    request: Request, answer: Answer, project: str, limit: Limit = 100, cursor: Cursor = None
) -> Response:
    """Return who changed what, newest first; `tracker project changes P`.

    `Link` has the address of the next page, unless this is the last.
    """
    links: dict[str, str] = {}

    def compute(ledger: Ledger) -> Any:
        trail = ledger.projects.changes(project, limit, before=cursor)
        links.update(next_link(request, trail.next))
        return trail.to_dict()

    response = answer.rows(project, compute)
    response.headers.update(links)
    return response
