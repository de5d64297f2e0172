"""Tables whose cells may be lists: a row may hold several answers, an answer several categories."""

from __future__ import annotations

import json
import math
import pickle
import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from tracker.core.errors import Refused
from tracker.formats import proposals
from tracker.formats.batch import (
    KEEP,
    LISTED,
    OF_QUESTION,
    Batch,
    Cells,
    Numbers,
    Unit,
    text_array,
    with_decimal_point,
)
from tracker.formats.column_names import listed_names
from tracker.formats.column_roles import Layout, MissingColumns, UnclearColumns, layout_of_header
from tracker.formats.dates import ORDERS, DateOrder, date_format_reader, is_readable, read_moment
from tracker.formats.proposals import LOOKED_AT, FirstRows
from tracker.formats.reader import Reading
from tracker.formats.records import FAULT, batch_of_table, column_of_codes, combine_cells
from tracker.formats.source import ReadAs
from tracker.formats.special_columns import MODEL, Judge, name_with_version
from tracker.formats.surroundings import answered_rows

if TYPE_CHECKING:
    import pandas as pd


# -- Times of a table whose dates are written in an order that only the whole column tells --------

_IN_MEMORY = 64 * 1024 * 1024  # bytes of batches that wait for the end of a file
_IN_ORDER = r"^\s*\d{1,3}[./-]\d{1,2}[./-]"


def with_read_dates(batches: Iterator[Batch], table: Table, reading: Reading) -> Iterator[Batch]:
    """Yield the batches of a table, each with the reader of its times.

    From the first batch that has dates such as 1/2/2026, batches wait in a temporary file until all
    dates were seen. Raises Refused if these can be read in two ways, or no way reads all.
    """
    if reading.options.date_format is not None:
        moment = date_format_reader(reading.options.date_format)
        yield from (replace(batch, moment=moment) for batch in batches)
        return
    for batch in batches:
        times = batch.columns.get("labeled_at")
        if times is not None and _in_order(times):
            yield from _in_one_order(chain([batch], batches), table)
        else:
            yield batch
        del batch


def _in_order(times: Cells) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(times.distinct, _IN_ORDER)).as_py())


def _in_one_order(batches: Iterator[Batch], table: Table) -> Iterator[Batch]:
    order, number = DateOrder(), 0
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as waiting:
        for batch in batches:
            number += 1
            order.see(batch.columns["labeled_at"].texts)
            pickle.dump(batch, waiting)
        layout = table.layout
        assert isinstance(layout, Layout)
        column = layout.name_of(layout.roles["labeled_at"])
        chosen = _date_order(order, table.name, column)
        table.layout = replace(layout, dates=order.in_words(chosen))
        table.facts["date_format"] = order.in_words(chosen)
        moment = order.reader(chosen)
        waiting.seek(0)
        for _ in range(number):
            yield replace(pickle.load(waiting), moment=moment)  # noqa: S301 - written just now


def _date_order(order: DateOrder, name: str, column: str) -> str:
    """Return the order of a column's dates. Raises Refused if that is in doubt."""
    without = f"leave out the column: --ignore {quote(column)}"
    if (pair := order.contradiction) is not None:
        raise Refused(
            f"{name}: no order of day and month reads both {pair[0]!r} and {pair[1]!r} "
            f"in {column!r}",
            f"write the dates in one way, or {without}",
        )
    if order.doubtful is not None and len(order.left) > 1:
        orders = sorted(order.left, key=[*ORDERS].index)[:2]
        days = [order.day(order.doubtful, name) for name in orders]
        ways = " or ".join(f"--date-format {order.in_words(name)}" for name in orders)
        raise Refused(
            f"{name}: {order.doubtful!r} in {column!r} may be {days[0]} or {days[1]}",
            f"say which: {ways}; or {without}",
        )
    return min(order.left)


# -- Optional columns that are guessed by their names, and hold something else -------------------

_MOST_TRIED = 1000  # cells that are tried
_CERTAIN = {"labeled_at", "seconds"}  # names that are not a guess
_BEGINS_IN_ORDER = re.compile(r"\s*\d{1,2}[./-]\d{1,2}[./-]\d")


def _moment(text: str) -> int:
    return 0 if _BEGINS_IN_ORDER.match(text) else read_moment(text)


_WHAT = {
    "labeled_at": "not a date",
    "seconds": "not a time in seconds",
    "pass": "not 1, 2, …",
    "confidence": "not a number from 0 to 1",
}


