"""Stores of traces: Langfuse, LangSmith and Phoenix."""

from __future__ import annotations

from collections.abc import Iterator

from tracker.formats.answers import Fields, field_at, field_text, object_in
from tracker.readers.judgments import HUMAN, MODEL, Judgment, first_text, judge_of, judgments_reader

# -- Langfuse: scores, as its interface and its export of the table give them ---------------------


_SCORED = ("observationId", "traceId", "sessionId", "datasetRunId")
_AUTHOR = ("authorUserId", "authorUserName", "authorUserEmail", "author")
_TEXTS = {"CATEGORICAL", "BOOLEAN", "TEXT"}


def _of_score(score: Fields) -> Iterator[Judgment]:
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
        first_text(score, _SCORED), who, kind, field_text(score.get("name")), value,
        first_text(score, ("timestamp", "createdAt")), field_text(score.get("comment")),
    )  # fmt: skip


LANGFUSE = judgments_reader(
    "langfuse", "Langfuse: scores as JSON or CSV",
    lambda first: {"traceId", "name", "value", "source"} <= first.keys(), _of_score,
    "export the table of scores, or save what GET /api/public/v2/scores returns",
)  # fmt: skip


# -- LangSmith: feedback on runs, as its client lists it ------------------------------------------


def _of_feedback(feedback: Fields) -> Iterator[Judgment]:
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
    lambda first: {"run_id", "key", "score", "feedback_source"} <= first.keys(), _of_feedback,
    "write a line for each of client.list_feedback(run_ids=…): feedback.json()",
)  # fmt: skip


# -- Phoenix: annotations of spans, traces and sessions, as its interface or a frame has them -----


_ANNOTATED = ("span_id", "trace_id", "session_id", "document_id", "context.span_id", "")
_PEOPLE = ("user_id", "metadata.user", "metadata.annotator", "identifier")


def _is_annotation(first: Fields) -> bool:
    named = {"name", "annotation_name"} & first.keys()
    result = {"result", "result.label", "result.score"} & first.keys()
    return bool(named and result and "annotator_kind" in first)


def _of_annotation(annotation: Fields) -> Iterator[Judgment]:
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
        first_text(annotation, _ANNOTATED), who, kind,
        first_text(annotation, ("name", "annotation_name")), value,
        first_text(annotation, ("updated_at", "created_at")),
        field_text(field_at(annotation, "result.explanation")),
    )  # fmt: skip


PHOENIX = judgments_reader(
    "phoenix", "Phoenix: annotations as JSON, or a frame of them as CSV",
    _is_annotation, _of_annotation,
    "save what GET /v1/projects/PROJECT/span_annotations returns",
)  # fmt: skip
