"""Parquet files, and what tables of Arrow have in common."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tracker.core.errors import Refused, first_line
from tracker.formats.batch import Batch
from tracker.formats.column_roles import Layout
from tracker.formats.delimited import raw_objects, read_records
from tracker.formats.reader import HOLDS, RawTable, Reader, Reading
from tracker.formats.source import SourceFile
from tracker.formats.tables import (
    Column,
    Rows,
    all_whole,
    batches_of_rows,
    column_of_arrow,
    named,
    value_text,
)
from tracker.readers import argilla

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_AT_ONCE = 100_000  # rows
_OBJECTS = 1_000  # rows that are held as objects


def read_parquet(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the records of a Parquet file in batches; only columns that are used are read.

    Raises Refused if the file is damaged, or cannot be read as a table.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(source.seekable())
        if argilla.is_argilla_dataset(file.schema_arrow.names):
            yield from argilla.read_rows(source, reading, _objects(file))
        elif reading.options.each or reading.mapped.by_item or reading.mapped.counts:
            yield from read_records(source, reading, enumerate(_objects(file), 1), "row")
        else:
            yield from batches_of_rows(source, reading, _rows(source, file), unit="row")
    except (pa.ArrowException, OSError) as error:
        raise Refused(
            f"{source.name} is no Parquet file that can be read: {first_line(error)}"
        ) from None


def raw_parquet(source: SourceFile, _reading: Reading) -> Iterator[RawTable]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(source.seekable())
    except (pa.ArrowException, OSError):
        raise Refused(f"{source.name} is no Parquet file that can be read") from None
    yield raw_objects(source.name, enumerate(_objects(file), 1), "row", value_text)


PARQUET = Reader(
    "parquet",
    recognizes=lambda source: source.head[:4] == b"PAR1",
    read=read_parquet,
    raw=raw_parquet,
    title="Parquet: a row per answer, or a column per annotator or question",
    holds=HOLDS,
)


def _rows(source: SourceFile, file: pq.ParquetFile) -> Iterator[Rows]:
    import pyarrow as pa

    schema = flattened(pa.Table.from_batches([], file.schema_arrow)).schema
    names = _category_names(file.schema_arrow)
    lists = {n for n, kind in enumerate(schema.types) if is_list_type(kind)}
    yield Rows(schema.names, np.arange(0), lambda _: [], lists)
    assert isinstance(source.layout, Layout)  # made from the header
    used = sorted(source.layout.places)
    are_whole = {n: _whole_column(file, schema.names[n], schema.types[n]) for n in used}
    top = list(dict.fromkeys(_top(file, schema.names[n]) for n in used))
    before = 0
    for batch in file.iter_batches(_AT_ONCE, columns=top, use_threads=False):
        part = flattened(pa.Table.from_batches([batch]))

        def column(n: int, part: pa.Table = part) -> Column:
            name = schema.names[n]
            return column_of_arrow(part.column(name), whole=are_whole[n], names=names.get(name, ()))

        yield Rows(schema.names, np.arange(len(part)) + before + 1, column, lists)
        before += len(part)


def _objects(file: pq.ParquetFile) -> Iterator[dict[str, Any]]:
    """Yield each row as an object, its numbers of categories as their names."""
    names = _category_names(file.schema_arrow)
    for batch in file.iter_batches(_OBJECTS, use_threads=False):
        for row in batch.to_pylist():
            yield {
                key: named(value, names[key]) or None if key in names else value
                for key, value in row.items()
            }


def _top(file: pq.ParquetFile, name: str) -> str:
    return name if name in file.schema_arrow.names else name.partition(".")[0]


def _whole_column(file: pq.ParquetFile, name: str, kind: Any) -> bool:
    import pyarrow as pa

    if not _is_floating(kind):
        return True
    parts = file.iter_batches(_AT_ONCE, columns=[_top(file, name)], use_threads=False)
    tables = (flattened(pa.Table.from_batches([part])) for part in parts)
    return all(whole_numbers(table.column(name)) for table in tables)


def _is_floating(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_floating(kind.value_type if pa.types.is_dictionary(kind) else kind))


def whole_numbers(column: Any) -> bool:
    import pyarrow as pa

    if not _is_floating(column.type):
        return True
    return all_whole(column.cast(pa.float64()).to_numpy(zero_copy_only=False))


def flattened(table: pa.Table) -> pa.Table:
    """Return a table with the fields of objects as columns of their own: ``meta.topic``."""
    while any(str(kind).startswith("struct<") for kind in table.schema.types):
        table = table.flatten()
    return table


def is_list_type(kind: Any) -> bool:
    return str(kind).startswith(("list<", "large_list<", "fixed_size_list<"))


def _category_names(schema: pa.Schema) -> dict[str, Sequence[str]]:
    """Return the categories that numbers stand for, as `datasets` of Hugging Face notes them."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        names = {name: _names_of(feature) for name, feature in features.items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}
    return {column: categories for column, categories in names.items() if categories}


def _names_of(feature: Any) -> list[str]:
    if isinstance(feature, list) and feature:
        return _names_of(feature[0])
    if not isinstance(feature, Mapping):
        return []
    if feature.get("_type") == "ClassLabel":
        return ["" if name is None else str(name) for name in feature.get("names") or ()]
    return _names_of(feature.get("feature"))
