"""One project: how far it is, and whether its labels can be trusted."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tracker.web.asking import AskedLedger
from tracker.web.identity import Role, needs
from tracker.web.templating import page

router = APIRouter(include_in_schema=False)


@router.get("/projects/{project:path}", dependencies=[needs(Role.VIEWER)])
def project_page(request: Request, project: str, asked: AskedLedger) -> HTMLResponse:
    """Show a project."""
    found = asked.figure(project, "status", compute=lambda it: it.status_by_question(project))
    return page(request, "project.html", project=project, found=found, notices=asked.notices)
