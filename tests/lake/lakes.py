"""Parquet files of labels, and a ledger beside them that holds the same."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from tests.helpers import csv_text
from tracker.core import clock
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

COLUMNS = ("item", "annotator", "category", "pass", "labeled_at", "seconds", "kind")
CATEGORIES = ("x", "y", "z")
DAY = 86_400_000_000
FIRST = clock.parse_timestamp("2026-01-01T00:00:00Z")


class Row(NamedTuple):
    """A label of a file."""

    item: str
    annotator: str
    category: str | None
    number: int = 1
    day: int | None = 0
    seconds: float | None = None
    kind: str = "human"

    @property
    def moment(self) -> int | None:
        """A time of its own on the day: those of one moment are in no order that ledgers share."""
        if self.day is None:
            return None
        second = crc32(f"{self.item} {self.annotator} {self.number}".encode()) % 86_400
        return FIRST + self.day * DAY + second * 1_000_000


def write_parquet(path: Path, rows: Sequence[Row], types: dict[str, Any] | None = None) -> Path:
    """Write rows as `export labels` does, or with other types."""
    kinds = {
        "item": pa.string(), "annotator": pa.dictionary(pa.int32(), pa.string()),
        "category": pa.dictionary(pa.int32(), pa.string()), "pass": pa.int64(),
        "labeled_at": pa.timestamp("us", "UTC"), "seconds": pa.float64(), "kind": pa.string(),
    } | (types or {})  # fmt: skip
    cells = {
        "item": [row.item for row in rows],
        "annotator": [row.annotator for row in rows],
        "category": [row.category for row in rows],
        "pass": [row.number for row in rows],
        "labeled_at": [row.moment for row in rows],
        "seconds": [row.seconds for row in rows],
        "kind": [row.kind for row in rows],
    }
    path.parent.mkdir(exist_ok=True)
    columns = {
        name: pa.array(values, pa.timestamp("us")).cast(kinds[name])
        if name == "labeled_at" and pa.types.is_timestamp(kinds[name])
        else pa.array(values, kinds[name])
        for name, values in cells.items() if kinds[name] is not None
    }  # fmt: skip
    pq.write_table(pa.table(columns), path)
    return path


def write_csv(path: Path, rows: Sequence[Row]) -> Path:
    times = [None if row.moment is None else clock.iso(row.moment) for row in rows]
    cells = [(*row[:4], time, *row[5:]) for row, time in zip(rows, times, strict=True)]
    path.write_text(csv_text([COLUMNS, *cells]))
    return path


def make_both(
    ledger: Ledger, folder: Path, files: Sequence[Sequence[Row]], engine: str = "duckdb"
) -> None:
    """Import files of labels into the project p, and leave the same in files for q."""
    options = QuestionOptions(categories=CATEGORIES)
    folder.mkdir(exist_ok=True)
    tables = [write_csv(folder / f"{n}.csv", rows) for n, rows in enumerate(files)]
    ledger.import_file(tables, "p", options=options, empty="skipped")
    for n, rows in enumerate(files):
        write_parquet(folder / "lake" / f"{n}.parquet", rows)
    ledger.projects.create(
        "q", labels_at=str(folder / "lake"), engine=engine, categories=CATEGORIES
    )


def some_rows(items: int = 40, first: int = 0, seed: int = 1) -> list[Row]:
    """Three to five answers to each item, some on a second pass, one of a model."""
    random = Random(seed)  # noqa: S311 - no secret is made with it
    rows = []
    for n in range(first, first + items):
        truth = random.choice(CATEGORIES)
        for who in random.sample("ABCDEF", random.randint(2, 5)):
            for number in (1, 2)[: 1 + (random.random() < 0.2)]:
                label = truth if random.random() < 0.7 else random.choice(CATEGORIES)
                label = None if random.random() < 0.05 else label
                kind = "model" if who == "B" else "human"
                rows.append(
                    Row(f"item {n:03}", who, label, number, random.randint(0, 60), 1.5 * n, kind)
                )
    return rows


def drawn_rows() -> st.SearchStrategy[list[Row]]:
    """Rows in the order of their items: of answers of one moment that is the order of time."""
    rows = st.builds(
        Row,
        item=st.sampled_from(["i", "j", "k l", "ü'"]),
        annotator=st.sampled_from(["A", "B", "C", "D"]),
        category=st.sampled_from([*CATEGORIES, None]),
        number=st.integers(1, 3),
        day=st.none() | st.integers(0, 40),
        seconds=st.none() | st.integers(0, 90).map(float),
        kind=st.just("human"),
    )
    some = st.lists(rows, min_size=1, max_size=40, unique_by=lambda row: (row[0], row[1], row[3]))
    return some.map(lambda rows: sorted(rows, key=lambda row: row.item))


def touch(path: Path, seconds: int) -> None:
    """Change a file's time, by which a changed file is known that has the same size."""
    at = path.stat().st_mtime + seconds
    os.utime(path, (at, at))
