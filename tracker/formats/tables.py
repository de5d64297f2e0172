"""Tables whose cells may be lists: a row may hold several answers, an answer several categories."""

from __future__ import annotations

import json
import math
import pickle
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from tracker.core.errors import Refused
from tracker.formats.batch import KEEP, LISTED, Batch, Cells, Flags, Numbers, text_array
from tracker.formats.column_names import NO, YES, listed_names
from tracker.formats.column_roles import NUMBERS, Layout, layout_of_header
from tracker.formats.dates import ORDERS, DateOrder, date_format_reader
from tracker.formats.judge_columns import MODEL, Judge, name_with_version
from tracker.formats.question_columns import OF_QUESTION
from tracker.formats.reader import Reading
from tracker.formats.source import ReadAs
from tracker.formats.surroundings import answered_rows
from tracker.projects.questions import QuestionOptions

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
    """Return whether there may be dates that do not begin with their year."""
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
        table.facts["date_format"] = order.date_format(chosen)
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
        # Who writes points has the day first.
        forms = [order.date_format(name) for name in orders if order.mark != "." or name != "mdy"]
        ways = " or ".join(f"--date-format {quote(form)}" for form in forms)
        raise Refused(
            f"{name}: {order.doubtful!r} in {column!r} may be {days[0]} or {days[1]}",
            f"say {'which' if forms[1:] else 'how'}: {ways}; or {without}",
        )
    return min(order.left)


# -- Values of tables that have types, as a delimited file would hold them ------------------------


@dataclass(frozen=True)
class CellFault:
    """What a cell holds instead of a value, such as ``#DIV/0!``: its row is rejected."""

    what: str


Column = Cells | Sequence[Any]
"""The cells of a column; a sequence if some are lists, objects or faults, beside texts."""


def value_text(value: Any) -> Any:
    """Return a plain value as a text; a list, an object, a fault, as it is.

    A whole number is written without a point, a boolean as in JSON, and nothing for a value that is
    missing.
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
    if all(isinstance(text, str) for text in texts):
        return Cells.of_texts(texts)
    return texts


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
        return column_of_values(values if whole else list(map(_with_point, values)))
    return column_of_arrow(array, whole=whole)


def _with_point(value: Any) -> Any:
    """Return a float as text, for a column that holds fractions."""
    return repr(value) if isinstance(value, float) and not math.isnan(value) else value


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
        texts = [
            str(int(number) if is_whole else number)
            for number, is_whole in zip(shown, integers, strict=True)
        ]
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
    """Return whether all floats of an array are whole numbers, or missing."""
    finite = numbers[np.isfinite(numbers)]
    return bool((finite == np.floor(finite)).all())


_LONGEST_SHOWN = 100  # characters of a list
_MOST_MODELS = 100  # that a layout lists


class Table(Protocol):
    name: str
    layout: ReadAs | None
    facts: dict[str, Any]


class Rows(NamedTuple):
    """Some rows of a table: their places, and each column by its position in the header.

    ``lists`` are the positions of columns that hold lists. The header only ever grows.
    ``layout`` is the table's, if it is known already.
    """

    header: Sequence[str]
    lines: Numbers
    column: Callable[[int], Column]
    lists: Collection[int] = ()
    layout: Layout | None = None


def batches_of_rows(
    table: Table, reading: Reading, parts: Iterator[Rows], unit: str = "line"
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
    judged = _with_models(_with_plausible_items(batches, table), table)
    return with_read_dates(judged, table, reading)


def _with_models(batches: Iterator[Batch], table: Table) -> Iterator[Batch]:
    """Yield the batches of a table, in which models are such and named with their version.

    A kind that the table gives stands, and a version belongs to a model only. The layout of the
    table names the models.
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
    first, codes = _combined(parts)
    names, kinds = [], []
    for name, version, kind in zip(*(part.at(first) for part in parts), strict=True):
        model = kind.strip().casefold() == MODEL or (
            not kind.strip() and judge.is_model(name.strip(), version.strip())
        )
        names.append(name_with_version(name.strip(), version.strip()) if model else name)
        kinds.append(MODEL if model else kind)
        if model:
            models[names[-1]] = None
    columns["annotator"] = _column_of_codes(codes, names)
    if any(kinds):
        columns["kind"] = _column_of_codes(codes, kinds)
    return replace(batch, columns=columns)


