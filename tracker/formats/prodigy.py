"""Prodigy: the lines of a dataset, as ``prodigy db-out`` writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tracker.core.errors import Refused
from tracker.formats.answers import (
    Answer,
    Span,
    answers_of_objects,
    ask_for,
    category_of,
    field_text,
    json_unit,
    list_in,
    mapped_annotator,
    objects_in,
    span_of,
    tool_reader,
    unique_labels,
)
from tracker.formats.column_roles import SAY_WHO
from tracker.formats.reader import Reading
from tracker.formats.source import SourceFile
from tracker.formats.streams import head_value

_HINT = "export with: prodigy db-out DATASET"
_UNNAMED = re.compile(r"(.*[-_])?\d{4}-\d\d-\d\d[T_ ]\d\d[-:]\d\d[-:]\d\d")
"""The name of a session that nobody named: when the server was started."""
_NO_PLACES = {"spans": "region of an image", "audio_spans": "region of a sound"}


def recognizes_dataset(source: SourceFile) -> bool:
    first = head_value(source)
    return isinstance(first, dict) and "_input_hash" in first and "_task_hash" in first


PRODIGY = tool_reader(
    "prodigy",
    "Prodigy: JSONL of db-out",
    ("questions", "several", "spans", "time", "skips", "text", "attributes"),
    recognizes=recognizes_dataset,
    answers=lambda source, reading: answers_of_objects(
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
        for question, labels in answers.items():
            ask_for(self.reading, question, labels)
            yield Answer(
                place, item, self._annotator(place, task), question, labels,
                labeled_at=field_text(task.get("_timestamp")), data=task,
                marked=field_text(task.get("text")),
            )  # fmt: skip
        if not answers:
            self.reading.left_out["task without options, spans or a label"] += 1

    def _annotator(self, place: int, task: Mapping[str, Any]) -> str:
        mapped = mapped_annotator(self.reading, task)
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

    def _labels(self, task: Mapping[str, Any]) -> dict[str, list[str | Span]]:
        labels: dict[str, list[str | Span]] = {}
        if "accept" in task:
            chosen = list_in(task, "accept")
            labels["accept"] = unique_labels(category_of(option, "an option") for option in chosen)
            if not _has_one_choice(task):
                self.reading.ask("accept", "several")
        for name, noun in _NO_PLACES.items():
            spans = objects_in(task, name)
            placed = [span for span in spans if name == "spans" and "points" not in span]
            if len(placed) < len(spans):
                self.reading.left_out[noun] += len(spans) - len(placed)
            elif name == "spans" and name in task:
                labels[name] = unique_labels(
                    span_of(span.get("label"), span.get("start"), span.get("end"))
                    for span in placed
                )
                self.reading.ask(name, "spans")
        return labels


def _is_binary(task: Mapping[str, Any]) -> str:
    """Return what is accepted or rejected: a ``label``, a ``span``; nothing if a task asks more."""
    if "accept" in task or "options" in task:
        return ""
    if isinstance(task.get("label"), str):
        return "label"
    suggested = task.get("_view_id") == "ner" or task.get("_is_binary") is True
    return "span" if suggested and task.get("spans") else ""


def _binary(task: Mapping[str, Any], decision: str) -> dict[str, list[str | Span]]:
    """Return the decision about a label; a suggested span is an item of its own."""
    if isinstance(task.get("label"), str):
        return {task["label"]: [decision]}
    labels = [field_text(span.get("label")) for span in objects_in(task, "spans")]
    return {" ".join(dict.fromkeys(labels)): [decision]}


def _has_one_choice(task: Mapping[str, Any]) -> bool:
    config = task.get("config")
    style = config.get("choice_style") if isinstance(config, dict) else None
    return style != "multiple" and task.get("choice_style") != "multiple"
