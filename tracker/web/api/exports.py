"""Rows out, as they are read from the database."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Query, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from tracker.ledger.reports import Labels
from tracker.render.formats import csv_lines
from tracker.web.api.parameters import AskedAnswers
from tracker.web.api.routing import Answer, reads, resource

router = resource("exports")

_LINES = 500  # that are sent at once


class Form(StrEnum):
    """The formats of rows."""

    CSV = "csv"
    JSONL = "jsonl"


_TYPES = {Form.CSV: "text/csv", Form.JSONL: "application/jsonl"}
_ROWS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The rows.",
        "content": {one: {"schema": {"type": "string"}} for one in _TYPES.values()},
    }
}
_Form = Annotated[Form, Query(alias="format", description="The format of the rows.")]


@router.get(
    "/projects/{project:segment}/export/labels",
    **reads("exportLabels", None),
    responses=_ROWS,
    response_class=Response,
)
def export_labels(
    answer: Answer, project: str, answers: AskedAnswers, form: _Form = Form.CSV
) -> Response:
    """Stream every label that stands; `tracker export labels P`."""
    opened = answer.ledger.labels(project, **answers)
    return _streamed(opened, form)


@router.get(
    "/projects/{project:segment}/export/consensus",
    **reads("exportConsensus", None),
    responses=_ROWS,
    response_class=Response,
)
def export_consensus(
    answer: Answer,
    project: str,
    answers: AskedAnswers,
    method: Annotated[
        str, Query(description="How annotators count: majority, weighted, dawid-skene.")
    ] = "majority",
    soft: Annotated[
        bool, Query(description="A row for each item, with the share of each category.")
    ] = False,
    form: _Form = Form.CSV,
) -> Response:
    """Stream one answer for each item; `tracker export consensus P`."""
    opened = answer.ledger.consensus(project, method, soft=soft, **answers)
    return _streamed(opened, form)


def _streamed(opened: AbstractContextManager[Labels], form: Form) -> Response:
    """Answer with rows as they come; what is wrong with the request is known before the first."""
    stack = ExitStack()
    with stack:
        labels = stack.enter_context(opened)
        parts = _parts(_LINES_OF[form](labels))
        first = next(parts, b"")
        kept = stack.pop_all()
    return StreamingResponse(_sent(first, parts, kept), media_type=_TYPES[form])


async def _sent(first: bytes, parts: Iterator[bytes], kept: ExitStack) -> AsyncIterator[bytes]:
    """Yield the parts, and close what they are read from, however it ends."""
    try:
        part = first
        while part:
            yield part
            part = await run_in_threadpool(next, parts, b"")
    finally:
        kept.close()


def _parts(lines: Iterator[str]) -> Iterator[bytes]:
    """Yield lines, many at once."""
    held: list[str] = []
    for line in lines:
        held.append(f"{line}\n")
        if len(held) >= _LINES:
            yield "".join(held).encode()
            held.clear()
    if held:
        yield "".join(held).encode()


def _json_lines(labels: Labels) -> Iterator[str]:
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    for row in labels.rows:
        yield encode(dict(zip(labels.columns, row, strict=True)))


_LINES_OF: dict[Form, Callable[[Labels], Iterator[str]]] = {
    Form.CSV: lambda labels: csv_lines(labels.columns, labels.rows),
    Form.JSONL: _json_lines,
}
