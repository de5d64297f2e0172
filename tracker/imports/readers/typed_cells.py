"""Values of tables that have types, as a delimited file would hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from tracker.core.errors import Refused
from tracker.imports.batch import Cells

if TYPE_CHECKING:
    import pandas as pd


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
    """Return a column of values of any types."""
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
    """Return a float as text, as in a column of which not all are whole numbers."""
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
        return column_of_values([named(one, names) for one in values] if names else values)
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

    is_kind = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary,
               pa.types.is_large_binary, pa.types.is_fixed_size_binary)  # fmt: skip
    return any(one(kind) for one in is_kind) or str(kind) == "string_view"


def named(value: Any, names: Sequence[str]) -> Any:
    """Return the category that a number stands for; that of -1 is unknown."""
    if isinstance(value, list):
        return [named(one, names) for one in value]
    number = str(value)
    if number.isdecimal() and int(number) < len(names):
        return names[int(number)]
    return "" if number == "-1" else value


def all_whole(numbers: Any) -> bool:
    """Return whether all floats of an array are whole numbers, or missing."""
    finite = numbers[np.isfinite(numbers)]
    return bool((finite == np.floor(finite)).all())
