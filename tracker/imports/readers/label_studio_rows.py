"""Label Studio's JSON-MIN, CSV and TSV: a record is an annotation, with the data of its task."""

from __future__ import annotations

import codecs
import json
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tracker.core import clock
from tracker.core.errors import Refused
from tracker.imports.readers.answers import Answer, field_text
from tracker.imports.readers.label_studio_regions import Labels, Regions, kind_of_value
from tracker.imports.readers.label_studio_tasks import annotator_name, reject, seconds_text
from tracker.imports.readers.reader import Reading
from tracker.imports.readers.records import json_records
from tracker.imports.readers.rows import table_rows
from tracker.imports.readers.shapes import (
    Malformed,
    after_their_kind,
    category_of,
    json_unit,
    object_of,
)
from tracker.imports.readers.source import SourceFile

FIXED = frozenset({"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time"})
"""What each record has; all else is of the task's data, or a control."""
_MOST_CATEGORIES = 100
_LONGEST_CATEGORY = 200
_LATEST = 2**63 - 1
_MOST_TRIED = 1000
"""Cells of a column that are read to see whether they are results."""


@dataclass
class _Column:
    """What the cells of a column are: results, or texts that may be choices."""

    tried: int = 0
    results: bool = False
    varies: bool = False
    after_id: bool = True
    texts: int = 0
    distinct: set[str] = field(default_factory=set)

    def add(self, cell: Any) -> None:
        """Note a cell that is not empty."""
        if not self.results and self.tried < _MOST_TRIED and not _is_plain(cell):
            self.tried += 1
            self.results = _is_result(cell)
        elif isinstance(cell, str):
            self.texts += 1
            if len(self.distinct) <= _MOST_CATEGORIES:
                self.distinct.add(cell)

    @property
    def may_be_choices(self) -> bool:
        """Whether it holds few texts, most of them several times."""
        number = len(self.distinct)
        return (
            0 < number <= _MOST_CATEGORIES
            and 2 * number <= self.texts + 4
            and max(map(len, self.distinct)) <= _LONGEST_CATEGORY
        )