def without_unread_columns(
    batches: Iterator[Batch], table: Table, reading: Reading
) -> Iterator[Batch]:
    """Yield batches without guessed columns whose cells in the first batch cannot be read.

    Columns that the user maps stay. The layout of the table says which are left out, and why.
    """
    unread: dict[str, str] | None = None
    for batch in batches:
        layout = table.layout
        if unread is None:
            unread = _unread_roles(batch, reading)
        if unread and isinstance(layout, Layout):
            roles = {role: n for role, n in layout.roles.items() if role not in unread}
            names = {role: layout.name_of(n) for role, n in layout.roles.items() if role in unread}
            reasons = {name: unread[role] for role, name in names.items()}
            table.layout = replace(layout, roles=roles, unread={**layout.unread, **reasons})
        columns = {role: cells for role, cells in batch.columns.items() if role not in unread}
        yield replace(batch, columns=columns) if unread else batch
        del batch


def _unread_roles(batch: Batch, reading: Reading) -> dict[str, str]:
    """Return the roles whose cells cannot be read, with what is wrong with the first one."""
    readers = dict(reading.cell_readers)
    if reading.options.date_format is None:
        readers = {"labeled_at": _moment, **readers}
    unread = {}
    for role in readers.keys() & batch.columns.keys() - reading.mapped.roles.keys():
        # All texts of a long column would take a while to make.
        first = batch.columns[role].distinct[:_MOST_TRIED].to_pylist()
        texts = [*filter(None, map(str.strip, first))]
        is_read = (is_readable(with_decimal_point(text), readers[role]) for text in texts)
        if texts and batch.names.get(role) not in _CERTAIN and not any(is_read):
            unread[role] = f"{_WHAT[role]}: {texts[0][:40]!r}"
    return unread


# -- Values of tables that have types, as a delimited file would hold them ------------------------


@dataclass(frozen=True)
class CellFault:
    """What a cell holds instead of a value, such as ``#DIV/0!``: its row is rejected."""

    what: str


Column = Cells | Sequence[Any]
"""The cells of a column; a sequence if some are lists, objects or faults, beside texts."""


def value_text(value: Any) -> Any:
    """Return a plain value as a text; a list, an object, a fault, as it is.

    A whole number has no point, a boolean is as in JSON, and a value that is missing is empty.
    """
    if isinstance(value, str | list | tuple | set | frozenset | Mapping | np.ndarray | CellFault):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else "" if math.isnan(value) else repr(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC)
    text = value.isoformat() if isinstance(value, date) else str(value)
    return "" if text in {"None", "NaT", "<NA>"} else text


def column_of_values(values: Sequence[Any]) -> Column:
    texts = [value_text(value) for value in values]
    return Cells.of_texts(texts) if all(isinstance(text, str) for text in texts) else texts


def column_of_series(series: pd.Series[Any], *, whole: bool) -> Column:
    """Return a column of a frame of pandas; ``whole``: all its floats are whole numbers."""
    import pyarrow as pa

    try:
        if series.dtype.kind == "O" and str(series.dtype) == "object":
            array = pa.array(series, pa.string(), from_pandas=True)
        else:
            array = pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        values = series.tolist()
        if not whole:
            values = [repr(v) if isinstance(v, float) and not math.isnan(v) else v for v in values]
        return column_of_values(values)
    return column_of_arrow(array, whole=whole)


