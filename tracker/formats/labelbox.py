"""Labelbox: the labels of data rows, as its export (version 2) writes them line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tracker.formats.answers import (
    Answer,
    Malformed,
    Span,
    after_their_kind,
    answers_of_objects,
    ask_for,
    batches_of_answers,
    category_of,
    field_text,
    json_unit,
    object_in,
    object_of,
    objects_in,
    span_of,
    unique_labels,
)
from tracker.formats.batch import GOLD, Batch
from tracker.formats.reader import Reader, Reading
from tracker.formats.source import SourceFile
from tracker.formats.streams import head_value

NAME = "labelbox"
_OBJECTS = "objects"
_HINT = "export with: project.export(params={'label_details': True, 'performance_details': True})"

Labels = dict[str, list[str | Span]]


def recognizes_data_rows(source: SourceFile) -> bool:
    """Return whether a file holds data rows of Labelbox with their labels."""
    first = head_value(source)
    return isinstance(first, dict) and "data_row" in first and "projects" in first


def read_data_rows(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of all projects: a question for each classification, and the entities."""
    rows = _DataRows(reading)
    answers = after_their_kind(answers_of_objects(source, rows.of_row, _HINT), reading)
    return batches_of_answers(source, reading, answers, NAME, json_unit(source))


LABELBOX = Reader(
    NAME,
    recognizes=recognizes_data_rows,
    read=read_data_rows,
    title="Labelbox: NDJSON of its export",
    holds=(
        "questions", "several", "spans", "time", "seconds", "passes", "gold", "text", "attributes",
    ),
)  # fmt: skip


class _DataRows:
    """The data rows of a file, one at a time."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def of_row(self, place: int, record: dict[str, Any]) -> Iterator[Answer]:
        """Yield the answers about a data row."""
        row = object_in(record, "data_row")
        data = {"text": row.get("row_data"), **row, **record}
        for project in object_in(record, "projects").values():
            labels = objects_in(object_of(project, "a project"), "labels")
            times: Counter[str] = Counter()
            created = lambda one: field_text(object_in(one, "label_details").get("created_at"))  # noqa: E731
            for label in sorted(labels, key=created):
                yield from self._of_label(place, field_text(row.get("id")), label, times, data)
        if experiments := object_in(record, "experiments"):
            self.reading.left_out["experiment with predictions"] += len(experiments)

    def _of_label(
        self, place: int, item: str, label: Mapping[str, Any], times: Counter[str],
        data: Mapping[str, Any],
    ) -> Iterator[Answer]:  # fmt: skip
        about, effort = object_in(label, "label_details"), object_in(label, "performance_details")
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
        given = object_in(label, "annotations")
        found = self._labels(given)
        if not found and _OBJECTS in given:
            found = {_OBJECTS: []}
        for question, labels in found.items():
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

    def _labels(self, given: Mapping[str, Any]) -> Labels:
        found: Labels = {}
        for one in objects_in(given, _OBJECTS):
            place = object_in(one, "location")
            if one.get("annotation_kind") != "TextEntity" and not {"start", "end"} <= place.keys():
                self.reading.left_out[f"object of kind {one.get('annotation_kind')!r}"] += 1
                continue
            span = span_of(one.get("name"), place.get("start"), place.get("end"))
            # The end is that of the last character.
            found.setdefault(_OBJECTS, []).append(span._replace(end=span.end + 1))
            if nested := objects_in(one, "classifications"):
                self.reading.left_out["classification of an object"] += len(nested)
        for one in objects_in(given, "classifications"):
            self._classification(one, found)
        if relations := objects_in(given, "relationships"):
            self.reading.left_out["relationship"] += len(relations)
        return {question: unique_labels(labels) for question, labels in found.items()}

    def _classification(self, one: Mapping[str, Any], found: Labels) -> None:
        """Add what was chosen, and what was asked about that."""
        if "text_answer" in one:
            self.reading.left_out["free text"] += 1
            return
        chosen = objects_in(one, "checklist_answers")
        if one.get("radio_answer") is not None:
            chosen.append(object_in(one, "radio_answer"))
        name = category_of(one.get("name"), "the name of a classification")
        labels = found.setdefault(name, [])
        for answer in chosen:
            labels.append(category_of(answer.get("name"), f"the answer to {name!r}"))
            for further in objects_in(answer, "classifications"):
                self._classification(further, found)
