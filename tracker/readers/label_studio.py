"""Label Studio: its exports as JSON, JSON-MIN, CSV and TSV."""

from __future__ import annotations

import codecs
import json
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from tracker.core import clock
from tracker.core.errors import Refused
from tracker.formats import answers as tool
from tracker.formats.answers import Answer, Fields, Malformed, Texts, field_text, json_unit, list_in
from tracker.formats.batch import GOLD, Batch, Rejections
from tracker.formats.reader import Reader, Reading
from tracker.formats.source import SourceFile
from tracker.formats.streams import Record, head_columns, head_value, json_records, table_rows
from tracker.readers.label_studio_regions import Labels, Regions, kind_of_value

# -- Label Studio's JSON: tasks with their annotations and predictions ----------------------------


_LONGEST = 2**31 / 1000  # seconds that the ledger takes for a time spent on an item
_NOTHING: Labels = ()


class _Annotation(NamedTuple):
    created_at: str
    name: str
    labels: dict[str, Labels]
    seconds: str = ""
    confidence: str = ""
    is_truth: bool = False
    id: str = ""
    parent: str = ""


class Tasks:
    """The tasks of a file, one at a time.

    An annotation answers every control of the project: with nothing, if it has no label of it. A
    control is known from the first task that shows it; the tasks before are read again.
    """

    def __init__(self, source: SourceFile, reading: Reading) -> None:
        self.source, self.reading = source, reading
        self.regions = Regions(reading)
        self.unit = "task" if json_unit(source) == "record" else "line"
        # By control, the first task that shows it; 0 for one that was known before.
        self._shown: dict[str, int] = dict.fromkeys(reading.asked, 0)
        self._answered: int | None = None  # the first task that has an answer
        self._without = 0  # annotations before any control

    def answers(self) -> Iterator[Answer]:
        readings = self.source.readings()
        for record in json_records(next(readings)):
            yield from self._of_task(record)
        last = max(self._shown.values(), default=0)
        if not self._shown and self._without:
            self.reading.left_out["annotation without a result"] += self._without
        elif self._answered is not None and self._answered < last:
            yield from self._before_shown(next(readings), last)
        readings.close()

    def _before_shown(self, source: SourceFile, last: int) -> Iterator[Answer]:
        """Yield the empty answers to controls that a later task was the first to show."""
        uncounted = replace(self.reading, rejections=Rejections(), left_out=Counter())
        again = Tasks(source, uncounted)
        again._shown = self._shown
        for record in json_records(source):
            if record.place >= last:
                return
            for answer in again._of_task(record):
                if not answer.labels and record.place < self._shown[answer.question]:
                    yield answer

    def _of_task(self, record: Record) -> Iterator[Answer]:
        place, task = record
        try:
            if not isinstance(task, dict) or not {"annotations", "completions"} & task.keys():
                raise Malformed("this is no task with its annotations")
            annotations = list_in(task, "annotations") or list_in(task, "completions")
            predictions, data = list_in(task, "predictions"), tool.object_in(task, "data")
        except Malformed as error:
            self._reject(place, task, error)
            return
        left_out = self.reading.left_out
        if not annotations:
            left_out["task without an annotation"] += 1
        if drafts := task.get("drafts"):
            left_out["draft"] += len(drafts) if isinstance(drafts, list) else 1
        item = field_text(task.get("id"))
        of_people = self._read(record, annotations, self._annotation, data)
        complete = [prediction for prediction in predictions if isinstance(prediction, dict)]
        if len(complete) < len(predictions):
            left_out["prediction without its result"] += len(predictions) - len(complete)
        of_models = self._read(record, complete, self._prediction, data)
        if not self._shown:
            self._without += len(of_people)
        if len(of_people) > 1:
            of_people.sort(key=itemgetter(0))
        yield from self._of_people(place, item, data, of_people)
        for model in of_models:
            for question, labels in (model.labels or dict.fromkeys(self._shown, _NOTHING)).items():
                yield Answer(
                    place, item, model.name, question, labels, model.created_at,
                    kind="model", confidence=model.confidence, data=data,
                )  # fmt: skip

    def _of_people(
        self, place: int, item: str, data: Fields, annotations: list[_Annotation]
    ) -> Iterator[Answer]:
        """Yield the answers of a task's annotations, which are in the order of their times."""
        passes = _Passes(self.reading.options.repeat == "revision")
        for annotation in annotations:
            number = passes.number(annotation)
            created_at = annotation.created_at
            for question in {**self._shown, **annotation.labels}:
                labels = annotation.labels.get(question, _NOTHING)
                yield Answer(
                    place, item, annotation.name, question, labels, created_at, annotation.seconds,
                    number, data=data,
                )  # fmt: skip
                if annotation.is_truth:
                    yield Answer(
                        place, item, GOLD, question, labels, created_at,
                        kind="reference", data=data,
                    )  # fmt: skip

    def _read(
        self,
        record: Record,
        values: Sequence[Any],
        read: Callable[[dict[str, Any], Fields], _Annotation | None],
        data: Fields,
    ) -> list[_Annotation]:
        """Return what annotations or predictions say, without those that are left out."""
        annotations = []
        for value in values:
            try:
                annotation = read(tool.object_of(value, "an annotation"), data)
            except Malformed as error:
                self._reject(*record, error)
                continue
            if annotation is not None:
                annotations.append(annotation)
                for control, labels in annotation.labels.items():
                    if not all(map(tool.is_without_label, labels)):
                        self._shown.setdefault(control, record.place)
        if annotations and self._answered is None:
            self._answered = record.place
        return annotations

    def _annotation(self, value: dict[str, Any], data: Fields) -> _Annotation | None:
        left_out = self.reading.left_out
        if value.get("was_cancelled") or value.get("skipped"):
            left_out["cancelled annotation"] += 1
            return None
        if reviews := value.get("reviews"):
            left_out["review"] += len(reviews) if isinstance(reviews, list) else 1
        name = annotator_name(value.get("completed_by")) or self.reading.annotator
        if not name:
            left_out["annotation without an annotator"] += 1
            return None
        return _Annotation(
            field_text(value.get("created_at")),
            name,
            self.regions.by_control(value.get("result"), data),
            seconds_text(value.get("lead_time"), left_out),
            is_truth=bool(value.get("ground_truth")),
            id=field_text(value.get("id")),
            parent=field_text(value.get("parent_annotation")),
        )

    def _prediction(self, value: dict[str, Any], data: Fields) -> _Annotation:
        score = value.get("score")
        confidence = tool.confidence_text(score)
        if score is not None and not confidence:
            self.reading.left_out["score that is not from 0 to 1"] += 1
        version = field_text(value.get("model_version")).strip()
        return _Annotation(
            field_text(value.get("created_at")),
            # An annotator may be a number, too.
            f"model {version}" if version.isdecimal() else version or "prediction",
            self.regions.by_control(value.get("result"), data),
            confidence=confidence,
        )

    def _reject(self, place: int, task: Any, reason: Malformed) -> None:
        item = None
        if isinstance(task, dict):
            item, data = field_text(task.get("id")), task.get("data")
            item = tool.item_key(self.reading, item, data) if isinstance(data, dict) else item
        rejections = self.reading.rejections
        rejections.add_unread(self.source.name, place, str(reason), self.unit, item)


