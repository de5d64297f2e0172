"""Imports: the list, with the one just made on top, and undo."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from tracker.core.errors import InvalidOption
from tracker.imports.preview import outcome_sentence, reading_rows
from tracker.web.identity import Role, needs
from tracker.web.request import AskedLedger, At
from tracker.web.templating import page, see

router = APIRouter(include_in_schema=False)
Number = Annotated[int, Path(ge=1, lt=2**31)]


@router.get("/projects/{project:name}/imports", dependencies=[needs(Role.VIEWER)])
def imports_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    """Show the imports into a project, and what a job that made the last one said of it."""
    imports = [info.to_dict() for info in asked.ledger.imports.list(place.project)][::-1]
    rows = [imported | {"reading": reading_rows(imported)} for imported in imports]
    last = rows[0]["import"] if rows and not rows[0]["undone_at"] else None
    jobs = [job for job in request.app.state.jobs.list() if job.project == place.project]
    results = [job.outcome.result or {} for job in jobs if job.outcome]
    made = [result for result in results if last is not None and result.get("import") == last][:1]
    return page(
        request, "imports.html", place=place, tab="imports", rows=rows,
        made=[(result["import"], outcome_sentence(result)) for result in made],
        warnings=[sentence for result in made for sentence in result.get("warnings", ())],
        jobs=[job for job in jobs if job.state != "done"],
    )  # fmt: skip


@router.post("/projects/{project:name}/imports/{number}/undo", dependencies=[needs(Role.MANAGER)])
def undo_import(
    request: Request, place: At, number: Number, asked: AskedLedger
) -> RedirectResponse:
    """Undo an import."""
    if asked.ledger.imports.show(number).to_dict()["project"] != place.project:
        raise InvalidOption(f"import {number} is not one into {place.project!r}")
    asked.ledger.imports.undo(number)
    return see(request, place, "imports")
