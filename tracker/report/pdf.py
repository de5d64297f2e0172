"""A document as PDF, typeset by Typst from a template of our own: every text is data to it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final, Literal

from tracker.core.errors import escaped_text
from tracker.render.charts import Chart
from tracker.report.document import Document
from tracker.report.html import WORDS

_OF_PAGES: Final = {"narrow", "panels", "broad"}
_TEMPLATE: Final = Path(__file__).parent / "templates" / "report.typ"


def pdf_file(document: Document) -> bytes:
    """Return a document as PDF/UA-1; tagged alone, if it has signs that no font here can draw.

    The template reads the document from one value in JSON. Nothing in it is evaluated, and
    nothing is looked for elsewhere: a template of one file has no folder to read from.
    """
    from typst import TypstError

    payload = {"document": _plain(document), "words": WORDS}
    sources = {"told": json.dumps(payload, ensure_ascii=True)}
    try:
        return _compiled(sources, "ua-1")
    except TypstError:  # a sign that no font here can draw keeps a document from the standard
        return _compiled(sources, None)


def _compiled(sources: dict[str, str], standard: Literal["ua-1"] | None) -> bytes:
    import typst

    content = typst.compile(_TEMPLATE.read_bytes(), sys_inputs=sources, pdf_standards=standard)
    assert isinstance(content, bytes)
    return content


def _plain(value: Any) -> Any:
    """Return a part of a document as JSON has it, with the ``kind`` of each part."""
    if isinstance(value, Chart):
        return {
            "svg": value.svg(titled=False),
            "title": escaped_text(value.title),
            "description": escaped_text(value.description),
        }
    if isinstance(value, str):
        return escaped_text(value)
    if is_dataclass(value):
        payload = {field.name: _plain(getattr(value, field.name)) for field in fields(value)
                if field.name not in _OF_PAGES}  # fmt: skip
        return {"kind": type(value).__name__, **payload}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Sequence):
        return [_plain(part) for part in value]
    return value
