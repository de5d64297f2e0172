"""What somebody who annotates may see, and object to: their own report in each project."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from tracker.audit.annotator_tables import own_finding_lines
from tracker.core.errors import NotFound, TrackerError
from tracker.ledger import Ledger
from tracker.web.identity import Identity, Role, needs
from tracker.web.request import Asked, AskedLedger
from tracker.web.templating import page, render_sections, see_page

router = APIRouter(include_in_schema=False)


@router.get("/me", dependencies=[needs(Role.ANNOTATOR)])
def own_page(request: Request, asked: AskedLedger) -> HTMLResponse:
    who: Identity = request.state.identity
    reports = [_report(asked, place, *own) for place, own in enumerate(who.annotators)]
    return page(request, "me.html", reports=reports)


def _report(asked: Asked, place: int, project: str, annotator: str) -> dict[str, Any]:
    """Return a report as the page shows it, or why there is none."""

    def compute(ledger: Ledger) -> dict[str, Any]:
        return ledger.annotator_report_by_question(project, annotator).to_dict()

    from tracker.report.annotators import own_figures
    from tracker.report.document import Section
    from tracker.report.people_words import OWN_ANSWERS

    progress = asked.ledger.assignments.progress(project, [annotator])
    payload = {
        "project": project, "annotator": annotator,
        "open": sum(row.open + row.late for row in progress),
    }  # fmt: skip
    try:
        report = asked.figure(project, "own report", annotator, compute=compute)
    except TrackerError as error:
        return {**payload, "missing": error.message, "questions": []}
    pages = []
    for number, part in enumerate(report.get("questions", [report])):
        title, figures = part.get("question", OWN_ANSWERS), own_figures(part, f"{place}-{number}")
        pages.append({
            "figures": render_sections([Section(f"own-{place}-{number}", title, [*figures])]),
            "findings": [finding | {"answers": [*own_finding_lines(finding)]}
                         for finding in part["findings"]],
        })  # fmt: skip
    return {**payload, "missing": None, "questions": pages}


class Appealing(BaseModel):
    """An annotator's objection to a finding about their answers."""

    project: str = ""
    flag: Annotated[int, Field(ge=1, lt=2**31)] = 1
    note: Annotated[str, Field(max_length=2000)] = ""


@router.post("/me/appeal", dependencies=[needs(Role.ANNOTATOR)])
def appeal(
    request: Request, asked: AskedLedger, form: Annotated[Appealing, Form()]
) -> RedirectResponse:
    """Record the reader's objection to a finding about their own answers."""
    who: Identity = request.state.identity
    names = [name for project, name in who.annotators if project == form.project]
    known = asked.ledger.flags
    own = {
        row.flag
        for name in names
        for row in known.list(form.project, states=["all"], annotator=name).flags
    }
    if form.flag not in own:
        raise NotFound("there is no such finding about your answers", "load the page again")
    known.appeal(form.project, form.flag, by=who.name, note=form.note)
    return see_page(request, "me")
