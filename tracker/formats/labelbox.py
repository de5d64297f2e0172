"""Labelbox: the labels of data rows, as its export (version 2) writes them line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tracker.formats.answers import (
    Answer,
    Malformed,
    Span,
    answers_of_objects,
    ask_for,
    category_of,
    field_text,
    json_unit,
    object_in,
    object_of,
    objects_in,
    span_of,
    tool_reader,
    unique_labels,
)
from tracker.formats.batch import GOLD
from tracker.formats.reader import Reading
from tracker.formats.source import SourceFile
from tracker.formats.streams import head_value

_OBJECTS = "objects"
_HINT = "export with: project.export(params={'label_details': True, 'performance_details': True})"

Labels = dict[str, list[str | Span]]


def recognizes_data_rows(source: SourceFile) -> bool:
    first = head_value(source)
    return isinstance(first, dict) and "data_row" in first and "projects" in first


LABELBOX = tool_reader(
    "labelbox",
    "Labelbox: NDJSON of its export",
    ("questions", "several", "spans", "time", "seconds", "passes", "gold", "text", "attributes"),
    recognizes=recognizes_data_rows,
    answers=lambda source, reading: answers_of_objects(source, _DataRows(reading).of_row, _HINT),
    unit=json_unit,
)


@dataclass
class _DataRows:
    reading: Reading

    def of_row(self, place: int, record: dict[str, Any]) -> Iterator[Answer]:
        row = object_in(record, "data_row")
        data = {"text": row.get("row_data"), **row, **record}
        for project in object_in(record, "projects").values():
            labels = objects_in(object_of(project, "a project"), "labels")
            times: Counter[str] = Counter()
            created = lambda label: field_text(_details(label).get("created_at"))  # noqa: E731
            for label in sorted(labels, key=created):
                yield from self._of_label(place, field_text(row.get("id")), label, times, data)
        if experiments := object_in(record, "experiments"):
            self.reading.left_out["experiment with predictions"] += len(experiments)

    def _of_label(
        self, place: int, item: str, label: Mapping[str, Any], times: Counter[str],
        data: Mapping[str, Any],
    ) -> Iterator[Answer]:  # fmt: skip
        about, effort = _details(label), object_in(label, "performance_details")
        left_out = self.reading.left_out
        if reviews := len(objects_in(about, "reviews")):
            left_out["review"] += reviews
        if effort.get("skipped") is True:
            left_out["skipped label"] += 1
            return
        if not about:
            raise Malformed("a label has no label_details, which say who answered")
        who = field_text(about.get("created_by"))
        times[who] += 1
        number = times[who] if self.reading.options.repeat != "revision" else 1
        annotations = object_in(label, "annotations")
        answers = self._labels(annotations)
        if not answers and _OBJECTS in annotations:
            answers = {_OBJECTS: []}
        for question, labels in answers.items():
            ask_for(self.reading, question, labels)
            answer = Answer(
                place, item, who, question, labels,
                labeled_at=field_text(about.get("created_at")),
                seconds=field_text(effort.get("seconds_to_create")),
                number="" if number == 1 else str(number), data=data,
            )  # fmt: skip
            yield answer
            if about.get("is_benchmark_reference") is True:
                yield answer._replace(annotator=GOLD, kind="reference", seconds="", number="")

    def _labels(self, annotations: Mapping[str, Any]) -> Labels:
        answers: Labels = {}
        for marked in objects_in(annotations, _OBJECTS):
            place, kind = object_in(marked, "location"), marked.get("annotation_kind")
            if kind != "TextEntity" and not {"start", "end"} <= place.keys():
                self.reading.left_out[f"object of kind {kind!r}"] += 1
                continue
            span = span_of(marked.get("name"), place.get("start"), place.get("end"))
            # The end is that of the last character.
            answers.setdefault(_OBJECTS, []).append(span._replace(end=span.end + 1))
            if nested := objects_in(marked, "classifications"):
                self.reading.left_out["classification of an object"] += len(nested)
        for classification in objects_in(annotations, "classifications"):
            self._classification(classification, answers)
        if relations := objects_in(annotations, "relationships"):
            self.reading.left_out["relationship"] += len(relations)
        return {question: unique_labels(labels) for question, labels in answers.items()}

    def _classification(self, classification: Mapping[str, Any], answers: Labels) -> None:
        """Add what was chosen, and what was asked about that."""
        if "text_answer" in classification:
            self.reading.left_out["free text"] += 1
            return
        chosen = objects_in(classification, "checklist_answers")
        if classification.get("radio_answer") is not None:
            chosen.append(object_in(classification, "radio_answer"))
        name = category_of(classification.get("name"), "the name of a classification")
        labels = answers.setdefault(name, [])
        for answer in chosen:
            labels.append(category_of(answer.get("name"), f"the answer to {name!r}"))
            for further in objects_in(answer, "classifications"):
                self._classification(further, answers)


def _details(label: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_in(label, "label_details")
