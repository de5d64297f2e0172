"""Imports: the list, with the one just made on top, and undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from tracker.core.errors import InvalidOption
from tracker.imports.preview import reading_rows
from tracker.web.identity import Role, needs
from tracker.web.pages.staged import import_sentence
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page, see

if TYPE_CHECKING:
    from tracker.imports.loader import ImportResult
    from tracker.imports.resembling import Resemblance

router = APIRouter(include_in_schema=False)
Number = Annotated[int, Path(ge=1, lt=2**31)]


@router.get("/projects/{project:name}/imports", dependencies=[needs(Role.VIEWER)])
def imports_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    imports = [info.to_dict() for info in asked.ledger.imports.list(place.project)][::-1]
    rows = [imported | {"reading": reading_rows(imported)} for imported in imports]
    last = rows[0]["import"] if rows and not rows[0]["undone_at"] else None
    jobs = [job for job in request.app.state.jobs.list() if job.project == place.project]
    results = [job.outcome.imported for job in jobs if job.outcome and job.outcome.imported]
    results = [result for result in results if result.id == last][:1]
    offers = [offer for result in results for offer in _offers(asked, place, result)]
    return page(
        request, "imports.html", place=place, tab="imports", rows=rows,
        made=[(result.id, import_sentence(result)) for result in results], offers=offers,
        warnings=[text for result in results for text in result.warnings
                  if text not in {pair.sentence for pair in result.resembling}],
        jobs=[job for job in jobs if job.state != "done"],
    )  # fmt: skip


def _offers(asked: Asked, place: Place, result: ImportResult) -> list[tuple[Resemblance, str]]:
    """Return the new names of an import that may be others and still stand, with the question."""
    ledger, project = asked.ledger, place.project
    offers = []
    for pair in result.resembling:
        if pair.what == "annotator":
            question, names = "", {row.annotator.name for row in ledger.annotators.list(project)}
        else:
            question = pair.question or ledger.questions.list(project)[0].name
            names = {*ledger.categories.list(project, question=question).labels}
        if {pair.goes, pair.stays} <= names and pair.sentence in result.warnings:
            offers.append((pair, question))
    return offers


@router.post("/projects/{project:name}/imports/{number}/undo", dependencies=[needs(Role.MANAGER)])
def undo_import(
    request: Request, place: At, number: Number, asked: AskedLedger
) -> RedirectResponse:
    if asked.ledger.imports.show(number).to_dict()["project"] != place.project:
        raise InvalidOption(f"import {number} is not one into {place.project!r}")
    asked.ledger.imports.undo(number)
    return see(request, place, "imports")