@dataclass
class _Passes:
    """Numbers the annotations that one annotator gave to an item."""

    are_revisions: bool
    times: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, tuple[str, int]] = field(default_factory=dict)  # by the annotation's id

    def number(self, annotation: _Annotation) -> str:
        """Return the number of the next annotation's pass; empty for the first.

        What someone made from an annotation of their own is a revision of it.
        """
        times, name = self.times, annotation.name
        if name not in times or self.are_revisions:
            number = times[name] = 1
        else:
            author, number = self.numbers.get(annotation.parent, ("", 0))
            if author != name:
                number = times[name] = times[name] + 1
        if annotation.id:
            self.numbers[annotation.id] = name, number
        return "" if number == 1 else str(number)


def annotator_name(completed_by: Any) -> str:
    """Return an annotator's e-mail, or the number if the export has no more; empty if neither."""
    if isinstance(completed_by, Mapping):
        return field_text(completed_by.get("email")) or field_text(completed_by.get("id"))
    return field_text(completed_by)


def seconds_text(lead_time: Any, left_out: Counter[str]) -> str:
    """Return the time an annotation took as a text; empty, and counted, if it cannot be one."""
    if lead_time is None:
        return ""
    if type(lead_time) in {int, float} and 0 <= lead_time < _LONGEST:
        return field_text(lead_time)
    left_out["lead_time that is no time spent"] += 1
    return ""