def _combined(columns: Sequence[Cells]) -> tuple[Numbers, Numbers]:
    """Return the first row of each combination of cells, and the combination of each row."""
    numbers = np.zeros(len(columns[0].codes), np.int64)
    for column in columns:
        numbers = numbers * len(column.distinct) + column.codes
    _, first, codes = np.unique(numbers, return_index=True, return_inverse=True)
    return first, codes.ravel()


def _column_of_codes(codes: Numbers, texts: Sequence[str]) -> Cells:
    """Return a column with its texts once each, in the order in which they occur."""
    return Cells(codes, text_array(texts)).mapped(str).take(np.arange(len(codes)))


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
                    f"say which: --map item=COLUMN; if no item has two answers: --map item={name}",
                )
        yield batch


def _batches(table: Table, reading: Reading, parts: Iterator[Rows], unit: str) -> Iterator[Batch]:
    first = next(parts)
    layout = table.layout = _layout(first, table, reading)  # before the next part is read
    empty = True
    filled = (part for part in chain([first], parts) if len(part.lines))
    for part, last in with_last(filled):
        if len(part.header) > len(layout.names):
            layout = table.layout = _layout(part, table, reading)
        empty = False
        columns = {n: part.column(n) for n in layout.places}
        lines = part.lines
        if not all(isinstance(column, Cells) for column in columns.values()):
            lines, columns = _Lists(table.name, lines, reading, unit).resolved(layout, columns)
        cells = {n: column for n, column in columns.items() if isinstance(column, Cells)}
        if (rows := answered_rows(layout, cells, last=last)) is not None:
            lines, cells = lines[rows], {n: column.take(rows) for n, column in cells.items()}
        header_row = 1 if layout.header_row is None else layout.header_row
        batch = batch_of_table(layout, lines, cells, lines - header_row)
        yield replace(batch, unit=unit)
        del batch, cells, columns
    if empty:
        raise Refused(f"{table.name} holds no row")


def _layout(part: Rows, table: Table, reading: Reading) -> Layout:
    ignore = reading.options.ignore
    return part.layout or layout_of_header(
        part.header, reading.mapped, table.name, ignore, part.lists
    )


_Part = TypeVar("_Part")


def with_last(parts: Iterator[_Part]) -> Iterator[tuple[_Part, bool]]:
    """Yield each part of a table, and whether it is the last."""
    waiting: list[_Part] = []
    for part in parts:
        if waiting:
            yield waiting.pop(), False
        waiting.append(part)
        del part
    if waiting:
        yield waiting.pop(), True


def batch_of_table(
    layout: Layout, lines: Numbers, cells: Mapping[int, Cells], numbers: Numbers | None = None
) -> Batch:
    """Return the records of some rows: one a row, or in wide form one a filled cell.

    ``numbers`` are those of the rows in the table, from 1, if the layout wants them.
    """
    cells = dict(cells)
    if layout.numbered:
        assert numbers is not None
        cells[NUMBERS] = Cells.of_texts([str(number) for number in numbers.tolist()])
    for place, parts in layout.joined.items():
        cells[place] = joined_cells([cells[part] for part in parts], layout.join)
    if layout.named:
        return _named_batch(layout, lines, cells)
    if layout.wide:
        return _wide_batch(layout, lines, cells)
    return Batch(lines, {role: cells[n] for role, n in layout.roles.items()}, names=_names(layout))


def joined_cells(columns: Sequence[Cells], join: str) -> Cells:
    """Return the cells of several columns as one text each; empty if all of them are."""
    first, codes = _combined(columns)
    parts = zip(*(column.at(first) for column in columns), strict=True)
    texts = [join.join(map(str.strip, row)) if any(map(str.strip, row)) else "" for row in parts]
    return _column_of_codes(codes, texts)


