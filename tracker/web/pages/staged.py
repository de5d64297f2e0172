"""Files that wait: what their import would do, and how else they can be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from fastapi import APIRouter, Form, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel

from tracker.core.errors import InvalidOption, NotFound, TrackerError
from tracker.imports.choosing import ItemOptions
from tracker.imports.columns import CHOICES, fields_read_before, joined_fields, split_fields
from tracker.imports.preview import layout_lines, outcome_sentence
from tracker.ledger import Ledger
from tracker.render.formats import csv_lines
from tracker.web.file_form import ACCEPT, FIELDS, Field, filled_fields
from tracker.web.identity import Role, needs
from tracker.web.import_options import ImportOptions, arguments_of_import, with_fields
from tracker.web.jobs import Outcome, Step
from tracker.web.pages.jobs import see_job
from tracker.web.request import AskedLedger
from tracker.web.templating import page
from tracker.web.uploads import Staged, uploaded
from tracker.web.wording import long_options

if TYPE_CHECKING:
    from tracker.imports.columns import Grid
    from tracker.imports.loader import ImportResult
    from tracker.imports.resembling import Resemblance

router = APIRouter(include_in_schema=False)

_MANAGERS = [needs(Role.MANAGER)]
_MOST_ROWS = 100  # that cannot be read
_NO_ANSWERS = "annotator or the category"  # are the columns that a refused file lacks
_MOST_GRIDS = 5
_MOST_COLUMNS = 60
_MOST_ASKED = 20  # names that resemble others
_MOST_IMPORTS = 5  # that are looked at for one of the same columns
_WHERE_COLUMNS_ARE = ("header_row", "no_header", "sheet", "format")


class Sent(BaseModel, extra="allow"):
    """What the page of files that wait sends, beside the fields that say how they are read.

    Attributes:
        skip_invalid: whether rows that cannot be read are left out.
        action: ``look`` again, ``import``, import as ``items``, or ``afresh``: look as if nothing
            were said.
    """

    skip_invalid: bool = False
    action: str = "look"

    @property
    def fields(self) -> dict[str, str]:
        """The other fields; several values of one are its lines."""
        fields = self.model_extra or {}
        lists = {name: text if isinstance(text, list) else [text] for name, text in fields.items()}
        return {name: "\n".join(map(str, lines)) for name, lines in lists.items()}


class BadRow(NamedTuple):
    """A row that cannot be read, as it stands in the file.

    Attributes:
        line: on which it is.
        cells: all of them.
        place: that of the bad one, from 0.
        reason: what is wrong.
    """

    line: int
    cells: Sequence[str]
    place: int | None
    reason: str


class Column(NamedTuple):
    """A column of a table, and what is chosen above it.

    Attributes:
        field: the name of the choice in the form.
        choice: what somebody chose; empty if they leave it to the reader.
        role: what the reader takes it for, in words.
    """

    field: str
    name: str
    choice: str
    role: str


@router.post("/imports", dependencies=_MANAGERS)
async def look(request: Request) -> Response:
    state = request.app.state
    async with uploaded(request, None) as sent:
        project = (sent.fields.get("project") or [""])[-1].strip()
        if not project:
            raise InvalidOption("the project has no name", "name the project to import into")
        files = [file for file in sent.files if file[1]]
        staged = await run_in_threadpool(state.staging.keep, project, files)
    return await run_in_threadpool(_preview, request, staged, first=True)


@router.get("/imports/{token}", dependencies=_MANAGERS)
def staged_page(request: Request, token: str) -> HTMLResponse:
    staged: Staged = request.app.state.staging.get(token)
    made = staged.made
    asked = _asked(staged)
    odd = () if made is None else made.odd
    mend = "" if staged.problem is None else staged.problem.mend or ""
    ways = [one.option for one in odd] + ([] if mend.startswith("say which") else [mend])
    questions = {pair.sentence for pair in asked}
    warnings = [] if made is None else [text for text in made.warnings if text not in questions]
    layouts = (
        []
        if made is None
        else [(layout["source"], layout_lines(layout)) for layout in made.columns]
    )
    bad, others = _bad_rows(staged)
    chosen, rest = split_fields(staged.form, _names(staged.grids))
    return page(
        request, "staged.html", staged=staged, made=made, layouts=layouts, bad=bad, others=others,
        sentence="" if made is None else import_sentence(made),
        as_items=staged.items and import_sentence(staged.items),
        lacks_answers=_lacks_answers(staged), odd=odd, mend=mend,
        warnings=warnings, asked=[(pair, staged.same.get(_key(pair))) for pair in asked],
        grids=_shown(staged, chosen), filled=rest, choices=[*CHOICES.items()],
        most_columns=_MOST_COLUMNS, most_rows=_MOST_ROWS, form_fields=_fields(staged.grids, ways),
    )  # fmt: skip


@router.post("/imports/{token}", dependencies=_MANAGERS)
def import_staged(
    request: Request, token: str, asked: AskedLedger, form: Annotated[Sent, Form()]
) -> RedirectResponse:
    """Import files that were looked at, or look at them anew, read otherwise."""
    staged: Staged = request.app.state.staging.get(token)
    if form.action == "afresh":
        staged.form, staged.read_as = {}, None
    else:
        staged.form = _form_of(staged, form.fields)
    _set_options(staged, skip_invalid=form.skip_invalid)
    if form.action not in {"import", "items"}:
        return _preview(request, staged)
    ledger = asked.ledger
    ledger.database.wait = None  # the usual time: a job holds up no request

    def work(step: Step) -> Outcome:
        if form.action == "items":
            result = _register_items(ledger, staged, step, skip_invalid=form.skip_invalid)
        else:
            files, project = staged.files, staged.project
            result = ledger.import_uploads(files, project, progress=step, **staged.options)
        request.app.state.staging.drop(token)
        result = _as_answered(ledger, staged, result)
        place, sentence = ("projects", staged.project, "imports"), import_sentence(result)
        return Outcome(f"Imported: {sentence}.", place, result.to_dict(), result)

    return see_job(request, _started(request, "Import", staged, work))


@router.post("/imports/{token}/files", dependencies=_MANAGERS)
async def choose_again(request: Request, token: str) -> Response:
    """Take other files in place of those that wait, and look at them, read in the same way."""
    staging = request.app.state.staging
    staged: Staged = staging.get(token)
    async with uploaded(request, None) as sent:
        files = [file for file in sent.files if file[1]]
        await run_in_threadpool(staging.replace, staged, files)
    return await run_in_threadpool(_preview, request, staged)


@router.get("/imports/{token}/rejected/{number}", dependencies=_MANAGERS)
def rejected_rows(request: Request, token: str, number: int) -> Response:
    """Return the rows of a file that cannot be read, with the reasons, to be corrected."""
    bad, _ = _bad_rows(request.app.state.staging.get(token))
    if not 0 <= number < len(bad):
        raise NotFound("there is no such file", "look at the page of the files")
    table, rows = bad[number]
    lines = csv_lines([*table.names, "reason"], ([*row.cells, row.reason] for row in rows))
    return Response(
        "".join(f"{line}\n" for line in lines), media_type="text/csv",
        headers={"content-disposition": 'attachment; filename="rejected.csv"'},
    )  # fmt: skip


def import_sentence(result: ImportResult) -> str:
    return outcome_sentence(result.to_dict(), "answer" if result.unit == "row" else result.unit)


# -- What is shown ---------------------------------------------------------------------------------


def _bad_rows(staged: Staged) -> tuple[list[tuple[Grid, list[BadRow]]], list[Any]]:
    """Return the rows that cannot be read by their tables, and rejections of other files."""
    rejections = () if staged.made is None else staged.made.rejections
    tables = {table.source: (table, list[BadRow]()) for table in staged.grids if table.rejected}
    others = []
    for rejection in rejections:
        table, rows = tables.get(rejection.source, (None, []))
        cells = None if table is None else table.rejected.get(rejection.line)
        if table is None or cells is None:
            others.append(rejection)
            continue
        place = table.names.index(rejection.column) if rejection.column in table.names else None
        rows.append(BadRow(rejection.line, cells, place, rejection.reason))
    by_table = [(table, sorted(rows, key=attrgetter("line"))) for table, rows in tables.values()]
    return [pair for pair in by_table if pair[1]], others


def _shown(staged: Staged, chosen: Mapping[str, str]) -> list[tuple[Grid, list[Column]]]:
    """Return the first tables with their columns; of those with the same columns one."""
    different: dict[tuple[str, ...], tuple[Grid, list[Column]]] = {}
    for n, table in enumerate(staged.grids):
        columns = [
            Column(f"column.{n}.{place}", name, chosen.get(name, ""), _role(table, name, staged))
            for place, name in enumerate(table.names[:_MOST_COLUMNS])
        ]
        different.setdefault((*table.names,), (table, columns))
    return [*different.values()][:_MOST_GRIDS]


def _role(table: Grid, name: str, staged: Staged) -> str:
    """Return what the reader takes a column for, in words."""
    role = table.roles.get(name, "")
    if not role:
        return "" if staged.made is None else "left out"
    return CHOICES.get("--keep" if role == "keep" else role, role)


def _fields(grids: Iterable[Grid], ways: Iterable[str]) -> list[Field]:
    """Return the fields with their choices; those that ``ways`` name stand next to the columns.

    Without that of the sheet, if there are not several.
    """
    deciding = re.findall(r"--[a-z-]+", " ".join(map(long_options, ways)))
    sheets = tuple(dict.fromkeys(name for table in grids for name in table.sheets))
    formats = tuple(reader.name for reader in Ledger.formats())
    known = {"sheet": sheets, "format": formats}
    return [
        replace(
            field,
            choices=known.get(field.name, field.choices),
            beside=field.beside or field.option in deciding,
        )
        for field in FIELDS
        if field.name not in {ACCEPT, "" if len(sheets) > 1 else "sheet"}
    ]


def _asked(staged: Staged) -> list[Resemblance]:
    """Return the new names of which is asked whether they are known ones."""
    resembling = () if staged.made is None else staged.made.resembling
    return [pair for pair in resembling if pair.known and "=" not in pair.name][:_MOST_ASKED]


def _key(pair: Resemblance) -> tuple[str, ...]:
    return pair.what, pair.question, pair.name


# -- What was sent ---------------------------------------------------------------------------------


def _names(grids: Iterable[Grid]) -> set[str]:
    return {name for table in grids for name in table.names if name}


def _form_of(staged: Staged, sent: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the fields that say how files are read, from all that the page sends."""
    form = filled_fields(sent)
    before, _ = split_fields(staged.form, _names(staged.grids))
    selected = {
        name: choice
        for n, table in enumerate(staged.grids)
        for place, name in enumerate(table.names)
        if (choice := sent.get(f"column.{n}.{place}")) is not None and name
    }
    changed = {n: choice for n, choice in selected.items() if choice != before.get(n, "")}
    choices = {**before, **changed} if selected else {}
    if any(form.get(name) != staged.form.get(name) for name in _WHERE_COLUMNS_ARE):
        choices = {}  # they were of other columns
    choices = {name: choice for name, choice in choices.items() if choice in CHOICES}
    form = joined_fields(choices, form)
    for n, pair in enumerate(_asked(staged)):
        said = sent.get(f"same.{n}")
        if said in {"", pair.name}:
            staged.same[_key(pair)] = bool(said)
            if said and pair.what == "category":
                of = f"{pair.question}:" if pair.question else ""
                form.setdefault("value", []).append(f"{of}{pair.name}={pair.other}")
    return {name: [*dict.fromkeys(lines)] for name, lines in form.items()}


