"""LangSmith: feedback on runs, as its client lists it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tracker.formats.answers import field_text, object_in
from tracker.formats.judgments import (
    HUMAN,
    MODEL,
    Judgment,
    first_text,
    judge_of,
    judgments_reader,
)


def _judgments(feedback: Mapping[str, Any]) -> Iterator[Judgment]:
    """Yield a feedback; one that is sent without a user is of a model."""
    source = object_in(feedback, "feedback_source")
    way = field_text(source.get("type"))
    who = first_text(source, ("user_name", "user_id"))
    kind = HUMAN if who and way != "model" else MODEL
    if kind == MODEL and way != "app":
        who = judge_of(source.get("metadata"), way)
    value = feedback.get("value")
    if value is None or isinstance(value, dict):
        value = feedback.get("score")
    if feedback.get("error") is True:
        value = None
    yield Judgment(
        first_text(feedback, ("run_id", "trace_id")), who, kind, field_text(feedback.get("key")),
        value, first_text(feedback, ("modified_at", "created_at")),
        field_text(feedback.get("comment")),
    )  # fmt: skip


LANGSMITH = judgments_reader(
    "langsmith", "LangSmith: feedback as JSON or JSONL",
    lambda first: {"run_id", "key", "score", "feedback_source"} <= first.keys(), _judgments,
    "write a line for each of client.list_feedback(run_ids=…): feedback.json()",
)  # fmt: skip
