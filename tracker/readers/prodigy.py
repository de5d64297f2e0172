"""Prodigy: the lines of a dataset, as ``prodigy db-out`` writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tracker.core.errors import Refused
from tracker.formats import answers as tool
from tracker.formats.answers import Answer, Fields, Span, field_text, json_unit, list_in, objects_in
from tracker.formats.column_roles import SAY_WHO
from tracker.formats.reader import Reading
from tracker.formats.source import SourceFile
from tracker.formats.streams import head_value

_HINT = "export with: prodigy db-out DATASET"
_UNNAMED = re.compile(r"(.*[-_])?\d{4}-\d\d-\d\d[T_ ]\d\d[-:]\d\d[-:]\d\d")
"""The name of a session that nobody named: when the server was started."""
_NO_PLACES = {"spans": "region of an image", "audio_spans": "region of a sound"}


PRODIGY = tool.tool_reader(
    "prodigy",
    "Prodigy: JSONL of db-out",
    ("questions", "several", "spans", "time", "skips", "text", "attributes"),
    recognizes=lambda source: (
        isinstance(first := head_value(source), dict)
        and {"_input_hash", "_task_hash"} <= first.keys()
    ),
    answers=lambda source, reading: tool.answers_of_objects(
        source, _Tasks(source, reading).of_task, _HINT
    ),
    unit=json_unit,
)


@dataclass
class _Tasks:
    source: SourceFile
    reading: Reading

    def of_task(self, place: int, task: dict[str, Any]) -> Iterator[Answer]:
        decision = field_text(task.get("answer"))
        binary = _is_binary(task)
        if decision not in {"accept", "reject"} or (decision == "reject" and not binary):
            self.reading.left_out[f"task with the answer {decision!r}"] += 1
            return
        item = field_text(task.get("_task_hash" if binary == "span" else "_input_hash"))
        answers = _binary(task, decision) if binary else self._labels(task)
        if not answers:
            self.reading.leave_out("task without options, spans or a label")
            return
        when, marked = field_text(task.get("_timestamp")), field_text(task.get("text"))
        annotator = self._annotator(place, task)
        answer = Answer(place, item, annotator, "", (), when, data=task, marked=marked)
        yield from tool.answers_to(self.reading, answer, answers)

    def _annotator(self, place: int, task: Fields) -> str:
        mapped = tool.mapped_annotator(self.reading, task)
        if mapped is not None:
            return mapped
        names = (field_text(task.get(name)) for name in ("_annotator_id", "_session_id"))
        name = next(filter(None, names), "")
        if name and not _UNNAMED.fullmatch(name):
            return name
        if self.reading.annotator is not None:
            return self.reading.annotator
        session = f": its session is {name!r}, the time of a start" if name else ""
        raise Refused(
            f"{self.source.name}, {json_unit(self.source)} {place} does not say who "
            f"answered{session}",
            "let annotators open ?session=NAME; if each session was one person: "
            f"--map annotator=_session_id; or {SAY_WHO}",
        )

    def _labels(self, task: Fields) -> dict[str, list[str | Span]]:
        labels: dict[str, list[str | Span]] = {}
        if "accept" in task:
            chosen = list_in(task, "accept")
            labels["accept"] = tool.unique_labels(
                tool.category_of(option, "an option") for option in chosen
            )
            config = task.get("config")
            configs = [task, config if isinstance(config, dict) else {}]
            if any(settings.get("choice_style") == "multiple" for settings in configs):
                self.reading.ask("accept", "several")
        for name, noun in _NO_PLACES.items():
            spans = objects_in(task, name)
            placed = [span for span in spans if name == "spans" and "points" not in span]
            self.reading.leave_out(noun, len(spans) - len(placed))
            if len(placed) == len(spans) and name == "spans" and name in task:
                marked = labels[name] = tool.unique_labels(
                    tool.span_of(span.get("label"), span.get("start"), span.get("end"))
                    for span in placed
                )
                labeled = [span for span in marked if not tool.is_without_label(span)]
                if labeled or not marked or self.reading.options.span_label:
                    self.reading.ask(name, "spans")
        return labels


def _is_binary(task: Fields) -> str:
    """Return what is accepted or rejected: a ``label``, a ``span``; nothing if a task asks more."""
    if "accept" in task or "options" in task:
        return ""
    if isinstance(task.get("label"), str):
        return "label"
    suggested = task.get("_view_id") == "ner" or task.get("_is_binary") is True
    return "span" if suggested and task.get("spans") else ""


def _binary(task: Fields, decision: str) -> dict[str, list[str | Span]]:
    """Return the decision about a label; a suggested span is an item of its own."""
    if isinstance(task.get("label"), str):
        return {task["label"]: [decision]}
    labels = [field_text(span.get("label")) for span in objects_in(task, "spans")]
    return {" ".join(dict.fromkeys(labels)): [decision]}
