"""All projects: whether the labels of each can be trusted, and how far it is."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from tracker.core.errors import TrackerError
from tracker.core.kept import StillCounting
from tracker.web import known
from tracker.web.identity import Role, needs
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page, see_page

router = APIRouter(include_in_schema=False)


@router.get("/", dependencies=[needs(Role.ANNOTATOR)])
def projects_page(request: Request, asked: AskedLedger) -> Response:
    """Show all projects that are not archived; who may not see them is led to their own page."""
    if not request.state.identity.sees_projects:
        return see_page(request, "me")
    names = dict.fromkeys(one.project.name for one in asked.ledger.projects.list())
    rows = [_row_if_counted(asked, Place(name)) for name in names]
    archived = {one.project.name for one in asked.ledger.projects.list(archived=True)} - set(names)
    return page(request, "projects.html", rows=rows, archived=sorted(archived))


@router.get("/projects/{project:name}/row", dependencies=[needs(Role.VIEWER)])
def project_row(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    asked.until = None
    try:
        row = _row(asked, place) | {"older": None}
    except TrackerError as error:
        row = {"name": place.project, "problem": error.message}
    return page(request, "project_row.html", one=row)


def _row_if_counted(asked: Asked, place: Place) -> dict[str, Any]:
    before, asked.older = asked.older, None
    try:
        return _row(asked, place) | {"older": asked.older}
    except StillCounting:
        return {"name": place.project, "counting": True}
    finally:
        asked.older = before


def _row(asked: Asked, place: Place) -> dict[str, Any]:
    statuses = [one.to_dict() for one in known.progress_of(asked, place)]
    questions = known.agreement_of(asked, place).questions
    weakest = next(iter(questions), None)
    last = statuses[0]["last_import"] if statuses else None
    row = {
        "name": place.project,
        "questions": len(statuses),
        "items": max((status["items"] for status in statuses), default=0),
        "answers": sum(status["answers"] for status in statuses),
        "flags": sum(status["open_flags"] for status in statuses),
        "recorded": known.has_recorded_findings(asked, place),
        "last": last and last["recorded_at"],
        "weakest": None,
        "changed": [
            (question.question.name, question.assessment.recent_dict)
            for question in questions
            if question.assessment.recent is not None
        ],
    }
    if weakest is not None and row["answers"]:
        main = weakest.main
        row |= {
            "weakest": weakest.question.name,
            "main": main.to_dict(),
            "readiness": weakest.assessment.readiness,
            "trend": known.trend_of(asked, place, weakest.question.name, main.measure),
        }
    return row
