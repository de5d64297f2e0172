"""What somebody who annotates may see: their own report in each project, and nothing else."""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tracker.core.errors import TrackerError
from tracker.ledger import Ledger
from tracker.render.annotator import compared_figures
from tracker.render.audit import finding_item_line
from tracker.web.asking import Asked, AskedLedger
from tracker.web.identity import Identity, Role, needs
from tracker.web.templating import page

router = APIRouter(include_in_schema=False)
_TEST = re.compile(r"\b[pq] = ")


@router.get("/me", dependencies=[needs(Role.ANNOTATOR)])
def own_page(request: Request, asked: AskedLedger) -> HTMLResponse:
    """Show the reader's own reports."""
    who: Identity = request.state.identity
    reports = [_report(asked, project, name) for project, name in who.annotators]
    return page(request, "me.html", reports=reports, notices=asked.notices)


def _report(asked: Asked, project: str, annotator: str) -> dict[str, Any]:
    """Return a report as the page shows it, or why there is none."""

    def compute(ledger: Ledger) -> dict[str, Any]:
        return ledger.annotator_report_by_question(project, annotator).to_dict()

    told = {"project": project, "annotator": annotator}
    try:
        found = asked.figure(project, "own report", annotator, compute=compute)
    except TrackerError as error:
        return {**told, "missing": error.message, "questions": []}
    pages = [
        {
            "question": one.get("question"),
            "rows": compared_figures(one),
            "findings": [_finding(flag) for flag in one["findings"]],
        }
        for one in found.get("questions", [found])
    ]
    return {**told, "missing": None, "questions": pages}


def _finding(flag: dict[str, Any]) -> dict[str, Any]:
    """Return a finding in words: how sure a test is of it says little to whom it concerns."""
    said = [part for part in str(flag["why"]).rstrip(".").split("; ") if not _TEST.search(part)]
    return {
        "why": "; ".join(said) + ".",
        "answers": [finding_item_line(row) for row in flag["items"]],
    }
