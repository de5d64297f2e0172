"""Langfuse: scores, as its interface and its export of the table give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tracker.formats.answers import field_text
from tracker.formats.judgments import (
    HUMAN,
    MODEL,
    Judgment,
    first_text,
    judge_of,
    judgments_reader,
)

_ITEM = ("observationId", "traceId", "sessionId", "datasetRunId")
_AUTHOR = ("authorUserId", "authorUserName", "authorUserEmail", "author")
_TEXTS = {"CATEGORICAL", "BOOLEAN", "TEXT"}


def _judgments(score: Mapping[str, Any]) -> Iterator[Judgment]:
    """Yield a score; those that a program sent without an author are of the model ``api``."""
    source = field_text(score.get("source")).upper()
    who = first_text(score, _AUTHOR)
    kind = HUMAN if who and source != "EVAL" else MODEL
    if source != "ANNOTATION" and kind == MODEL:
        who = judge_of(score.get("metadata"), source.lower())
    value = score.get("value")
    if field_text(score.get("dataType")).upper() in _TEXTS:
        value = field_text(score.get("stringValue")) or value
    yield Judgment(
        first_text(score, _ITEM), who, kind, field_text(score.get("name")), value,
        first_text(score, ("timestamp", "createdAt")), field_text(score.get("comment")),
    )  # fmt: skip


LANGFUSE = judgments_reader(
    "langfuse", "Langfuse: scores as JSON or CSV",
    lambda first: {"traceId", "name", "value", "source"} <= first.keys(), _judgments,
    "export the table of scores, or save what GET /api/public/v2/scores returns",
)  # fmt: skip
