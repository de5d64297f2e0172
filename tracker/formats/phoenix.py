"""Phoenix: annotations of spans, traces and sessions, as its interface or a frame has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tracker.formats.answers import field_at, field_text
from tracker.formats.judgments import (
    HUMAN,
    MODEL,
    Judgment,
    first_text,
    judge_of,
    judgments_reader,
)

_ITEM = ("span_id", "trace_id", "session_id", "document_id", "context.span_id", "")
_PEOPLE = ("user_id", "metadata.user", "metadata.annotator", "identifier")


def _recognizes(first: Mapping[str, Any]) -> bool:
    named = {"name", "annotation_name"} & first.keys()
    result = {"result", "result.label", "result.score"} & first.keys()
    return bool(named and result and "annotator_kind" in first)


def _judgments(annotation: Mapping[str, Any]) -> Iterator[Judgment]:
    """Yield an annotation: its label, or its score if it has none."""
    way = field_text(annotation.get("annotator_kind")).upper()
    kind = HUMAN if way == "HUMAN" else MODEL
    if kind == HUMAN:
        who = first_text(annotation, _PEOPLE)
    else:
        known = annotation.get("metadata")
        who = judge_of(known, field_text(annotation.get("identifier")) or way)
    value = field_at(annotation, "result.label")
    if value is None or value == "":
        value = field_at(annotation, "result.score")
    yield Judgment(
        first_text(annotation, _ITEM), who, kind,
        first_text(annotation, ("name", "annotation_name")), value,
        first_text(annotation, ("updated_at", "created_at")),
        field_text(field_at(annotation, "result.explanation")),
    )  # fmt: skip


PHOENIX = judgments_reader(
    "phoenix", "Phoenix: annotations as JSON, or a frame of them as CSV", _recognizes, _judgments,
    "save what GET /v1/projects/PROJECT/span_annotations returns",
)  # fmt: skip
