"""OpenAI evals: the events of a run line by line, and the output items of its service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tracker.formats.answers import (
    Answer,
    answers_of_objects,
    field_text,
    list_in,
    numbered,
    object_in,
    objects_in,
    tool_reader,
)
from tracker.formats.judgments import (
    HOLDS,
    MODEL,
    UNIT,
    Judgment,
    answers_of_judgments,
    first_record,
    first_text,
    unwrapped,
)
from tracker.formats.reader import Reading
from tracker.formats.source import SourceFile

NAME = "openai-evals"
_EVENT = {"run_id", "event_id", "sample_id", "type", "data"}
_ITEM = "eval.run.output_item"


def recognizes_run(source: SourceFile) -> bool:
    first = first_record(source)
    if first is None:
        return False
    spec = first.get("spec")
    is_spec = isinstance(spec, dict) and "eval_name" in spec
    return is_spec or first.keys() >= _EVENT or first.get("object") == _ITEM


def _answers(source: SourceFile, reading: Reading) -> Iterator[Answer]:
    hint = "is this the record that oaieval writes?"
    return numbered(answers_of_objects(source, _Run(reading).of_record, hint))


OPENAI_EVALS = tool_reader(
    NAME,
    "OpenAI evals: the record of a run as JSONL, or its output items",
    HOLDS,
    recognizes=recognizes_run,
    answers=_answers,
    unit=UNIT,
)


class _Run:
    """A run, whose first line says what is evaluated and by which models."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.question = NAME
        self.judge = ""

    def of_record(self, place: int, record: dict[str, Any]) -> Iterator[Answer]:
        if "spec" in record:
            spec = object_in(record, "spec")
            self.question = first_text(spec, ("base_eval", "eval_name")) or NAME
            models = list_in(spec, "completion_fns")
            # The last of several is the one that judges what the others say.
            self.judge = field_text(models[-1]) if len(models) > 1 else ""
            return
        for item in unwrapped(record):
            judgments = _of_item(item) if item.get("object") == _ITEM else self._of_event(item)
            yield from answers_of_judgments(place, judgments, item, self.reading)

    def _of_event(self, event: Mapping[str, Any]) -> Iterator[Judgment]:
        """Yield the verdict of an event; events of other types are steps towards one."""
        data = object_in(event, "data")
        value = data.get("choice")
        if value is None and isinstance(data.get("correct"), bool):
            value = "correct" if data["correct"] else "incorrect"
        if field_text(event.get("type")) not in {"metrics", "match"} or value is None:
            return
        yield Judgment(
            field_text(event.get("sample_id")), self.judge or self.question, MODEL, self.question,
            value, field_text(event.get("created_at")), data={**data, **event},
        )  # fmt: skip


def _of_item(item: Mapping[str, Any]) -> Iterator[Judgment]:
    for result in objects_in(item, "results"):
        name, passed = field_text(result.get("name")), result.get("passed")
        value = ("pass" if passed else "fail") if isinstance(passed, bool) else None
        yield Judgment(
            field_text(item.get("datasource_item_id")), name, MODEL, name, value,
            field_text(item.get("created_at")), data={**object_in(item, "datasource_item"), **item},
        )  # fmt: skip