def column_of_arrow(array: Any, *, whole: bool = True, names: Sequence[str] = ()) -> Column:
    """Return a column of an Arrow array; ``whole``: all its floats are whole numbers.

    ``names`` are those of the categories that its numbers stand for. Raises Refused for bytes that
    are no text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if hasattr(array, "combine_chunks"):
        array = array.combine_chunks()
    if pa.types.is_nested(array.type):
        values = array.to_pylist()
        return column_of_values([named(value, names) for value in values] if names else values)
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    distinct = _texts(encoded.dictionary, whole=whole)
    if names:
        distinct = pa.array([named(text, names) for text in distinct.to_pylist()], pa.string())
    codes = encoded.indices
    if codes.null_count or distinct.null_count:
        distinct = pa.concat_arrays([distinct.fill_null(""), pa.array([""])])
        codes = codes.fill_null(len(distinct) - 1)
    cells = Cells(np.from_dlpack(codes).astype(np.int32, copy=False), distinct)
    one_text_each = not encoded.null_count and (
        _is_text(array.type)
        or pa.types.is_integer(array.type)
        or (pa.types.is_timestamp(array.type) and array.type.unit != "ns")
    )
    if not one_text_each and pc.count_distinct(distinct).as_py() < len(distinct):
        cells = cells.mapped(str)
    in_order = encoded is not array and not encoded.null_count
    return cells if in_order else cells.take(np.arange(len(codes)))


def _texts(values: Any, *, whole: bool) -> Any:
    """Return the distinct values of a column as an Arrow array of texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if pa.types.is_floating(kind):
        numbers = values.to_numpy(zero_copy_only=False)
        shown = numbers.tolist() if numbers.dtype == np.float64 else numbers
        integers = (whole & np.isfinite(numbers)).tolist()
        pairs = zip(shown, integers, strict=True)
        texts = [str(int(number) if is_whole else number) for number, is_whole in pairs]
        return pa.array(["" if text == "nan" else text for text in texts], pa.string())
    if pa.types.is_timestamp(kind):
        utc = values.cast(pa.timestamp(kind.unit))  # to text with a zone would take much longer
        try:
            texts = utc.cast(pa.timestamp("s")).cast(pa.string())
        except pa.ArrowInvalid:
            exact = utc.cast(pa.timestamp("us"), safe=False).cast(pa.string())
            texts = pc.replace_substring_regex(exact, r"\.0+$", "")
        # A slice from behind the end on: to join texts with a Python value loads pandas.
        return pc.utf8_replace_slice(texts, 99, 99, "Z") if kind.tz else texts
    if pa.types.is_integer(kind) or pa.types.is_date32(kind) or _is_text(kind):
        try:
            return values.cast(pa.string())
        except pa.ArrowInvalid:
            raise Refused("a column holds bytes that are no text", "--ignore COLUMN") from None
    return pa.array([value_text(value) for value in values.to_pylist()], pa.string())


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary,
             pa.types.is_large_binary, pa.types.is_fixed_size_binary)  # fmt: skip
    return any(is_kind(kind) for is_kind in tests) or str(kind) == "string_view"


def named(value: Any, names: Sequence[str]) -> Any:
    """Return the category that a number stands for; that of -1 is unknown."""
    if isinstance(value, list):
        return [named(number, names) for number in value]
    number = str(value)
    if number.isdecimal() and int(number) < len(names):
        return names[int(number)]
    return "" if number == "-1" else value


def all_whole(numbers: Any) -> bool:
    finite = numbers[np.isfinite(numbers)]
    return bool((finite == np.floor(finite)).all())


_LONGEST_SHOWN = 100  # characters of a list
_MOST_MODELS = 100  # that a layout lists


class Table(Protocol):
    name: str
    layout: ReadAs | None
    facts: dict[str, Any]


class Rows(NamedTuple):
    """Some rows of a table: their places, and each column by its position in the header."""

    header: Sequence[str]  # it only ever grows
    lines: Numbers
    column: Callable[[int], Column]
    lists: Collection[int] = ()  # positions of columns that hold lists
    layout: Layout | None = None  # that of the table, if it is known already


def batches_of_rows(
    table: Table, reading: Reading, parts: Iterator[Rows], unit: Unit = "line"
) -> Iterator[Batch]:
    """Yield the records of a table in batches. Raises Refused if it cannot be read.

    In a row with a list of annotators, every other list holds one value for each of them. Any
    other list is one of the categories of an answer, or rejected.
    """
    return as_concluded(_batches(table, reading, parts, unit), table, reading)


def as_concluded(batches: Iterator[Batch], table: Table, reading: Reading) -> Iterator[Batch]:
    """Yield the batches of a table with what its columns say together: models, orders of dates.

    Raises Refused if dates have no order, or if the item was guessed and cannot be.
    """
    batches = without_unread_columns(batches, table, reading)
    judged = _with_models(_with_plausible_items(batches, table), table)
    return with_read_dates(judged, table, reading)


def _with_models(batches: Iterator[Batch], table: Table) -> Iterator[Batch]:
    """Yield the batches of a table, in which models are such and named with their version.

    A kind that the table gives stands. The layout of the table names the models.
    """
    models: dict[str, None] = {}
    for batch in batches:
        layout = table.layout
        if not isinstance(layout, Layout) or layout.judge is None:
            yield batch
            continue
        yield _judged(batch, layout.judge, models)
        if len(models) > len(layout.models) < _MOST_MODELS:
            table.layout = replace(layout, models=tuple(models)[:_MOST_MODELS])


