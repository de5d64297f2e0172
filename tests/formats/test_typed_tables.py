"""Tables with types: the same rows give the same answers, by whatever road they come."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import SEVERAL, fates, standing, stored
from tracker.core.errors import Refused
from tracker.formats.parquet import whole_numbers
from tracker.formats.tables import column_of_arrow, column_of_series, column_of_values
from tracker.ledger import Ledger

Write = Callable[..., Path]

GAP = pd.DataFrame(
    {"item": [1, 2, None, 4], "annotator": ["A", "A", "A", "B"], "category": [1, None, 2, 3],
     "labeled_at": pd.to_datetime(["2026-01-23 11:03", None, "2026-01-24 00:00", None]),
     "seconds": [1.5, None, 2.0, 3.25]}
)  # fmt: skip


def parquet(tmp_path: Path, table: Any, **how: Any) -> Path:
    path = tmp_path / "answers.parquet"
    pq.write_table(table, path, **how)
    return path


@pytest.mark.parametrize("road", ["file", "frame", "table"])
def test_a_gap_makes_no_fraction(ledger: Ledger, tmp_path: Path, road: str) -> None:
    table = pa.Table.from_pandas(GAP)
    if road == "file":
        result = ledger.import_file(
            parquet(tmp_path, table, row_group_size=2), "p", skip_invalid=True
        )
    else:
        frame = GAP if road == "frame" else table
        result = ledger.import_frame(frame, "p", skip_invalid=True)
    assert fates(result) == {"inserted": 3, "rejected": 1}
    assert result.rejections[0].line == (3 if road == "file" else 4)
    assert standing(ledger, "p", "item", "category", "labeled_at", "seconds") == [
        ("1", "1", "2026-01-23T11:03:00Z", 1.5),
        ("2", None, None, None),
        ("4", "3", None, 3.25),
    ]


TYPES = [
    (pa.array([1, None], pa.int64()), ["1", ""]),
    (pa.array([1.0, None]), ["1", ""]),
    (pa.array([0.1, float("nan")], pa.float32()), ["0.1", ""]),
    (pa.array([True, None, False]), ["true", "", "false"]),
    (pa.array(["a", None], pa.large_string()), ["a", ""]),
    (pa.array(["", None]), ["", ""]),
    (pa.array([b"a", None]), ["a", ""]),
    (pa.array(["a", None]).dictionary_encode(), ["a", ""]),
    (pa.DictionaryArray.from_arrays([1, None], [7, 8]), ["8", ""]),
    (pa.array([datetime(2026, 1, 2, 3, 4, 5), None]), ["2026-01-02 03:04:05", ""]),  # noqa: DTZ001
    (pa.array([datetime(2026, 1, 2, 3, 4, 5, 6, UTC)], pa.timestamp("us", "Asia/Tokyo")),
     ["2026-01-02 03:04:05.000006Z"]),
    (pa.array([10**18 + 5], pa.timestamp("ns")), ["2001-09-09 01:46:40"]),
    (pa.array([date(2026, 1, 2), None]), ["2026-01-02", ""]),
    (pa.array([Decimal("1.50")]), ["1.50"]),
    (pa.nulls(2), ["", ""]),
]  # fmt: skip


@pytest.mark.parametrize(("array", "texts"), TYPES, ids=lambda one: str(getattr(one, "type", "")))
def test_what_a_value_is_as_text(array: Any, texts: list[str]) -> None:
    column = column_of_arrow(array, whole=whole_numbers(array))
    assert [column[n] for n in range(len(array))] == texts
    assert len(set(column.texts)) == len(column.texts)  # type: ignore[union-attr]


def test_bytes_that_are_no_text(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    table = pa.table({"item": [b"\xff"], "annotator": ["A"], "category": ["x"]})
    with pytest.raises(Refused, match="bytes that are no text"):
        sqlite_ledger.import_file(parquet(tmp_path, table), "p")


CELLS = st.one_of(st.none(), st.integers(-(2**53), 2**53), st.text("ab", max_size=2), st.booleans())


@given(st.lists(CELLS, min_size=1))
def test_a_column_is_the_same_from_values_and_from_a_frame(values: list[Any]) -> None:
    """Only that a frame takes floats for what they are in their whole column."""
    of_values = column_of_values(values)
    of_series = column_of_series(pd.Series(values, dtype="object"), whole=True)
    for n in range(len(values)):
        assert of_values[n] == of_series[n]


# -- lists in cells ------------------------------------------------------------------------

ROWS: dict[str, list[Any]] = {
    "id": ["i", "j", "k"],
    "text": ["one", "two", "three"],
    "annotators": [["A", "B"], ["A"], []],
    "labels": [["x", "y"], [None], []],
    "seconds": [[1.0, 2.5], [3.0], []],
}


@pytest.mark.parametrize("road", ["parquet", "frame", "table"])
def test_lists_of_annotators_and_labels_are_an_answer_each(
    ledger: Ledger, tmp_path: Path, road: str
) -> None:
    table = pa.table(ROWS)
    how: dict[str, Any] = {"columns": ["item=id"]}
    if road == "parquet":
        ledger.import_file(parquet(tmp_path, table), "p", **how)
    else:
        ledger.import_frame(table if road == "table" else pd.DataFrame(ROWS), "p", **how)
    assert standing(ledger, "p", "item", "annotator", "category", "seconds") == [
        ("i", "A", "x", 1.0), ("i", "B", "y", 2.5), ("j", "A", None, 3.0)
    ]  # fmt: skip


def test_lists_of_unequal_lengths_are_rejected(sqlite_ledger: Ledger) -> None:
    frame = pd.DataFrame({"item": ["i", "j"], "annotators": [["A", "B"], ["A"]]})
    frame["labels"] = [["x"], ["y"]]
    result = sqlite_ledger.import_frame(frame, "p", skip_invalid=True)
    assert result.rejections[0].reason == "2 annotators, and 1 of 'category'"
    assert standing(sqlite_ledger) == [("j", "A", "y")]


def test_lists_within_lists_are_several_categories(ledger: Ledger) -> None:
    table = pa.table({"item": ["i"], "annotators": [["A", "B"]], "labels": [[["x", "y"], []]]})
    ledger.import_frame(table, "p", options=SEVERAL)
    assert standing(ledger) == [("i", "A", "x"), ("i", "A", "y"), ("i", "B", None)]


def test_labels_without_their_annotators_are_refused(sqlite_ledger: Ledger) -> None:
    table = pa.table({"item": ["i"], "labels": [["x", "y"]]})
    with pytest.raises(Refused, match="no column for the annotator"):
        sqlite_ledger.import_frame(table, "p")
    assert stored(sqlite_ledger) == {}


# -- Parquet -------------------------------------------------------------------------------


def test_wide_parquet_with_questions_and_objects(ledger: Ledger, tmp_path: Path) -> None:
    table = pa.table(
        {"item": ["i", "j"], "annotator": ["A", "A"], "Tone": [1, 2], "Fair": [True, None],
         "meta": [{"lang": "nl", "tags": ["a"]}, {"lang": "fr", "tags": []}]}
    )  # fmt: skip
    path = parquet(tmp_path, table)
    asked = ["tone=Tone:ordinal", "fair=Fair"]
    result = ledger.import_file(path, "p", questions=asked, keep=["meta.lang", "meta.tags"])
    assert fates(result) == {"inserted": 4}
    assert standing(ledger, "p", "question", "item", "category") == [
        ("fair", "i", "true"), ("fair", "j", None), ("tone", "i", "1"), ("tone", "j", "2")
    ]  # fmt: skip
    wide = pa.table({"item": ["i", "j"], "A": ["x", None], "B": ["y", "x"]})
    ledger.import_file(parquet(tmp_path, wide), "w", wide=True)
    assert standing(ledger, "w") == [("i", "A", "x"), ("i", "B", "y"), ("j", "B", "x")]


def test_numbers_that_stand_for_labels(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    label = '{"names": ["bad", "good"], "_type": "ClassLabel"}'
    note = f'{{"info": {{"features": {{"label": {label}}}}}}}'
    table = pa.table({"item": list("ijk"), "annotator": list("AAA"), "label": [1, 0, -1]})
    path = parquet(tmp_path, table.replace_schema_metadata({"huggingface": note}))
    sqlite_ledger.import_file(path, "p")
    assert standing(sqlite_ledger) == [("i", "A", "good"), ("j", "A", "bad"), ("k", "A", None)]


@pytest.mark.parametrize("cut", [5, 100, -20])
def test_a_damaged_parquet_file(sqlite_ledger: Ledger, tmp_path: Path, cut: int) -> None:
    path = parquet(tmp_path, pa.table(ROWS))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(Refused, match="is no Parquet file that can be read"):
        sqlite_ledger.import_file(path, "p")
    assert stored(sqlite_ledger) == {}


def test_a_parquet_file_without_rows(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    table = pa.table({"item": [], "annotator": [], "category": []})
    with pytest.raises(Refused, match="holds no row"):
        sqlite_ledger.import_file(parquet(tmp_path, table), "p")


def test_a_boolean_is_the_same_on_every_road(ledger: Ledger, tmp_path: Path) -> None:
    rows = [{"item": str(n), "annotator": "A", "category": bool(n)} for n in range(2)]
    csv, lines = tmp_path / "x.csv", tmp_path / "x.jsonl"
    csv.write_text("item,annotator,category\n0,A,false\n1,A,true\n", "utf-8")
    lines.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    assert ledger.import_file(csv, "p").inserted == 2
    assert ledger.import_file(lines, "p").unchanged == 2
    assert ledger.import_file(parquet(tmp_path, pa.Table.from_pylist(rows)), "p").unchanged == 2
    assert ledger.import_frame(pd.DataFrame(rows), "p").unchanged == 2
