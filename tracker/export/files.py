"""Rows as Arrow batches with proper types: some thousands at a time, never all of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from shutil import rmtree
from typing import IO, TYPE_CHECKING, Any, Final, Literal

from tracker.core.errors import InvalidOption

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Type = Literal["integer", "number", "time", "category"]
"""What a column holds; one without a type holds texts."""

COLUMN_TYPES: Final[Mapping[str, Type]] = {
    "question": "category",
    "annotator": "category",
    "category": "category",
    "kind": "category",
    "method": "category",
    "pass": "integer",
    "start": "integer",
    "end": "integer",
    "n_tokens": "integer",
    "labeled_at": "time",
    "seconds": "number",
    "confidence": "number",
    "entropy": "number",
    "people": "integer",
    "skipped": "integer",
}
"""The columns of labels and of a consensus that are no texts."""

_AT_ONCE = 50_000  # rows


def rows_schema(columns: Sequence[str], types: Mapping[str, Type]) -> pa.Schema:
    """Return the schema of rows, with what pandas needs to read whole numbers beside gaps."""
    import pyarrow as pa

    schema = pa.schema([(name, _arrow_type(types.get(name))) for name in columns])
    frame = table_frame(schema.empty_table())
    return schema.with_metadata(pa.Schema.from_pandas(frame, preserve_index=False).metadata)


def rows_batches(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], types: Mapping[str, Type]
) -> Generator[pa.RecordBatch, None, None]:
    """Yield the rows as batches of `rows_schema`; times are ISO 8601 in UTC."""
    import pyarrow as pa

    schema, left = rows_schema(columns, types), iter(rows)
    while portion := list(islice(left, _AT_ONCE)):
        cells = zip(columns, zip(*portion, strict=True), schema.types, strict=True)
        arrays = [_array(values, types.get(name), kind) for name, values, kind in cells]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def write_parquet_rows(
    file: IO[bytes],
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    types: Mapping[str, Type],
) -> int:
    import pyarrow.parquet as pq

    number = 0
    with pq.ParquetWriter(file, rows_schema(columns, types)) as writer:
        for batch in rows_batches(columns, rows, types):
            writer.write_batch(batch)
            number += len(batch)
    return number


A_FILE = 500_000
"""Rows of a file of a folder, at least; the rest of an item's answers are in the same file."""


def write_parquet_folder(
    folder: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]], types: Mapping[str, Type]
) -> tuple[int, int]:
    """Write rows as they come to Parquet files in a new folder; return how many rows and files.

    All rows of an item that follow each other are in one file, so that what is counted of the
    files adds up. The folder has its name once it is whole. Raises InvalidOption if it is there
    and holds anything, or cannot be made.
    """
    part = folder.with_name(f".{folder.name}.part")
    number, files = 0, 0
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InvalidOption(f"{folder} is there and not empty", "name a new folder")
        rmtree(part, ignore_errors=True)  # of a command that was killed
        part.mkdir(parents=True)
        for files, (_, some) in enumerate(groupby(rows, _file_of(columns.index("item"))), 1):
            with (part / f"part-{files:05}.parquet").open("wb") as file:
                number += write_parquet_rows(file, columns, some, types)
        part.replace(folder)
    except OSError as error:
        why = error.strerror or error
        raise InvalidOption(f"{folder} cannot be made: {why}", "name another folder") from None
    finally:
        rmtree(part, ignore_errors=True)
    return number, files


def _file_of(place: int) -> Callable[[Sequence[Any]], int]:
    file, rows, last = 0, 0, None

    def of(row: Sequence[Any]) -> int:
        nonlocal file, rows, last
        if rows >= A_FILE and row[place] != last:
            file, rows = file + 1, 0
        rows, last = rows + 1, row[place]
        return file

    return of


def rows_frame(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], types: Mapping[str, Type]
) -> pd.DataFrame:
    import pyarrow as pa

    table = pa.Table.from_batches(
        rows_batches(columns, rows, types), schema=rows_schema(columns, types)
    )
    return table_frame(table.unify_dictionaries())


def table_frame(table: pa.Table) -> pd.DataFrame:
    import pandas as pd
    import pyarrow as pa

    frame: pd.DataFrame = table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    return frame


def _arrow_type(kind: Type | None) -> pa.DataType:
    import pyarrow as pa

    by_kind: dict[Type | None, pa.DataType] = {
        None: pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "time": pa.timestamp("us", "UTC"),
        "category": pa.dictionary(pa.int32(), pa.string()),
    }
    return by_kind[kind]


def _array(values: Sequence[Any], kind: Type | None, as_type: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if kind == "category":
        return pa.array(values, pa.string()).dictionary_encode()
    if kind == "time":
        return pa.array(values, pa.string()).cast(as_type)
    return pa.array(values, as_type)
