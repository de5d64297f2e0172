"""One project: whether its labels can be trusted, and how far it is."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tracker.web import known
from tracker.web.asking import AskedLedger
from tracker.web.identity import Role, needs
from tracker.web.place import At
from tracker.web.templating import page

router = APIRouter(include_in_schema=False)


@router.get("/projects/{project:name}", dependencies=[needs(Role.VIEWER)])
def project_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    """Show a project."""
    questions = known.agreement_of(asked, place).questions
    found = [
        {"name": one.question.name, "main": one.main.to_dict(),
         "categories": one.assessment.to_dict()["categories"]}
        for one in questions
    ]  # fmt: skip
    statuses = [one.to_dict() | {"question": one.question.name}
                for one in known.progress_of(asked, place)]  # fmt: skip
    return page(request, "project.html", place=place, found=found, statuses=statuses,
                notices=asked.notices)  # fmt: skip
