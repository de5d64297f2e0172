"""Imports that are sent: answers and items, in any format that is read.

FastAPI reads the annotations of these classes as they are, so they are no texts here.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from functools import partial
from typing import Annotated, Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError

from tracker.ledger.choosing import names_of_list
from tracker.ledger.projects import QuestionOptions
from tracker.web.api.answering import Answer, resource, writes
from tracker.web.api.bodies.records import AnnotatorImport, Import, ImportResult
from tracker.web.api.keyed import Key, answered_once
from tracker.web.api.parameters import LARGEST
from tracker.web.api.uploading import Uploaded, uploaded

router = resource("imports")

_AT_ONCE = 4  # imports; others wait, and hold up no request meanwhile

Filename = Annotated[
    str | None,
    Query(description="The name of a file that is sent as it is.", examples=["answers.csv"]),
]
_Words = tuple[str, ...]


@dataclass(frozen=True)
class ImportOptions:
    """How files are read, as the options of `tracker import`; in a form also as its fields."""

    format: Annotated[str | None, Query(description="Format, see /formats.")] = None
    encoding: Annotated[str | None, Query(description="Encoding, such as cp1252.")] = None
    map: Annotated[_Words, Query(description="ROLE=COLUMN (repeatable).")] = ()
    wide: Annotated[bool, Query(description="There is one column per annotator.")] = False
    question: Annotated[_Words, Query(description="NAME=COLUMN[:WORD] (repeatable).")] = ()
    value: Annotated[_Words, Query(description="OLD=NEW (repeatable).")] = ()
    separator: Annotated[str | None, Query(description="Between several categories.")] = None
    date_format: Annotated[str | None, Query(description="How dates are written.")] = None
    repeat: Annotated[str | None, Query(description="revision or pass")] = None
    annotator: Annotated[str | None, Query(description="Who gave all answers.")] = None
    annotator_from: Annotated[str | None, Query(description="file, folder or sheet")] = None
    ignore: Annotated[_Words, Query(description="Column that is not read (repeatable).")] = ()
    keep: Annotated[_Words, Query(description="Column kept as an attribute (repeatable).")] = ()
    header_row: Annotated[
        int | None, Query(description="Line of a table's header, from 1.", ge=1, le=LARGEST)
    ] = None
    no_header: Annotated[bool, Query(description="A table has no header.")] = False
    join: Annotated[str | None, Query(description="Between joined columns, as item=a+b.")] = None
    columns: Annotated[
        str | None, Query(description="Names of columns: {annotator}_{question}.{category}")
    ] = None
    create: Annotated[bool, Query(description="Make the project if it is not there.")] = True
    skip_invalid: Annotated[bool, Query(description="Leave invalid rows out.")] = False
    dry_run: Annotated[bool, Query(description="Store nothing.")] = False
    preview: Annotated[bool, Query(description="Store nothing, show the first rows.")] = False
    answers: Annotated[str | None, Query(description="one, several or spans")] = None
    scale: Annotated[str | None, Query(description="Scale of the categories.")] = None
    offsets: Annotated[str | None, Query(description="characters or tokens")] = None
    categories: Annotated[str | None, Query(description="Closed list: A,B,C")] = None
    wanted: Annotated[int | None, Query(description="Target answers.", ge=0, le=LARGEST)] = None

    @property
    def reading(self) -> dict[str, Any]:
        """The keywords of an import of answers."""
        names = None if self.categories is None else names_of_list(self.categories)
        options = QuestionOptions(self.answers, self.scale, self.offsets, names, self.wanted)
        return {
            **self.reading_items, "options": options, "wide": self.wide,
            "questions": self.question, "values": self.value, "separator": self.separator,
            "date_format": self.date_format, "repeat": self.repeat, "preview": self.preview,
            "annotator": self.annotator, "annotator_from": self.annotator_from,
            "pattern": self.columns,
        }  # fmt: skip

    @property
    def reading_items(self) -> dict[str, Any]:
        """The keywords of an import of items."""
        return {
            "columns": self.map, "format": self.format, "encoding": self.encoding,
            "ignore": self.ignore, "keep": self.keep, "create": self.create,
            "skip_invalid": self.skip_invalid, "dry_run": self.dry_run,
            "header_row": self.header_row, "no_header": self.no_header, "join": self.join,
        }  # fmt: skip


@dataclass(frozen=True)
class AnnotatorImportOptions:
    """How files of annotators are read; in a form also as its fields."""

    map: Annotated[_Words, Query(description="annotator=COLUMN or kind=COLUMN (repeatable).")] = ()
    skip_invalid: Annotated[bool, Query(description="Leave invalid rows out.")] = False
    dry_run: Annotated[bool, Query(description="Store nothing.")] = False


_Options = TypeVar("_Options", ImportOptions, AnnotatorImportOptions)
_BINARY = {"type": "string", "format": "binary"}
_FILES = {"file": {"type": "array", "items": _BINARY, "minItems": 1}}
_BESIDE = {
    "mapping": {**_BINARY, "description": "A file for `--mapping`."},
    "values": {**_BINARY, "description": "A file for `--values`: old,new and perhaps question."},
}


def _sent(files: dict[str, Any]) -> dict[str, Any]:
    """Return what a route says of the files that are sent to it."""
    form = {"type": "object", "required": ["file"], "properties": files}
    return {
        "requestBody": {
            "required": True,
            "description": "A form whose files are called `file`, or one file as it is.",
            "content": {
                "multipart/form-data": {"schema": form},
                "application/octet-stream": {"schema": _BINARY},
            },
        }
    }


_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "What an import would do.", "model": ImportResult},
    413: {"description": "More bytes than the server takes."},
}
_limiter = CapacityLimiter(_AT_ONCE)


@router.post(
    "/projects/{project:segment}/imports",
    status_code=201,
    **writes("importAnswers", ImportResult),
    responses=_RESPONSES,
    openapi_extra=_sent(_FILES | _BESIDE),
)
async def import_answers(
    request: Request,
    answer: Answer,
    project: str,
    options: Annotated[ImportOptions, Depends()],
    filename: Filename = None,
    key: Key = None,
) -> Response:
    """Import answers from files as one unit; `tracker import FILE… -p P`.

    Rows that are refused are in `rejections` of the problem, with their lines.
    """

    def importing(sent: Uploaded, given: ImportOptions) -> Any:
        return answer.ledger.import_uploads(
            sent.files, project, beside=sent.beside, **given.reading
        )

    return await _imported(request, answer, options, filename, key, importing, _BESIDE)


@router.post(
    "/projects/{project:segment}/items",
    status_code=201,
    **writes("importItems", ImportResult),
    responses=_RESPONSES,
    openapi_extra=_sent(_FILES),
)
async def import_items(
    request: Request,
    answer: Answer,
    project: str,
    options: Annotated[ImportOptions, Depends()],
    filename: Filename = None,
    key: Key = None,
) -> Response:
    """Register items that need no answers; `tracker item import FILE… -p P`."""

    def importing(sent: Uploaded, given: ImportOptions) -> Any:
        return answer.ledger.import_uploads(sent.files, project, items=True, **given.reading_items)

    return await _imported(request, answer, options, filename, key, importing)


@router.post(
    "/projects/{project:segment}/annotators",
    status_code=201,
    **writes("importAnnotators", AnnotatorImport),
    responses={**_RESPONSES, 200: {**_RESPONSES[200], "model": AnnotatorImport}},
    openapi_extra=_sent(_FILES),
)
async def import_annotators(
    request: Request,
    answer: Answer,
    project: str,
    options: Annotated[AnnotatorImportOptions, Depends()],
    filename: Filename = None,
    key: Key = None,
) -> Response:
    """Import what annotators are: each further column is an attribute; `tracker annotator import`.

    Rows that are refused are in `rejections` of the problem, with their lines.
    """

    def importing(sent: Uploaded, given: AnnotatorImportOptions) -> Any:
        return answer.ledger.import_annotator_uploads(
            sent.files, project, columns=given.map, skip_invalid=given.skip_invalid,
            dry_run=given.dry_run,
        )  # fmt: skip

    return await _imported(request, answer, options, filename, key, importing)


async def _imported(
    request: Request,
    answer: Answer,
    options: _Options,
    filename: str | None,
    key: str | None,
    importing: Callable[[Uploaded, _Options], Any],
    beside: Collection[str] = (),
) -> Response:
    async with uploaded(request, filename, beside) as sent:
        given: _Options = _with_fields(options, sent.fields)
        stores = not (given.dry_run or getattr(given, "preview", False))

        def imported() -> Response:
            result = importing(sent, given)
            if not stores:
                return answer.done(result.to_dict())
            return answer.made(result.to_dict(), "imports", str(result.id))

        once = partial(
            answered_once, request, answer, key, sent.said(), imported, stores=stores, bulk=True
        )
        return await to_thread.run_sync(once, limiter=_limiter)


def _with_fields(options: Any, sent: dict[str, list[str]]) -> Any:
    """Return the options with the fields of a form; raises RequestValidationError."""
    known = {one.name: one.default for one in fields(options)}
    faults: list[Any] = [
        {"loc": ("body", name), "msg": "there is no such field"}
        for name in sent
        if name not in known
    ]
    values = {name: value if known.get(name) == () else value[-1] for name, value in sent.items()}
    if not faults:
        try:
            return TypeAdapter(type(options)).validate_python({**vars(options), **values})
        except ValidationError as error:
            faults = [{"loc": ("body", *one["loc"]), "msg": one["msg"]} for one in error.errors()]
    raise RequestValidationError(faults)


@router.post("/imports/{number}/undo", **writes("undoImport", Import))
def undo_import(
    answer: Answer,
    number: Annotated[int, Path(description="The import's number.", ge=1, le=LARGEST)],
) -> Response:
    """Undo an import as if it had never happened; `tracker imports undo N`."""
    return answer.done(answer.ledger.imports.undo(number).to_dict())
