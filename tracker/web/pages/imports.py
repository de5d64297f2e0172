"""Imports: the list, files to look at before they are imported, undo."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel

from tracker.core.errors import InvalidOption, TrackerError
from tracker.imports.preview import layout_lines, reading_rows
from tracker.ledger import Ledger
from tracker.render.nouns import count_noun
from tracker.web.file_form import FIELDS, filled_fields
from tracker.web.identity import Role, needs
from tracker.web.import_options import ImportOptions, arguments_of_import, with_fields
from tracker.web.jobs import Outcome, Step
from tracker.web.pages.jobs import see_job
from tracker.web.request import AskedLedger, At
from tracker.web.templating import page, see
from tracker.web.uploads import Staged, uploaded

router = APIRouter(include_in_schema=False)
Number = Annotated[int, Path(ge=1, lt=2**31)]


_NOTHING: dict[str, Any] = {
    "columns": [], "preview": [], "rejections": [], "rows": 0, "rejected": 0
}  # fmt: skip


class Sent(BaseModel, extra="allow"):
    """What the page of files that wait sends, beside the fields that say how they are read.

    Attributes:
        skip_invalid: whether rows that cannot be read are left out.
        action: ``look`` again, or ``import``.
    """

    skip_invalid: bool = False
    action: str = "look"

    @property
    def fields(self) -> dict[str, Any]:
        """The other fields."""
        return self.model_extra or {}


@router.get("/projects/{project:name}/imports", dependencies=[needs(Role.VIEWER)])
def imports_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    """Show the imports into a project, and what a job that made the last one warned of."""
    imports = [one.to_dict() for one in asked.ledger.imports.list(place.project)][::-1]
    rows = [one | {"reading": reading_rows(one)} for one in imports]
    last = rows[0]["import"] if rows and not rows[0]["undone_at"] else None
    jobs = [job for job in request.app.state.jobs.list() if job.project == place.project]
    results = [job.outcome.result or {} for job in jobs if job.outcome]
    warnings = [
        sentence
        for result in results
        if last is not None and result.get("import") == last
        for sentence in result.get("warnings", ())
    ]
    return page(
        request, "imports.html", place=place, tab="imports", rows=rows, warnings=warnings,
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


@router.post("/imports", dependencies=[needs(Role.MANAGER)])
async def look(request: Request) -> Response:
    """Take files, and show what their import would do."""
    state = request.app.state
    async with uploaded(request, None) as sent:
        project = (sent.fields.get("project") or [""])[-1].strip()
        if not project:
            raise InvalidOption("the project has no name", "name the project to import into")
        files = [file for file in sent.files if file[1]]
        staged = await run_in_threadpool(state.staging.keep, project, files)
    return await run_in_threadpool(_preview, request, staged)


@router.get("/imports/{token}", dependencies=[needs(Role.MANAGER)])
def staged_page(request: Request, token: str) -> HTMLResponse:
    """Show what the import of some files would do."""
    staged: Staged = request.app.state.staging.get(token)
    found = staged.found or _NOTHING
    layouts = [(one["source"], layout_lines(one)) for one in found["columns"]]
    formats = [one.to_dict()["format"] for one in Ledger.formats()]
    return page(request, "staged.html", staged=staged, found=found, layouts=layouts,
                fields=FIELDS, formats=formats)  # fmt: skip


@router.post("/imports/{token}", dependencies=[needs(Role.MANAGER)])
def import_staged(
    request: Request, token: str, asked: AskedLedger, form: Annotated[Sent, Form()]
) -> RedirectResponse:
    """Import files that were looked at, or look at them anew, read otherwise."""
    staged: Staged = request.app.state.staging.get(token)
    staged.form = filled_fields({name: str(text) for name, text in form.fields.items()})
    options = with_fields(ImportOptions(), staged.form)
    staged.options = arguments_of_import(options) | {"skip_invalid": form.skip_invalid}
    if form.action != "import":
        return _preview(request, staged)
    ledger = asked.ledger

    def work(step: Step) -> Outcome:
        result = ledger.import_uploads(
            staged.files, staged.project, progress=step, **staged.options
        )
        request.app.state.staging.drop(token)
        sentence = f"Imported {count_noun(result.rows, result.unit)}: {result.inserted:,} are new."
        return Outcome(sentence, ("projects", staged.project, "imports"), result.to_dict())

    return see_job(request, _started(request, "Import", staged, work))


def _preview(request: Request, staged: Staged) -> RedirectResponse:
    """Find out what an import would do, and show it."""
    ledger: Ledger = request.app.state.ledger

    def work(step: Step) -> Outcome:
        staged.found = staged.problem = None
        try:
            found = ledger.import_uploads(
                staged.files, staged.project, progress=step, **staged.options | {"preview": True}
            )
            staged.found = found.to_dict() | {"unit": found.unit}
        except TrackerError as problem:  # the page asks how to read them otherwise
            staged.problem = problem
        return Outcome("The files were read.", ("imports", staged.token))

    return see_job(request, _started(request, "Look at", staged, work))


def _started(request: Request, verb: str, staged: Staged, work: Any) -> Any:
    names = ", ".join(name for _, name in staged.files)
    who = request.state.identity.name
    return request.app.state.jobs.start(
        f"{verb} {names}", staged.project, who, work, form=("imports", staged.token)
    )
