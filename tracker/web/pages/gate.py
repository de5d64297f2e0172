"""A gate: thresholds, and whether a project holds them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse

from tracker.core.errors import NoFigures, TrackerError
from tracker.gate.tables import CHECKS, gate_rows, gate_summary_text
from tracker.web.identity import Role, needs
from tracker.web.request import AskedLedger, At
from tracker.web.templating import page

router = APIRouter(include_in_schema=False)
_LONGEST = 100_000  # signs of a file of checks


@router.get("/projects/{project:name}/gate", dependencies=[needs(Role.VIEWER)])
def gate_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    """Show checks that the project passes as it is, to begin with; how to get there without any."""
    try:
        text = asked.figure(
            place.project, "gate", place.key,
            compute=lambda it: it.gate_config(place.project, **place.selecting),
        )  # fmt: skip
    except NoFigures:
        text = None
    return page(request, "gate.html", place=place, tab="gate", text=text, found=None, problem=None,
                summary="")  # fmt: skip


@router.post("/projects/{project:name}/gate", dependencies=[needs(Role.VIEWER)])
def run_gate(
    request: Request,
    place: At,
    asked: AskedLedger,
    text: Annotated[str, Form(max_length=_LONGEST)] = "",
) -> HTMLResponse:
    """Hold the project to the checks of a text; nothing is stored."""
    found, problem = None, None
    try:
        found = asked.ledger.gate_text(place.project, text, **place.selecting)
    except TrackerError as error:  # the text is shown again, to be corrected
        problem = error
    return page(
        request, "gate.html", place=place, tab="gate", text=text, found=found, problem=problem,
        summary="" if found is None else gate_summary_text(found), columns=CHECKS,
        rows=[] if found is None else gate_rows(found),
        status=422 if problem else 200,
    )  # fmt: skip