# -- Label Studio's JSON-MIN, CSV and TSV: a record is an annotation, with the data of its task ---


FIXED = frozenset({"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time"})
"""What each record has; all else is of the task's data, or a control."""
_MOST_TRIED = 1000
"""Cells of a column that are read to see whether they are results."""


@dataclass
class _Column(Texts):
    """What the cells of a column are: results, or texts that may be choices."""

    tried: int = 0
    results: bool = False
    varies: bool = False
    after_id: bool = True

    def see(self, cell: Any) -> None:
        if (
            not self.results
            and self.tried < _MOST_TRIED
            and not (isinstance(cell, str) and cell.lstrip()[:1] not in {"[", "{"})
        ):
            self.tried += 1
            self.results = _is_result(cell)
        elif isinstance(cell, str):
            self.add(cell)

    @property
    def may_be_choices(self) -> bool:
        return bool(self.distinct) and self.are_few


class Records:
    """The records of a file, which is read twice: no record says which columns are controls."""

    def __init__(self, source: SourceFile, reading: Reading) -> None:
        self.source, self.reading = source, reading
        self.regions = Regions(reading)
        head = source.head.removeprefix(codecs.BOM_UTF8).lstrip()
        self.is_json = head[:1] in {b"[", b"{"}
        self.unit = json_unit(source) if self.is_json else "line"
        self._columns: dict[str, _Column] = {}
        self._item, self._before = "", dict[str, Any]()  # of the record before
        self._tasks = 0
        self._pairs = array("q")  # who answered which item, as a hash
        self._times = array("q")

    def answers(self) -> Iterator[Answer]:
        readings = self.source.readings()
        for _, cells in self._annotations(next(readings)):
            self._examine(cells)
        controls = self._controls()
        are_revisions = self.reading.options.repeat == "revision"
        numbers = {} if are_revisions else _passes(self._pairs, self._times)
        for n, (place, cells) in enumerate(self._annotations(next(readings), count=True)):
            data = {
                name: cell
                for name, cell in cells.items()
                if name not in controls and name not in FIXED
            }
            try:
                answers = {name: self._labels(name, cells.get(name), data) for name in controls}
            except Malformed as error:
                self._reject(place, error)
                continue
            for question, labels in answers.items():
                yield Answer(
                    place, field_text(cells.get("id")), _annotator(cells), question, labels,
                    field_text(cells.get("created_at")),
                    seconds_text(_number(cells.get("lead_time")), self.reading.left_out),
                    str(numbers[n]) if n in numbers else "",
                    data=data,
                )  # fmt: skip
        readings.close()

    def _annotations(
        self, source: SourceFile, *, count: bool = False
    ) -> Iterator[tuple[int, Fields]]:
        """Yield the records that say who answered, with their places; ``count`` the others."""
        for place, value in json_records(source) if self.is_json else table_rows(source):
            try:
                cells = tool.object_of(value, "this")
            except Malformed as error:
                if count:
                    self._reject(place, error)
                continue
            is_open = not field_text(cells.get("annotation_id"))
            if _annotator(cells) or (self.reading.annotator and not is_open):
                yield place, cells
            elif count:
                without = "an annotation" if is_open else "an annotator"
                noun = "task" if is_open else "annotation"
                self.reading.left_out[f"{noun} without {without}"] += 1

    def _reject(self, place: int, reason: Malformed) -> None:
        self.reading.rejections.add_unread(self.source.name, place, str(reason), self.unit)

    def _examine(self, cells: Fields) -> None:
        """Note what a record says about the columns, and who answered which item when."""
        item, annotator = field_text(cells.get("id")), _annotator(cells)
        is_same = bool(self._pairs) and item == self._item
        self._tasks += not is_same
        if is_same:  # the data of a task are the same in its records
            for name in cells.keys() | self._before.keys():
                if name not in FIXED and cells.get(name) != self._before.get(name):
                    self._columns.setdefault(name, _Column()).varies = True
        after_id = False
        for n, (name, cell) in enumerate(cells.items()):
            after_id |= self.is_json and n > 0 and name == "id"
            if name not in FIXED:
                column = self._columns.setdefault(name, _Column())
                column.after_id &= after_id
                if cell not in ("", None, []):
                    column.see(cell)
        self._item, self._before = item, dict(cells)
        self._pairs.append(hash((item, annotator)))
        self._times.append(_moment(cells.get("created_at")))

    def _controls(self) -> list[str]:
        """Return the columns that are controls.

        Their cells are results, or choices that differ between the annotations of a task, or that
        JSON has between the task's number and the annotator. Raises Refused if that is unknown.
        """
        asked = {question.column for question in self.reading.mapped.questions}
        ignored = self.reading.options.ignore
        columns = {n: column for n, column in self._columns.items() if n not in ignored}
        # The number stands among the data if they have an id of their own.
        is_of_data = all(column.after_id for column in columns.values()) or any(
            column.after_id and not (column.results or column.varies or column.may_be_choices)
            for column in columns.values()
        )
        several = len(self._pairs) > self._tasks
        choices = {name: column for name, column in columns.items() if column.may_be_choices}
        placed = [] if is_of_data else [
            name for name, column in choices.items()
            if column.after_id and name != "text"
            and not (several and 2 * len(column.distinct) > self._tasks + 1)
        ]  # fmt: skip
        varying = [name for name, column in choices.items() if column.varies]
        certain = {*asked, *placed, *varying}
        controls = [name for name, column in columns.items() if column.results or name in certain]
        alike = [name for name in choices if name not in controls and name != "text"]
        if not controls and self._pairs:
            constant = several and not any(column.varies for column in columns.values())
            raise Refused(
                f"{self.source.name} does not show which columns hold the answers"
                + ": each is alike for all annotators of a task" * constant,
                f"name them: --question NAME=COLUMN; the columns are: {', '.join(columns)[:500]}; "
                "or export as JSON from Label Studio",
            )
        for name, column in columns.items():
            if name in alike:
                option = f"(a control? --question {name}={name})"
                self.reading.left_out[f"column {name!r}, alike in each task {option}"] = 1
            elif name not in controls and column.varies:
                self.reading.left_out[f"column {name!r} of free texts"] = 1
        return controls

    def _labels(self, control: str, cell: Any, data: Fields) -> Labels:
        """Return the labels in a cell of a control. Raises Malformed."""
        value = _parsed(cell, control) if isinstance(cell, str) else cell
        if value is None or value in ("", [], {}):
            return ()
        labels: list[Any] = []
        kind = None
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, dict):
                labels.append(tool.category_of(part, f"a value of {control!r}"))
                continue
            kind = kind_of_value(part)
            if kind is None and {"start", "end"} <= part.keys():
                kind = "labels"
            of_region = self.regions.labels(kind, part, data) if kind else None
            if of_region is None:
                self.reading.left_out[f"region of {control!r} without a label"] += 1
            labels += of_region or ()
        return self.regions.asked(control, labels, kind) if labels else ()