def _judged(batch: Batch, judge: Judge, models: dict[str, None]) -> Batch:
    """Return a batch with the kind of each annotator; ``models`` gets those that are models."""
    columns = dict(batch.columns)
    nothing = Cells(np.zeros(len(batch.lines), np.int64), text_array([""]))
    parts = [columns["annotator"], columns.pop("version", nothing), columns.get("kind", nothing)]
    first, codes = combine_cells(parts)
    names, kinds = [], []
    for name, version, kind in zip(*(part.at(first) for part in parts), strict=True):
        model = kind.strip().casefold() == MODEL or (
            not kind.strip() and judge.is_model(name.strip(), version.strip())
        )
        names.append(name_with_version(name.strip(), version.strip()) if model else name)
        kinds.append(MODEL if model else kind)
        if model:
            models[names[-1]] = None
    columns["annotator"] = column_of_codes(codes, names)
    if any(kinds):
        columns["kind"] = column_of_codes(codes, kinds)
    return replace(batch, columns=columns)


def _with_plausible_items(batches: Iterator[Batch], table: Table) -> Iterator[Batch]:
    """Yield batches; raises Refused if a column ``id`` numbers the rows of several annotators."""
    for batch in batches:
        layout = table.layout
        if isinstance(layout, Layout) and layout.guessed_item and "annotator" in batch.columns:
            item = batch.columns["item"]
            is_row = len(item.distinct) == len(item.codes) > 1
            if is_row and len(batch.columns["annotator"].distinct) > 1:
                name = layout.names[layout.roles["item"]]
                raise Refused(
                    f"{table.name} has no column for the item: {name!r} differs in each row, and "
                    f"there are several annotators; its columns are: {listed_names(layout.names)}",
                    f"say which: --map item=COLUMN; if no item has two answers: --map item={name}"
                    if not layout.other_item
                    else f"as the cells suggest: --map {quote(f'item={layout.other_item}')}",
                )
        yield batch


def _batches(table: Table, reading: Reading, parts: Iterator[Rows], unit: Unit) -> Iterator[Batch]:
    first = next(parts)
    layout = table.layout = _layout(first, table, reading)  # before the next part is read
    passed = 0
    filled = (part for part in chain([first], parts) if len(part.lines))
    for part, last in with_last(filled):
        if len(part.header) > len(layout.names):
            layout = table.layout = _layout(part, table, reading)
        columns, lines = {n: part.column(n) for n in layout.places}, part.lines
        cells = {n: column for n, column in columns.items() if isinstance(column, Cells)}
        if len(cells) < len(columns):
            lists = _Lists(table.name, lines, reading, unit, {*layout.cells_alone})
            lines, cells = lists.resolved(layout, columns)
        if (rows := answered_rows(layout, cells, last=last)) is not None:
            lines, cells = lines[rows], {n: column.take(rows) for n, column in cells.items()}
        numbers: Numbers = passed + 1 + np.searchsorted(part.lines, lines)
        if layout.header_row is not None:
            numbers = lines - layout.header_row
        passed += len(part.lines)
        yield batch_of_table(layout, lines, cells, numbers, table.name, reading, unit)
        del cells, columns
    if not passed:
        raise Refused(f"{table.name} holds no row")


def _layout(part: Rows, table: Table, reading: Reading) -> Layout:
    if part.layout is not None:
        return part.layout
    mapped, header, name, ignore = reading.mapped, part.header, table.name, reading.options.ignore
    rows = _first_rows(part) if mapped.wide or mapped.by_item or mapped.counts else []
    try:
        layout = layout_of_header(header, mapped, name, ignore, part.lists, rows[:LOOKED_AT])
    except (MissingColumns, UnclearColumns) as error:
        columns = FirstRows(header, rows or _first_rows(part), mapped, error.layout, ignore)
        raise proposals.with_proposal(error, columns, name) from None
    if layout.guessed_item:
        rows = rows or _first_rows(part)
    return proposals.checked_layout(layout, header, rows, mapped, name, ignore)


def _first_rows(part: Rows) -> list[tuple[str, ...]]:
    """Return the cells of the first rows; those of lists and objects are empty."""
    number = min(len(part.lines), proposals.most_rows(len(part.header)))
    texts = []
    for column in map(part.column, range(len(part.header))):
        cells = column.at(np.arange(number)) if isinstance(column, Cells) else column[:number]
        texts.append([cell if isinstance(cell, str) else "" for cell in cells])
    return [*zip(*texts, strict=True)]


_Part = TypeVar("_Part")


