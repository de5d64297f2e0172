"""Labelbox: the labels of data rows, line by line in its export, one by one in its older one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tracker.formats import answers as tool
from tracker.formats.answers import Answer, Fields, Repeats, Span, field_text, object_in, objects_in
from tracker.formats.batch import GOLD
from tracker.formats.reader import Reading
from tracker.formats.source import SourceFile
from tracker.formats.streams import head_columns, head_value

_OBJECTS = "objects"
_HINT = "export with: project.export(params={'label_details': True, 'performance_details': True})"

Labels = dict[str, list[str | Span]]


def recognizes_data_rows(source: SourceFile) -> bool:
    first = head_value(source)
    return isinstance(first, dict) and "data_row" in first and "projects" in first


def _answers(source: SourceFile, reading: Reading) -> Iterator[Answer]:
    labels = _Labels(reading)
    if head_value(source) is None:
        return tool.answers_of_rows(source, labels.of_label, _HINT)
    of_record = labels.of_row if recognizes_data_rows(source) else labels.of_label
    return tool.answers_of_objects(source, of_record, _HINT)


def recognizes_labels(source: SourceFile) -> bool:
    """Return whether a file is an older export: JSON or CSV, a record for each label."""
    first = head_value(source)
    columns = {*first} if isinstance(first, dict) else {*head_columns(source)}
    return {"Label", "Created By"} <= columns and bool({"DataRow ID", "External ID"} & columns)


LABELBOX = tool.tool_reader(
    "labelbox",
    "Labelbox: NDJSON of its export, or JSON or CSV of the older one",
    ("questions", "several", "spans", "time", "seconds", "passes", "gold", "text", "attributes"),
    recognizes=lambda source: recognizes_data_rows(source) or recognizes_labels(source),
    answers=_answers,
    unit=tool.json_unit,
)


class _Labels:
    """Reads the labels of data rows, and the records of the older export, each a label."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.repeats = Repeats(reading, "pass")

    def of_row(self, place: int, record: dict[str, Any]) -> Iterator[Answer]:
        row = object_in(record, "data_row")
        data = {"text": row.get("row_data"), **row, **record}
        for project in object_in(record, "projects").values():
            labels = objects_in(tool.object_of(project, "a project"), "labels")
            labels.sort(key=lambda label: field_text(_details(label).get("created_at")))
            for label in labels:
                yield from self._of_label(place, field_text(row.get("id")), label, data)
        experiments = object_in(record, "experiments")
        self.reading.leave_out("experiment with predictions", len(experiments))

    def _of_label(self, place: int, item: str, label: Fields, data: Fields) -> Iterator[Answer]:
        about, effort = _details(label), object_in(label, "performance_details")
        self.reading.leave_out("review", len(objects_in(about, "reviews")))
        if effort.get("skipped") is True:
            self.reading.leave_out("skipped label")
            return
        if not about:
            raise tool.Malformed("a label has no label_details, which say who answered")
        who = field_text(about.get("created_by"))
        annotations = object_in(label, "annotations")
        answers = self._annotations(annotations)
        if not answers and _OBJECTS in annotations:
            answers = {_OBJECTS: []}
        times = field_text(about.get("created_at")), field_text(effort.get("seconds_to_create"))
        empty = Answer(place, item, who, "", (), *times, self.repeats.number(item, who, data))
        for answer in tool.answers_to(self.reading, empty._replace(data=data), answers):
            yield answer
            if about.get("is_benchmark_reference") is True:
                yield answer._replace(annotator=GOLD, kind="reference", seconds="", number="")

    def _annotations(self, annotations: Fields) -> Labels:
        answers: Labels = {}
        for marked in objects_in(annotations, _OBJECTS):
            place, kind = object_in(marked, "location"), marked.get("annotation_kind")
            if kind != "TextEntity" and not {"start", "end"} <= place.keys():
                self.reading.left_out[f"object of kind {kind!r}"] += 1
                continue
            span = tool.span_of(marked.get("name"), place.get("start"), place.get("end"))
            # The end is that of the last character.
            answers.setdefault(_OBJECTS, []).append(span._replace(end=span.end + 1))
            nested = objects_in(marked, "classifications")
            self.reading.leave_out("classification of an object", len(nested))
        for classification in objects_in(annotations, "classifications"):
            self._classification(classification, answers)
        self.reading.leave_out("relationship", len(objects_in(annotations, "relationships")))
        return answers

    def _classification(self, classification: Fields, answers: Labels) -> None:
        """Add what was chosen, and what was asked about that."""
        if "text_answer" in classification:
            self.reading.left_out["free text"] += 1
            return
        chosen = objects_in(classification, "checklist_answers")
        if classification.get("radio_answer") is not None:
            chosen.append(object_in(classification, "radio_answer"))
        name = tool.category_of(classification.get("name"), "the name of a classification")
        labels = answers.setdefault(name, [])
        for answer in chosen:
            labels.append(tool.category_of(answer.get("name"), f"the answer to {name!r}"))
            for further in objects_in(answer, "classifications"):
                self._classification(further, answers)

    def of_label(self, place: int, record: Fields) -> Iterator[Answer]:
        value, annotator = record.get("Label"), field_text(record.get("Created By"))
        if isinstance(value, str) and value[:1] == "{":  # a cell of CSV
            value = tool.json_in(record, "Label")
        if field_text(record.get("Skipped")) == "true" or not isinstance(value, dict):
            self.reading.leave_out("skipped label")
            return
        if isinstance(reviews := record.get("Reviews"), list):
            self.reading.leave_out("review", len(reviews))
        item = field_text(record.get("DataRow ID")) or field_text(record.get("External ID"))
        data = {"text": field_text(record.get("Labeled Data")), **record}
        when, seconds = (field_text(record.get(n)) for n in ("Created At", "Seconds to Label"))
        number = self.repeats.number(item, annotator, data)
        answer = Answer(place, item, annotator, "", (), when, seconds, number, data=data)
        yield from tool.answers_to(self.reading, answer, self._old_annotations(value))

    def _old_annotations(self, label: dict[str, Any]) -> Labels:
        answers: Labels = {}
        if {_OBJECTS, "classifications"} & label.keys():
            for marked in objects_in(label, _OBJECTS):
                place = object_in(object_in(marked, "data"), "location")
                if not {"start", "end"} <= place.keys():
                    self.reading.leave_out(f"object {field_text(marked.get('title'))!r}")
                    continue
                span = tool.span_of(marked.get("title"), place["start"], place["end"])
                answers.setdefault(_OBJECTS, []).append(span._replace(end=span.end + 1))
            for classification in objects_in(label, "classifications"):
                self._old_classification(classification, answers)
            return answers
        for question, value in label.items():
            parts = value if isinstance(value, list) else [value]
            if any(isinstance(part, dict) for part in parts):
                self.reading.leave_out(f"object {question!r}", len(parts))
            else:
                named = f"the answer to {question!r}"
                answers[question] = [tool.category_of(part, named) for part in parts]
        return answers

    def _old_classification(self, classification: Fields, answers: Labels) -> None:
        name = _title(classification)
        labels = answers.setdefault(name, [])
        only = classification.get("answer")
        for answer in [only, *tool.list_in(classification, "answers")]:
            if isinstance(answer, dict):
                labels.append(_title(answer))
                for further in objects_in(answer, "classifications"):
                    self._old_classification(further, answers)
            elif answer is not None:
                self.reading.leave_out("free text")
        if not labels and only is not None:
            del answers[name]


def _title(named: Fields) -> str:
    return tool.category_of(named.get("title", named.get("value")), "the title of an answer")


def _details(label: Fields) -> Fields:
    return object_in(label, "label_details")
