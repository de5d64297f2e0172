"""Blocks of delimited text in which nothing is quoted: read whole, column by column."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Mapping
from typing import Any

_NOT_PLAIN = (b'"', b"\0")


def plain_columns(
    block: bytes, delimiter: str, width: int, wanted: Mapping[int, bool]
) -> dict[int, Any] | None:
    """Return the wanted columns by position, if every line is a plain row of so many cells.

    They are Arrow arrays; those ``wanted`` with True, which have few distinct cells, are
    encoded. The first of them is the item, which is empty on blank lines only. None for a block
    with quotes, blank or ragged lines or bytes that are not UTF-8: these are left to a reader
    that can say what is wrong on which line.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    # Of a single column a blank line would be a row; and Arrow passes over a mark of encoding.
    if width < 2 or block[:3] == BOM_UTF8 or any(mark in block for mark in _NOT_PLAIN):
        return None
    encoded = pa.dictionary(pa.int32(), pa.string())
    types = {str(n): encoded if few else pa.string() for n, few in wanted.items()}
    try:
        table = csv.read_csv(
            pa.BufferReader(block),
            read_options=csv.ReadOptions(
                column_names=[str(n) for n in range(width)],
                block_size=len(block) + 1,
                use_threads=False,  # on so little they would only wait for each other
            ),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, quote_char=False, ignore_empty_lines=False
            ),
            convert_options=csv.ConvertOptions(
                include_columns=list(types), column_types=types, strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    columns = {n: table.column(str(n)).chunk(0) for n in wanted}
    lengths = pc.binary_length(next(iter(columns.values())))
    return None if pc.any(pc.equal(lengths, 0)).as_py() else columns
