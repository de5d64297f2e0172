"""MLflow: the assessments of traces, as JSON of traces or of a frame of them."""

from __future__ import annotations

from collections.abc import Iterator

from tracker.formats.answers import Fields, field_text, object_in, objects_in
from tracker.formats.batch import GOLD
from tracker.readers.judgments import (
    HUMAN,
    MODEL,
    REFERENCE,
    Judgment,
    first_text,
    judge_of,
    judgments_reader,
)

NAME = "mlflow"
_KINDS = {"HUMAN": HUMAN, "LLM_JUDGE": MODEL, "AI_JUDGE": MODEL, "CODE": MODEL}


def _judgments(trace: Fields) -> Iterator[Judgment]:
    """Yield the assessments of a trace; one that was overridden stays what its author said."""
    info = object_in(trace, "info") or trace
    data = {"text": first_text(info, ("request_preview", "request")), **trace, **info}
    for assessment in objects_in(info, "assessments"):
        name = first_text(assessment, ("assessment_name", "name"))
        item, when = item_of(info, assessment), time_of(assessment)
        comment = field_text(assessment.get("rationale"))
        if assessment.get("expectation") is not None:
            expectation = object_in(assessment, "expectation")
            value = (object_in(expectation, "serialized_value") or expectation).get("value")
            yield Judgment(item, GOLD, REFERENCE, name, value, when, comment, data=data)
            continue
        feedback = object_in(assessment, "feedback")
        failed = feedback.get("error") or assessment.get("error")
        source = object_in(assessment, "source")
        kind = _KINDS.get(field_text(source.get("source_type")).upper(), HUMAN)
        who = field_text(source.get("source_id"))
        who = "" if who in {"default", "unknown"} else who  # a source that was not named
        if kind == MODEL:
            metadata = object_in(assessment, "metadata")
            who = judge_of({**metadata, "judge": who} if who else metadata, name)
        value = None if failed else feedback.get("value")
        yield Judgment(item, who, kind, name, value, when, comment, data=data)


def item_of(info: Fields, assessment: Fields) -> str:
    """Return the key of what is assessed: a request, or a span of its trace."""
    key = first_text(info, ("client_request_id", "trace_id", "request_id"))
    span = field_text(assessment.get("span_id"))
    return f"{key}/{span}" if span else key


def time_of(assessment: Fields) -> str:
    """Return when an assessment got its value: a text, or in older files milliseconds."""
    time = first_text(assessment, ("last_update_time", "create_time"))
    since = assessment.get("last_update_time_ms", assessment.get("create_time_ms"))
    is_number = isinstance(since, int) and not isinstance(since, bool) and abs(since) < 10**15
    return time or (field_text(since / 1000) if is_number else "")


MLFLOW = judgments_reader(
    NAME, "MLflow: traces with assessments as JSON",
    lambda first: isinstance(first.get("info"), dict)
    or {"trace_id", "assessments"} <= first.keys(), _judgments,
    "write traces as JSON: [trace.to_dict() for trace in mlflow.search_traces(return_type='list')]",
)  # fmt: skip
