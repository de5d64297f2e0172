"""The moments to which a reader may go back: a part of a project's pages."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tracker.web.identity import Role, needs
from tracker.web.request import AskedLedger, At
from tracker.web.templating import page

router = APIRouter(include_in_schema=False)
_MOST = 200


@router.get("/projects/{project:name}/moments", dependencies=[needs(Role.VIEWER)])
def moments_part(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    moments = asked.figure(
        place.project, "moments", compute=lambda it: it.moments(place.project, _MOST)
    )
    # As texts: of two moments written alike the later one is greater.
    shown = sum(moment < place.as_of for moment in moments) if place.as_of else len(moments)
    return page(request, "moments.html", place=place, moments=moments, shown=shown)
