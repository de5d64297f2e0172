"""Rows as Arrow batches with proper types: some thousands at a time, never all of them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Final, Literal

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
    """Write rows as they come to a Parquet file; return how many."""
    import pyarrow.parquet as pq

    number = 0
    with pq.ParquetWriter(file, rows_schema(columns, types)) as writer:
        for batch in rows_batches(columns, rows, types):
            writer.write_batch(batch)
            number += len(batch)
    return number


def rows_frame(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], types: Mapping[str, Type]
) -> pd.DataFrame:
    """Return rows as a frame: categoricals, whole numbers with gaps, moments in UTC."""
    import pyarrow as pa

    table = pa.Table.from_batches(
        rows_batches(columns, rows, types), schema=rows_schema(columns, types)
    )
    return table_frame(table.unify_dictionaries())


def table_frame(table: pa.Table) -> pd.DataFrame:
    """Return a table as a frame in which a whole number may be missing."""
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