def _annotator(cells: Fields) -> str:
    name = annotator_name(cells.get("annotator"))
    return "" if name in {"None", "{}"} else name


def _moment(value: Any) -> int:
    try:
        return min(clock.parse_timestamp(field_text(value)), 2**63 - 1)
    except ValueError:
        return 0


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return float(value) if value.strip() else None
    except ValueError:
        return value


def _is_result(cell: Any) -> bool:
    try:
        value = _parsed(cell, "") if isinstance(cell, str) else cell
    except Malformed:
        return False
    return any(map(kind_of_value, value if isinstance(value, list) else [value]))


def _parsed(cell: str, control: str) -> Any:
    """Return the JSON that a cell holds, or a plain text. Raises Malformed."""
    text = cell.strip()
    if text[:1] not in {"[", "{"}:
        return cell
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        if text.startswith(('{"', '["', "[{", "[[")):
            raise Malformed(f"the cell of {control!r} is no whole JSON: {text[:40]}") from None
        return cell


def _passes(pairs: array[int], times: array[int]) -> dict[int, int]:
    """Return the number of each record that is not the first of its annotator on its item."""
    of_pairs, of_times = np.array(pairs, np.int64), np.array(times, np.int64)
    order = np.lexsort((of_times, of_pairs))
    in_order = of_pairs[order]
    starts = np.flatnonzero(np.diff(in_order, prepend=in_order[:1] - 1))
    first = np.repeat(starts, np.diff(starts, append=len(order)))
    numbers = np.arange(len(order)) - first + 1
    again = numbers > 1
    return dict(zip(order[again].tolist(), numbers[again].tolist(), strict=True))