def _as_answered(ledger: Ledger, staged: Staged, result: ImportResult) -> ImportResult:
    """Join the annotators who are one person, and return the import without what was answered."""
    warnings = dict.fromkeys(result.warnings)
    for pair in result.resembling:
        same = staged.same.get(_key(pair))
        if same and pair.what == "annotator":
            with suppress(TrackerError):  # somebody was faster; the import is made all the same
                ledger.annotators.merge(staged.project, pair.goes, into=pair.stays)
                warnings[f"{pair.goes!r} counts as {pair.stays!r} now"] = None
        if same is not None:
            warnings.pop(pair.sentence, None)
    return replace(result, warnings=tuple(warnings))


def _set_options(staged: Staged, *, skip_invalid: bool = False) -> None:
    options = with_fields(ImportOptions(), staged.form)
    staged.options = arguments_of_import(options) | {"skip_invalid": skip_invalid}


# -- What is done ----------------------------------------------------------------------------------


def _preview(request: Request, staged: Staged, *, first: bool = False) -> RedirectResponse:
    """Find out what an import would do, and show it; at first read as one before was."""
    ledger: Ledger = request.app.state.ledger

    def work(step: Step) -> Outcome:
        staged.made = staged.items = staged.problem = None
        if first:
            _read_as_before(ledger, staged)
        try:
            staged.made = ledger.import_uploads(
                staged.files, staged.project, progress=step, **staged.options | {"preview": True}
            )
        except TrackerError as problem:  # the page asks how to read them otherwise
            staged.problem = problem
        staged.grids = ledger.grids(staged.files, staged.made, **staged.options)
        if _lacks_answers(staged):
            with suppress(TrackerError):  # these are no items either
                how = {"skip_invalid": True, "dry_run": True}
                staged.items = _register_items(ledger, staged, step, **how)
        return Outcome("The files were read.", ("imports", staged.token))

    return see_job(request, _started(request, "Look at", staged, work))