class Records:
    """The records of a file, which is read twice: no record says which columns are controls."""

    def __init__(self, source: SourceFile, reading: Reading) -> None:
        self.source = source
        self.reading = reading
        self.regions = Regions(reading)
        head = source.head.removeprefix(codecs.BOM_UTF8).lstrip()
        self.is_json = head[:1] in {b"[", b"{"}
        self.unit = json_unit(source) if self.is_json else "line"
        self._columns: dict[str, _Column] = {}
        self._item, self._before = "", dict[str, Any]()  # of the record before
        self._pairs = array("q")  # who answered which item, as a hash
        self._times = array("q")

    def answers(self) -> Iterator[Answer]:
        """Yield the answers of annotators. Raises Refused."""
        return after_their_kind(self._answers(), self.reading)

    def _answers(self) -> Iterator[Answer]:
        readings = self.source.readings()
        for _, cells in self._annotations(next(readings)):
            self._examine(cells)
        controls = self._controls()
        numbers = _passes(self._pairs, self._times)
        if self.reading.options.repeat == "revision":
            numbers = {}
        for n, (place, cells) in enumerate(self._annotations(next(readings), told=True)):
            data = {name: one for name, one in cells.items()
                    if name not in controls and name not in FIXED}  # fmt: skip
            try:
                labels = {name: self._labels(name, cells.get(name), data) for name in controls}
            except Malformed as error:
                reject(self.reading, self.source, place, error, self.unit)
                continue
            for question, some in labels.items():
                yield Answer(
                    place, field_text(cells.get("id")), _annotator(cells), question, some,
                    field_text(cells.get("created_at")),
                    seconds_text(_number(cells.get("lead_time")), self.reading.left_out),
                    str(numbers[n]) if n in numbers else "",
                    data=data,
                )  # fmt: skip
        readings.close()

    def _annotations(
        self, source: SourceFile, *, told: bool = False
    ) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the records that say who answered, with their places; ``told``: count the rest."""
        records: Iterable[tuple[int, Any]] = (
            json_records(source) if self.is_json else table_rows(source)
        )
        for place, value in records:
            try:
                cells = object_of(value, "this")
            except Malformed as error:
                if told:
                    reject(self.reading, self.source, place, error, self.unit)
                continue
            is_open = not field_text(cells.get("annotation_id"))
            if _annotator(cells) or (self.reading.annotator and not is_open):
                yield place, cells
            elif told:
                what = (
                    "task without an annotation" if is_open else "annotation without an annotator"
                )
                self.reading.left_out[what] += 1

    def _examine(self, cells: Mapping[str, Any]) -> None:
        """Note what a record says about the columns, and who answered which item when."""
        item, annotator = field_text(cells.get("id")), _annotator(cells)
        is_same = bool(self._pairs) and item == self._item
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
                    column.add(cell)
        self._item, self._before = item, dict(cells)
        self._pairs.append(hash((item, annotator)))
        self._times.append(_moment(cells.get("created_at")))

    def _controls(self) -> list[str]:
        """Return the columns that are controls.

        Their cells are results, or choices that differ between the annotations of a task, or that
        JSON has between the task's number and the annotator. Raises Refused if that is unknown.
        """
        wanted = {one.column for one in self.reading.mapped.questions}
        columns = {name: one for name, one in self._columns.items()
                   if name not in self.reading.options.ignore}  # fmt: skip
        # The number stands among the data if they have an id of their own.
        is_of_data = any(
            one.after_id and not (one.results or one.varies or one.may_be_choices)
            for one in columns.values()
        )
        found = [
            name for name, one in columns.items()
            if one.results or name in wanted
            or (one.may_be_choices and (one.varies or (one.after_id and not is_of_data)))
        ]  # fmt: skip
        left = [name for name, one in columns.items() if one.may_be_choices and name not in found]
        if not found and len(left) == 1:
            return left
        if not found and self._pairs:
            raise Refused(
                f"{self.source.name} does not show which columns hold the answers",
                f"name them: --question NAME=COLUMN; the columns are: {', '.join(columns)[:500]}; "
                "or export as JSON from Label Studio",
            )
        for name, one in columns.items():
            if name in left:
                told = f"column {name!r}, alike in each task (a control? --question {name}={name})"
                self.reading.left_out[told] = 1
            elif name not in found and one.varies:
                self.reading.left_out[f"column {name!r} of free texts"] = 1
        return found

    def _labels(self, control: str, cell: Any, data: Mapping[str, Any]) -> Labels:
        """Return the labels in a cell of a control. Raises Malformed."""
        value = _parsed(cell, control) if isinstance(cell, str) else cell
        if value is None or value in ("", [], {}):
            return ()
        labels: list[Any] = []
        kind = None
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, dict):
                labels.append(category_of(one, f"a value of {control!r}"))
                continue
            kind = kind_of_value(one)
            some = self.regions.labels(kind, one, data) if kind else None
            if some is None:
                self.reading.left_out[f"region of {control!r} without a label"] += 1
            labels += some or ()
        if not labels:
            return ()
        return self.regions.asked(control, labels, kind)


def _annotator(cells: Mapping[str, Any]) -> str:
    name = annotator_name(cells.get("annotator"))
    return "" if name in {"None", "{}"} else name


def _moment(value: Any) -> int:
    try:
        return min(clock.parse_timestamp(field_text(value)), _LATEST)
    except ValueError:
        return 0


def _number(value: Any) -> Any:
    """Return a cell as a number, if it is one."""
    if not isinstance(value, str):
        return value
    try:
        return float(value) if value.strip() else None
    except ValueError:
        return value


def _is_plain(cell: Any) -> bool:
    return isinstance(cell, str) and cell.lstrip()[:1] not in {"[", "{"}


def _is_result(cell: Any) -> bool:
    """Return whether a cell holds the regions of a control."""
    try:
        value = _parsed(cell, "") if isinstance(cell, str) else cell
    except Malformed:
        return False
    some = value if isinstance(value, list) else [value]
    return any(kind_of_value(one) for one in some)


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