NAME = "label-studio"
_MARKS = {"result", "completed_by", "was_cancelled"}
"""Keys that mark an annotation."""
_CONLL = re.compile(rb"-DOCSTART- -X- O\r?\n\s*(\S+ -X- _ \S+\s*)?")
_HINT = "export as JSON from Label Studio"


def read_export(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of an export. Raises Refused for one that no longer says who answered."""
    if _CONLL.match(source.head):
        raise Refused(f"{source.name} does not say who answered, nor about which task", _HINT)
    answers: Tasks | Records
    if _is_of_records(source):
        answers = Records(source, reading)
    elif source.head.lstrip()[:1] in {b"[", b"{"} or source.head[:3] == codecs.BOM_UTF8:
        answers = Tasks(source, reading)
    else:
        raise Refused(f"{source.name} is no export of Label Studio", _HINT)
    return tool.batches_of_answers(source, reading, answers.answers(), NAME, answers.unit)


LABEL_STUDIO = Reader(
    NAME,
    recognizes=lambda source: (
        _is_of_tasks(source) or _is_of_records(source) or bool(_CONLL.match(source.head))
    ),
    read=read_export,
    title="Label Studio: JSON, JSON-MIN, CSV, TSV",
    holds=(
        "questions", "several", "spans", "time", "seconds", "skips", "passes", "gold", "models",
        "confidence", "text", "attributes",
    ),
)  # fmt: skip


def _is_of_tasks(source: SourceFile) -> bool:
    """Return whether the first record has marked annotations, or data and an empty list."""
    first = head_value(source)
    if not isinstance(first, dict) or "id" not in first:
        return False
    name = "annotations" if "annotations" in first else "completions"
    annotations = first.get(name)
    if name in first and annotations is None:  # cut off by the head's end
        return b'"result"' in source.head
    if annotations == []:
        return isinstance(first.get("data"), dict)
    return isinstance(annotations, list) and any(
        isinstance(annotation, dict) and not _MARKS.isdisjoint(annotation)
        for annotation in annotations
    )


def _is_of_records(source: SourceFile) -> bool:
    first = head_value(source)
    columns = first.keys() if isinstance(first, dict) else set(head_columns(source))
    return columns >= FIXED - {"updated_at"}
