"""JSON of plain objects, in a list or one a line: a table whose columns are the keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from tracker.core.errors import Refused
from tracker.imports.batch import Batch
from tracker.imports.readers.reader import HOLDS, Reader, Reading
from tracker.imports.readers.records import head_value, json_records
from tracker.imports.readers.source import SourceFile
from tracker.imports.readers.tables import Rows, batches_of_rows
from tracker.imports.readers.typed_cells import Column, column_of_values

_AT_ONCE = 20_000  # objects


def read_objects(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the records of a JSON file in batches; objects within objects are dotted columns.

    Raises Refused for a file that is no JSON, or that holds something else than objects.
    """
    unit = "value" if source.head.lstrip()[:1] == b"[" else "line"
    return batches_of_rows(source, reading, _rows(source, unit), unit)


JSON_TABLE = Reader(
    "json",
    recognizes=lambda source: isinstance(head_value(source), dict),
    read=read_objects,
    title="JSON or JSONL: an object per answer, or a key per annotator or question",
    holds=HOLDS,
)


def _rows(source: SourceFile, unit: str) -> Iterator[Rows]:
    records = json_records(source)
    header: dict[str, None] = {}
    while some := list(islice(records, _AT_ONCE)):
        flat = []
        for place, value in some:
            if not isinstance(value, dict):
                raise Refused(f"{source.name}, {unit} {place}: this is no object with its keys")
            flat.append(_flat(value))
            header.update(dict.fromkeys(flat[-1]))
        names = list(header)
        lists = {n for n, name in enumerate(names)
                 if any(isinstance(one.get(name), list) for one in flat)}  # fmt: skip

        def column(n: int, flat: list[dict[str, Any]] = flat, names: list[str] = names) -> Column:
            return column_of_values([one.get(names[n]) for one in flat])

        yield Rows(names, np.array([place for place, _ in some]), column, lists)


def _flat(value: Mapping[str, Any], before: str = "", depth: int = 0) -> dict[str, Any]:
    """Return an object with the keys of objects in it dotted: ``meta.topic``."""
    found: dict[str, Any] = {}
    for key, one in value.items():
        if isinstance(one, Mapping) and one and depth < 20:
            found |= _flat(one, f"{before}{key}.", depth + 1)
        else:
            found[before + key] = one
    return found