def with_last(parts: Iterator[_Part]) -> Iterator[tuple[_Part, bool]]:
    waiting: list[_Part] = []
    for part in parts:
        if waiting:
            yield waiting.pop(), False
        waiting.append(part)
        del part
    if waiting:
        yield waiting.pop(), True


@dataclass
class _Lists:
    """Some rows in which cells are lists, and the rejections of those that cannot be."""

    name: str
    lines: Numbers
    reading: Reading
    unit: Unit
    alone: Collection[int]  # places of cells of which each is a record
    bad: set[int] = field(default_factory=set)

    def resolved(
        self, layout: Layout, columns: Mapping[int, Column]
    ) -> tuple[Numbers, dict[int, Cells]]:
        """Return the good rows without any list; in a row of several annotators each is JSON."""
        roles = {n: role for role, place in layout.roles.items() for n in layout.parts_of(place)}
        whose = columns.get(layout.roles.get("annotator", -1), ())
        people = () if isinstance(whose, Cells) else whose
        rows = {n for n, names in enumerate(people) if _is_list(names)}
        cells: dict[int, Cells] = {}
        for n, column in columns.items():
            if isinstance(column, Cells):
                cells[n] = column
                continue
            each = enumerate(column)
            plain = [_as_json(c) if row in rows and _is_list(c) else c for row, c in each]
            cells[n] = self._cells(roles.get(n, ""), plain, alone=n in self.alone)
        good = np.flatnonzero(~np.isin(np.arange(len(self.lines)), list(self.bad)))
        return self.lines[good], {n: column.take(good) for n, column in cells.items()}

    def _cells(self, role: str, column: Sequence[Any], *, alone: bool) -> Cells:
        """Return a column, each list of categories as one text, see `LISTED`.

        A fault in a cell that is a record ``alone`` is left in it: it is of no other one.
        """
        question = role.removeprefix(OF_QUESTION) if role.startswith(OF_QUESTION) else None
        if question is None and role not in {"", "category"}:
            texts = [self._plain(n, cell, role) for n, cell in enumerate(column)]
        else:
            of = "" if question is None else f"{question}: "
            answers = self.reading.by_question.get(question or "", self.reading.answers)
            joined = [self._joined(cell, of, answers) for cell in column]
            texts = [
                text if alone or not text.startswith(FAULT) else self._reject(n, text[len(FAULT) :])
                for n, text in enumerate(joined)
            ]
        listed = any(text.startswith(LISTED) for text in texts)
        return replace(Cells.of_texts(texts), listed=listed)

    def _joined(self, cell: Any, question: str, answers: str) -> str:
        """Return a cell of categories as one text; if it cannot be, `FAULT` and why."""
        if isinstance(cell, str):
            return cell
        if isinstance(cell, CellFault):
            return f"{FAULT}{question}the category is {cell.what}"
        if isinstance(cell, Mapping) or answers != "several":
            way = "--question NAME=COLUMN:several" if question else "--answers several"
            way = "" if isinstance(cell, Mapping) else f"; if an answer may be several: {way}"
            return f"{FAULT}{question}the category is {_shown(cell)}, not a single one{way}"
        members = [value_text(member) for member in cell]
        if not all(isinstance(member, str) for member in members):
            return f"{FAULT}{question}the category is {_shown(cell)}, a list of lists"
        return LISTED + LISTED.join(dict.fromkeys(members))

    def _plain(self, row: int, cell: Any, role: str) -> str:
        if isinstance(cell, str):
            return cell
        if isinstance(cell, CellFault):
            return self._reject(row, f"the {role.removeprefix(KEEP)} is {cell.what}")
        if role.startswith(KEEP):
            return json.dumps(cell, ensure_ascii=False, default=str)
        return self._reject(row, f"the {role} is {_shown(cell)}, not a single value")

    def _reject(self, row: int, reason: str) -> str:
        if row not in self.bad:
            self.bad.add(row)
            line = int(self.lines[row])
            self.reading.rejections.add_unread(self.name, line, reason, self.unit)
        return ""


def _as_json(cell: Iterable[Any]) -> str:
    members = [
        text if isinstance(text, str | Mapping) else [*map(value_text, text)]
        for text in map(value_text, cell)
    ]
    return json.dumps(members, ensure_ascii=False, default=str)


def _is_list(cell: Any) -> bool:
    return cell is not None and not isinstance(cell, str | Mapping | CellFault)


def _shown(cell: Any) -> str:
    text = repr(cell)
    noun = "an object" if isinstance(cell, Mapping) else "a list"
    return f"{noun}, {text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + '…'}"
