"""Label Studio's JSON: tasks with their annotations and predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple

from tracker.imports.batch import GOLD, Rejections
from tracker.imports.readers.answers import Answer, Fields, field_text, item_key
from tracker.imports.readers.label_studio_regions import Labels, Regions
from tracker.imports.readers.reader import Reading
from tracker.imports.readers.records import Record, json_records
from tracker.imports.readers.shapes import (
    Malformed,
    confidence_text,
    json_unit,
    list_in,
    object_in,
    object_of,
)
from tracker.imports.readers.source import SourceFile

_LONGEST = 2**31 / 1000  # seconds that the ledger takes for a time spent on an item
_NOTHING: Labels = ()


class _Given(NamedTuple):
    """An annotation or prediction: who gave which labels, and when."""

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
        self.source = source
        self.reading = reading
        self.regions = Regions(reading)
        self.unit = "task" if json_unit(source) == "record" else "line"
        # By control, the first task that shows it; 0 for one that was known before.
        self._shown: dict[str, int] = dict.fromkeys(reading.asked, 0)
        self._answered: int | None = None  # the first task that has an answer
        self._without = 0  # annotations before any control

    def answers(self) -> Iterator[Answer]:
        """Yield the answers of annotators, of models, and the ground truth. Raises Refused."""
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
        told = replace(self.reading, rejections=Rejections(), left_out=Counter())
        again = Tasks(source, told)
        again._shown = self._shown
        for record in json_records(source):
            if record.place >= last:
                return
            for one in again._of_task(record):
                if not one.labels and record.place < self._shown[one.question]:
                    yield one

    def _of_task(self, record: Record) -> Iterator[Answer]:
        place, task = record
        try:
            annotations, predictions, data = _parts(task)
        except Malformed as error:
            self._reject(place, task, error)
            return
        left_out = self.reading.left_out
        if not annotations:
            left_out["task without an annotation"] += 1
        if drafts := task.get("drafts"):
            left_out["draft"] += len(drafts) if isinstance(drafts, list) else 1
        item = field_text(task.get("id"))
        given = self._read(record, annotations, self._annotation, data)
        whole = [one for one in predictions if isinstance(one, dict)]
        if len(whole) < len(predictions):
            left_out["prediction without its result"] += len(predictions) - len(whole)
        models = self._read(record, whole, self._prediction, data)
        if not self._shown:
            self._without += len(given)
        if len(given) > 1:
            given.sort(key=itemgetter(0))
        yield from self._of_people(place, item, data, given)
        for one in models:
            for question, labels in (one.labels or dict.fromkeys(self._shown, _NOTHING)).items():
                yield Answer(
                    place, item, one.name, question, labels, one.created_at,
                    kind="model", confidence=one.confidence, data=data,
                )  # fmt: skip

    def _of_people(
        self, place: int, item: str, data: Fields, given: list[_Given]
    ) -> Iterator[Answer]:
        """Yield the answers of a task's annotations, which are in the order of their times."""
        passes = _Passes(self.reading.options.repeat)
        for one in given:
            number = passes.number(one)
            for question in self._shown:
                labels = one.labels.get(question, _NOTHING)
                yield Answer(
                    place, item, one.name, question, labels, one.created_at, one.seconds, number,
                    data=data,
                )  # fmt: skip
                if one.is_truth:
                    yield Answer(
                        place, item, GOLD, question, labels, one.created_at,
                        kind="reference", data=data,
                    )  # fmt: skip

    def _read(
        self,
        record: Record,
        some: Sequence[Any],
        read: Callable[[dict[str, Any], Fields], _Given | None],
        data: Fields,
    ) -> list[_Given]:
        """Return what annotations or predictions say, without those that are left out."""
        found = []
        for one in some:
            try:
                given = read(object_of(one, "an annotation"), data)
            except Malformed as error:
                self._reject(*record, error)
                continue
            if given is not None:
                found.append(given)
                for control in given.labels:
                    self._shown.setdefault(control, record.place)
        if found and self._answered is None:
            self._answered = record.place
        return found

    def _annotation(self, one: dict[str, Any], data: Fields) -> _Given | None:
        left_out = self.reading.left_out
        if one.get("was_cancelled") or one.get("skipped"):
            left_out["cancelled annotation"] += 1
            return None
        if reviews := one.get("reviews"):
            left_out["review"] += len(reviews) if isinstance(reviews, list) else 1
        name = annotator_name(one.get("completed_by")) or self.reading.annotator
        if not name:
            left_out["annotation without an annotator"] += 1
            return None
        return _Given(
            field_text(one.get("created_at")),
            name,
            self.regions.by_control(one.get("result"), data),
            seconds_text(one.get("lead_time"), left_out),
            is_truth=bool(one.get("ground_truth")),
            id=field_text(one.get("id")),
            parent=field_text(one.get("parent_annotation")),
        )

    def _prediction(self, one: dict[str, Any], data: Fields) -> _Given:
        score = one.get("score")
        confidence = confidence_text(score)
        if score is not None and not confidence:
            self.reading.left_out["score that is not from 0 to 1"] += 1
        version = field_text(one.get("model_version")).strip()
        return _Given(
            field_text(one.get("created_at")),
            # An annotator may be a number, too.
            f"model {version}" if version.isdecimal() else version or "prediction",
            self.regions.by_control(one.get("result"), data),
            confidence=confidence,
        )

    def _reject(self, place: int, task: Any, reason: Malformed) -> None:
        item = None
        if isinstance(task, dict):
            item, data = field_text(task.get("id")), task.get("data")
            item = item_key(self.reading, item, data) if isinstance(data, dict) else item
        reject(self.reading, self.source, place, reason, self.unit, item)


class _Passes:
    """Numbers the annotations that one annotator gave to an item."""

    def __init__(self, repeat: str | None) -> None:
        self.are_revisions = repeat == "revision"
        self._times: dict[str, int] = {}
        self._of: dict[str, tuple[str, int]] = {}  # by the annotation's number

    def number(self, one: _Given) -> str:
        """Return the number of the next annotation's pass; empty for the first.

        What someone made from an annotation of their own is a revision of it.
        """
        times = self._times
        if one.name not in times or self.are_revisions:
            number = times[one.name] = 1
        else:
            author, number = self._of.get(one.parent, ("", 0))
            if author != one.name:
                number = times[one.name] = times[one.name] + 1
        if one.id:
            self._of[one.id] = one.name, number
        return "" if number == 1 else str(number)


def _parts(task: Any) -> tuple[list[Any], list[Any], Fields]:
    """Return a task's annotations, its predictions, and its data. Raises Malformed."""
    if not isinstance(task, dict) or not {"annotations", "completions"} & task.keys():
        raise Malformed("this is no task with its annotations")
    given = list_in(task, "annotations") or list_in(task, "completions")
    return given, list_in(task, "predictions"), object_in(task, "data")


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


def reject(
    reading: Reading,
    source: SourceFile,
    place: int,
    reason: object,
    unit: str,
    item: str | None = None,
) -> None:
    """Count a record that cannot be read, and that is in no batch; see `Rejections.add`."""
    reading.rejections.add(source.name, place, str(reason), unit, item)
    reading.rejections.ragged += 1
