"""A search by name: projects, annotators and items."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from tracker.web.identity import Role, needs
from tracker.web.request import Asked, AskedLedger
from tracker.web.templating import page

router = APIRouter(include_in_schema=False)
_MOST = 10  # items or annotators of a project


@router.get("/search", dependencies=[needs(Role.VIEWER)])
def search_page(
    request: Request, asked: AskedLedger, q: Annotated[str, Query(max_length=500)] = ""
) -> HTMLResponse:
    """Show what has a text in its name, and items that have it in their text."""
    wanted = q.strip()
    names = dict.fromkeys(one.project.name for one in asked.ledger.projects.list())
    found = [_in_project(asked, name, wanted) for name in names] if wanted else []
    hits = [one for one in found if one["named"] or one["annotators"] or one["found"]]
    return page(request, "search.html", q=wanted, hits=hits)


def _in_project(asked: Asked, project: str, wanted: str) -> dict[str, Any]:
    people = [one.annotator.name for one in asked.ledger.annotators.list(project)]
    text = wanted.casefold()
    return {
        "project": project,
        "named": text in project.casefold(),
        "annotators": [name for name in people if text in name.casefold()][:_MOST],
        "found": asked.ledger.items.list_page(project, _MOST, search=wanted).items,
    }
