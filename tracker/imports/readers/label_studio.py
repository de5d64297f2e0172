"""Label Studio: its JSON export, of tasks with their annotations and predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tracker.core.errors import Refused
from tracker.imports.batch import Batch
from tracker.imports.readers.answers import Answer, Span, batches_of_answers, field_text
from tracker.imports.readers.reader import Reader, Reading
from tracker.imports.readers.records import head_value, json_records
from tracker.imports.readers.source import SourceFile

NAME = "label-studio"
GOLD = "gold"
"""The reference annotator, who gave the annotations that are marked as ground truth."""


def recognizes_tasks(source: SourceFile) -> bool:
    """Return whether a file is a list of tasks with annotations."""
    first = head_value(source)
    return isinstance(first, dict) and {"id", "annotations"} <= first.keys()


def read_tasks(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of an export: those of annotators, of models, and the ground truth.

    An annotation without a result answers all controls that the file has shown so far, with
    nothing. Raises Refused for a file that is no such export, with the task.
    """
    answers = _Tasks(source, reading).answers()
    return batches_of_answers(source, reading, answers, NAME, unit="task")


LABEL_STUDIO = Reader(
    NAME,
    recognizes=recognizes_tasks,
    read=read_tasks,
    title="Label Studio: JSON",
    holds=(
        "questions", "several", "spans", "time", "seconds", "skips", "passes", "gold", "models",
        "confidence", "text", "attributes",
    ),
)  # fmt: skip


class _Tasks:
    """The tasks of a file, one at a time."""

    def __init__(self, source: SourceFile, reading: Reading) -> None:
        self.source = source
        self.reading = reading

    def answers(self) -> Iterator[Answer]:
        for place, task in json_records(self.source):
            if not isinstance(task, dict) or not isinstance(task.get("annotations"), list):
                raise Refused(
                    f"{self.source.name}, task {place}: this is no task with its annotations",
                    "export as JSON from Label Studio",
                )
            yield from self._of_task(place, task)

    def _of_task(self, place: int, task: Mapping[str, Any]) -> Iterator[Answer]:
        left_out = self.reading.left_out
        item, data = field_text(task.get("id")), task.get("data") or {}
        times: Counter[str] = Counter()
        drafts = task.get("drafts") or ()
        if drafts:
            left_out["draft"] += len(drafts)
        given = [one for one in task["annotations"] if isinstance(one, dict)]
        for one in sorted(given, key=lambda one: str(one.get("created_at"))):
            if one.get("was_cancelled"):
                left_out["cancelled annotation"] += 1
                continue
            name = _who(one.get("completed_by"))
            times[name] += 1
            number = (self.reading.options.repeat != "revision" and times[name]) or 1
            for question, labels in self._labels(place, one.get("result")).items():
                answer = Answer(
                    place, item, name, question, labels,
                    labeled_at=field_text(one.get("created_at")),
                    seconds=field_text(one.get("lead_time")),
                    number="" if number == 1 else str(number),
                    data=data,
                )  # fmt: skip
                yield answer
                if one.get("ground_truth"):
                    yield answer._replace(annotator=GOLD, kind="reference", seconds="", number="")
        for one in task.get("predictions") or ():
            if not isinstance(one, dict):
                left_out["prediction without its result"] += 1
                continue
            for question, labels in self._labels(place, one.get("result")).items():
                yield Answer(
                    place, item, field_text(one.get("model_version")) or "prediction", question,
                    labels,
                    labeled_at=field_text(one.get("created_at")),
                    kind="model",
                    confidence=field_text(one.get("score")),
                    data=data,
                )  # fmt: skip

    def _labels(self, place: int, result: Any) -> dict[str, Sequence[str | Span]]:
        """Return the labels of an annotation by control."""
        found: dict[str, list[str | Span]] = {}
        for region in result or ():
            kind, value = region.get("type"), region.get("value")
            name = region.get("from_name")
            if kind == "relation" or name is None:
                self.reading.left_out["relation"] += 1
                continue
            labels = _labels_of(kind, value)
            if labels is None:
                self.reading.left_out[f"region of type {kind!r}"] += 1
                continue
            found.setdefault(name, []).extend(labels)
        for name, labels in found.items():
            spans = any(isinstance(one, Span) for one in labels)
            found[name] = list(dict.fromkeys(labels))
            several = "several" if len(found[name]) > 1 else "one"
            self.reading.ask(name, "spans" if spans else several)
        return found or dict.fromkeys(self.reading.asked, ())  # type: ignore[return-value]


def _labels_of(kind: str, value: Mapping[str, Any]) -> list[str | Span] | None:
    """Return the categories or spans of a region; None for a kind that has none."""
    if kind == "rating":
        return [field_text(value["rating"])]
    named = value.get(kind)
    if not isinstance(named, list):
        return None
    start, end = value.get("start"), value.get("end")
    if isinstance(start, int) and isinstance(end, int):
        return [Span(str(one), start, end) for one in named]
    return [str(one) for one in named] if kind == "choices" else None


def _who(completed_by: Any) -> str:
    if isinstance(completed_by, Mapping):
        return field_text(completed_by.get("email")) or field_text(completed_by.get("id"))
    return field_text(completed_by)
