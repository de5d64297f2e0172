"""Who changed what in a project, and when."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Response

from tracker.counts.choosing import ChosenActs
from tracker.ledger import Ledger
from tracker.ledger.projects import Projects
from tracker.web.api.parameters import query_of
from tracker.web.api.routing import Answer, Cursor, Limit, reads, resource
from tracker.web.api.schema import model_of

router = resource("records")
_CHANGES = model_of(Projects.changes)


@router.get("/projects/{project:segment}/changes", **reads("listProjectChanges", _CHANGES))
def list_changes(
    answer: Answer,
    project: str,
    which: Annotated[ChosenActs, query_of(ChosenActs)],
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Return who changed what, newest first; `tracker project changes P`.

    `Link` has the address of the next page, unless this is the last.
    """

    def compute(ledger: Ledger) -> tuple[Any, str | None]:
        trail = ledger.projects.changes(project, limit, before=cursor, **which)
        return trail.to_dict(), trail.next

    return answer.page(project, compute)