def _lacks_answers(staged: Staged) -> bool:
    """Return whether no column of the files was found or chosen for annotators or answers."""
    roles = {role for table in staged.grids for role in table.roles.values()}
    message = "" if staged.problem is None else staged.problem.message
    return _NO_ANSWERS in message and roles.isdisjoint({"annotator", "category", "annotators"})


def _register_items(ledger: Ledger, staged: Staged, step: Step, **how: bool) -> ImportResult:
    """Register the rows of files as items that need no answers."""
    options = arguments_of_import(with_fields(ImportOptions(), staged.form), ItemOptions) | how
    files, project = staged.files, staged.project
    result = ledger.import_uploads(files, project, items=True, progress=step, **options)
    return replace(result, unit="item")


def _read_as_before(ledger: Ledger, staged: Staged) -> None:
    """Fill in how the last import of files with the same columns was read."""
    try:
        imports = ledger.imports.list(staged.project)
    except NotFound:
        return
    standing = [info.to_dict() for info in imports if info.undone_at is None]
    tables: dict[int | None, list[Grid]] = {}  # by the line of the header
    for imported in standing[: -_MOST_IMPORTS - 1 : -1]:
        header = (imported["read"] or {}).get("header_row")
        header = None if header == 1 else header  # it is found
        how: Any = {"no_header": True} if header == 0 else {"header_row": header}
        if header not in tables:
            tables[header] = ledger.grids(staged.files, **how)
        fields = [fields_read_before(imported, table) for table in tables[header]]
        if fields and all(other == fields[0] is not None for other in fields):
            if not fields[0]:
                return  # the reader makes it out by itself
            staged.form, staged.read_as = fields[0], imported["import"]
            _set_options(staged)
            return


def _started(request: Request, verb: str, staged: Staged, work: Any) -> Any:
    names = ", ".join(name for _, name in staged.files)
    who = request.state.identity.name
    return request.app.state.jobs.start(
        f"{verb} {names}", staged.project, who, work, form=("imports", staged.token)
    )