def _wide_batch(layout: Layout, lines: Numbers, cells: Mapping[int, Cells]) -> Batch:
    """Return one record per filled cell of an annotator, row by row; an empty cell says nothing."""
    names = list(layout.annotators)
    by_row = _row_by_row([cells[n] for n in layout.annotators.values()])
    filled = np.flatnonzero(by_row.holds(_is_filled))
    columns = _of_rows(layout, cells, filled // len(names), {"annotator", "category"})
    columns["annotator"] = Cells(np.arange(len(names)), text_array(names)).take(filled % len(names))
    columns["category"] = by_row.take(filled)
    return Batch(lines[filled // len(names)], columns, names=_names(layout))


def _names(layout: Layout) -> dict[str, str]:
    return {role: layout.name_of(n) for role, n in layout.roles.items()}


def _named_batch(layout: Layout, lines: Numbers, cells: Mapping[int, Cells]) -> Batch:
    """Return the records of columns that are named by a pattern.

    The cell is the category, if the name has none; else a record for each cell that says yes, and
    for an answer of which no cell does, one without a category.
    """
    width = len(layout.named)
    by_row = _row_by_row([cells[column.place] for column in layout.named])
    filled = by_row.holds(_is_filled)
    says: dict[str, Cells] = {}
    for part in ("annotator", "question", "category"):
        texts = [getattr(column, part) for column in layout.named]
        if None not in texts:
            distinct = dict.fromkeys(texts)
            places = {text: n for n, text in enumerate(distinct)}
            coded = np.array([places[text] for text in texts])
            says[part] = Cells(coded, text_array([*distinct]))
    several: list[str] = []
    if "category" in says:
        cells_kept, blank, several = _chosen(by_row, filled, says, width)
    else:
        cells_kept, blank = np.flatnonzero(filled), None
    columns = _of_rows(layout, cells, cells_kept // width, {*says, "category"})
    columns |= {part: column.take(cells_kept % width) for part, column in says.items()}
    if blank is None:
        columns["category"] = by_row.take(cells_kept)
    elif blank.any():
        texts = columns["category"].at(np.arange(len(cells_kept)))
        columns["category"] = Cells.of_texts(
            ["" if none else text for text, none in zip(texts, blank.tolist(), strict=True)]
        )
    questions = {
        question: QuestionOptions(answers="several" if question in several else "one")
        for question in (says["question"].texts if "question" in says else ())
    }
    return Batch(lines[cells_kept // width], columns, asked=questions, names=_names(layout))


def _chosen(
    by_row: Cells, filled: Flags, says: Mapping[str, Cells], width: int
) -> tuple[Numbers, Flags, list[str]]:
    """Return the cells that say yes, with one of each answer in which none does, and which are so.

    Also the questions of which an answer holds several categories. Raises Refused for a cell that
    says neither yes nor no.
    """
    yes = by_row.holds(lambda text: text.strip().casefold() in YES)
    no = by_row.holds(lambda text: text.strip().casefold() in NO)
    if (wrong := np.flatnonzero(filled & ~yes & ~no)).size:
        cell = by_row[int(wrong[0])].strip()
        raise Refused(
            f"the cell {cell!r} says neither yes nor no",
            "cells of a column for each category are 1 or 0, x or empty; if the cells are "
            "categories, leave {category} out of --columns",
        )
    place = np.arange(len(by_row.codes))
    answer = place // width
    for part in ("annotator", "question"):
        if part in says:
            answer = answer * len(says[part].distinct) + says[part].codes[place % width]
    _, answer = np.unique(answer, return_inverse=True)
    answer = answer.ravel()
    answered = np.bincount(answer, weights=filled) > 0
    number = np.bincount(answer, weights=yes)
    several = (number > 1)[answer]
    without = answered & (number == 0)
    first = np.unique(answer, return_index=True)[1]
    empty = np.zeros(len(place), bool)
    empty[first[without]] = True
    kept = np.flatnonzero(yes | empty)
    questions = says["question"].at(np.unique(place[several] % width)) if "question" in says else []
    return kept, empty[kept], questions


def _row_by_row(columns: Sequence[Cells]) -> Cells:
    """Return the cells of several columns as one, row by row."""
    import pyarrow as pa

    number, width = len(columns[0].codes), len(columns)
    joined = replace(
        Cells.of(
            [
                pa.DictionaryArray.from_arrays(column.codes.astype(np.int32), column.distinct)
                for column in columns
            ]
        ),
        listed=any(column.listed for column in columns),
    )
    return joined.take(np.arange(number * width).reshape(width, number).T.ravel())


def _is_filled(text: str) -> bool:
    return bool(text.strip()) or text.startswith(LISTED)


def _of_rows(
    layout: Layout, cells: Mapping[int, Cells], rows: Numbers, without: Collection[str]
) -> dict[str, Cells]:
    return {role: cells[n].take(rows) for role, n in layout.roles.items() if role not in without}


@dataclass
class _Lists:
    """Some rows in which cells are lists, and the rejections of those that cannot be."""

    name: str
    lines: Numbers
    reading: Reading
    unit: str
    bad: set[int] = field(default_factory=set)

    def resolved(
        self, layout: Layout, columns: Mapping[int, Column]
    ) -> tuple[Numbers, dict[int, Column]]:
        """Return the good rows, a list of annotators as a row for each, without any list."""
        roles = {n: role for role, n in layout.roles.items()}
        whose = columns.get(layout.roles.get("annotator", -1))
        if whose is not None and not isinstance(whose, Cells):
            columns = self._of_each(columns, whose, roles)
        cells = {
            n: column if isinstance(column, Cells) else self._cells(roles.get(n, ""), column)
            for n, column in columns.items()
        }
        good = np.flatnonzero(~np.isin(np.arange(len(self.lines)), list(self.bad)))
        return self.lines[good], {n: column.take(good) for n, column in cells.items()}

    def _of_each(
        self, columns: Mapping[int, Column], whose: Sequence[Any], roles: Mapping[int, str]
    ) -> dict[int, Column]:
        """Return the columns with a row for each annotator of a list."""
        listed = {n: column for n, column in columns.items() if not isinstance(column, Cells)}
        answers = [n for n in listed if roles.get(n, "").startswith("category")]
        lengths: list[int | None] = []  # None: one row, of no list of annotators
        for row, names in enumerate(whose):
            if not _is_list(names) or not any(_is_list(listed[n][row]) for n in answers):
                lengths.append(None)
                continue
            for n, column in listed.items():
                if _is_list(column[row]) and len(column[row]) != len(names):
                    role = roles.get(n, "").removeprefix(OF_QUESTION).removeprefix(KEEP)
                    number = len(column[row])
                    self._reject(row, f"{len(names)} annotators, and {number} of {role!r}")
            lengths.append(0 if row in self.bad else len(names))
        numbers = [1 if length is None else length for length in lengths]
        rows = np.repeat(np.arange(len(numbers)), numbers)
        of_each = [
            (row, None if lengths[row] is None else place)
            for row, number in enumerate(numbers)
            for place in range(number)
        ]
        self.lines, self.bad = self.lines[rows], set()
        return {
            n: column.take(rows)
            if isinstance(column, Cells)
            else [
                column[row] if place is None or not _is_list(column[row])
                else value_text(list(column[row])[place])
                for row, place in of_each
            ]
            for n, column in columns.items()
        }  # fmt: skip

    def _cells(self, role: str, column: Sequence[Any]) -> Cells:
        """Return a column, each list of categories as one text, see `LISTED`."""
        question = role.removeprefix(OF_QUESTION) if role.startswith(OF_QUESTION) else None
        if question is None and role not in {"", "category"}:
            texts = [self._plain(n, cell, role) for n, cell in enumerate(column)]
        else:
            of = "" if question is None else f"{question}: "
            answers = self.reading.by_question.get(question or "", self.reading.answers)
            texts = [self._joined(n, cell, of, answers) for n, cell in enumerate(column)]
        listed = any(text.startswith(LISTED) for text in texts)
        return replace(Cells.of_texts(texts), listed=listed)

    def _joined(self, row: int, cell: Any, of: str, answers: str) -> str:
        if isinstance(cell, str):
            return cell
        if isinstance(cell, CellFault):
            return self._reject(row, f"{of}the category is {cell.what}")
        if isinstance(cell, Mapping) or answers != "several":
            way = "--question NAME=COLUMN:several" if of else "--answers several"
            way = "" if isinstance(cell, Mapping) else f"; if an answer may be several: {way}"
            return self._reject(row, f"{of}the category is {_shown(cell)}, not a single one{way}")
        members = [value_text(member) for member in cell]
        if not all(isinstance(member, str) for member in members):
            return self._reject(row, f"{of}the category is {_shown(cell)}, a list of lists")
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
        """Reject a row, for one reason only, and return an empty cell."""
        if row not in self.bad:
            self.bad.add(row)
            line = int(self.lines[row])
            self.reading.rejections.add_unread(self.name, line, reason, self.unit)
        return ""


def _is_list(cell: Any) -> bool:
    return cell is not None and not isinstance(cell, str | Mapping | CellFault)


def _shown(cell: Any) -> str:
    text = repr(cell)
    noun = "an object" if isinstance(cell, Mapping) else "a list"
    return f"{noun}, {text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + '…'}"
