"""Imports that are sent: answers and items, in any format that is read.

FastAPI reads the annotations of these classes as they are, so they are no texts here.
"""

from collections.abc import Callable, Collection
from functools import partial
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Query, Request, Response

from tracker.imports.choosing import AnnotatorOptions, AnswerOptions, ItemOptions
from tracker.ledger import Ledger
from tracker.web.api.routing import Answer, Key, answered_once, resource, writes
from tracker.web.api.schema import model_of
from tracker.web.import_options import (
    AnnotatorImportOptions,
    ImportOptions,
    arguments_of_import,
    with_fields,
)
from tracker.web.uploads import Uploaded, uploaded

router = resource("imports")

_WAIT = 30.0  # seconds for a lock
_AT_ONCE = 4  # imports; others wait, and hold up no request meanwhile

Filename = Annotated[
    str | None,
    Query(description="The name of a file that is sent as it is.", examples=["answers.csv"]),
]
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


_RESULT = model_of(Ledger.import_uploads)
_RESULT_OF_ANNOTATORS = model_of(Ledger.import_annotator_uploads)
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "What an import would do.", "model": _RESULT},
    413: {"description": "More bytes than the server takes."},
}
_limiter = CapacityLimiter(_AT_ONCE)


@router.post(
    "/projects/{project:segment}/imports",
    status_code=201,
    **writes("importAnswers", _RESULT),
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

    def importing(sent: Uploaded, how: Any) -> Any:
        return answer.ledger.import_uploads(sent.files, project, beside=sent.beside, **how)

    return await _imported(request, answer, options, filename, key, importing, beside=_BESIDE)


@router.post(
    "/projects/{project:segment}/items",
    status_code=201,
    **writes("importItems", _RESULT),
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

    def importing(sent: Uploaded, how: Any) -> Any:
        return answer.ledger.import_uploads(sent.files, project, items=True, **how)

    return await _imported(request, answer, options, filename, key, importing, ItemOptions)


@router.post(
    "/projects/{project:segment}/annotators",
    status_code=201,
    **writes("importAnnotators", _RESULT_OF_ANNOTATORS),
    responses={**_RESPONSES, 200: {**_RESPONSES[200], "model": _RESULT_OF_ANNOTATORS}},
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

    def importing(sent: Uploaded, how: Any) -> Any:
        return answer.ledger.import_annotator_uploads(sent.files, project, **how)

    return await _imported(request, answer, options, filename, key, importing, AnnotatorOptions)


async def _imported(
    request: Request,
    answer: Answer,
    options: Any,
    filename: str | None,
    key: str | None,
    importing: Callable[[Uploaded, Any], Any],
    group: Any = AnswerOptions,
    beside: Collection[str] = (),
) -> Response:
    answer.ledger.database.wait = _WAIT
    async with uploaded(request, filename, beside) as sent:
        how = arguments_of_import(with_fields(options, sent.fields), group)
        stores = not (how["dry_run"] or how.get("preview"))

        def imported() -> Response:
            result = importing(sent, how)
            if not stores:
                return answer.done(result.to_dict())
            return answer.made(result.to_dict(), "imports", str(result.id))

        once = partial(
            answered_once, request, answer, key, sent.said(), imported, stores=stores, bulk=True
        )
        return await to_thread.run_sync(once, limiter=_limiter)
