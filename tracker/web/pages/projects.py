"""All projects, and how far they are."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tracker.web.asking import AskedLedger
from tracker.web.identity import Role, needs
from tracker.web.templating import page

router = APIRouter(include_in_schema=False)


@router.get("/", dependencies=[needs(Role.VIEWER)])
def projects_page(request: Request, asked: AskedLedger) -> HTMLResponse:
    """Show all projects that are not archived."""
    return page(request, "projects.html", found=asked.ledger.statuses())
