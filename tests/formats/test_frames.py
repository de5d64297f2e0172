"""Data frames, Arrow tables and Parquet: the same rows give the same answers from each of them."""

from __future__ import annotations

import json
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

from tests.formats.reading import table_text
from tests.helpers import SEVERAL, fates, standing, stored
from tracker.core.errors import Refused
from tracker.formats.parquet import whole_numbers
from tracker.formats.tables import column_of_arrow, column_of_series, column_of_values
from tracker.ledger import Ledger


def stands(ledger: Ledger, columns: str, project: str = "p") -> str:
    return table_text(standing(ledger, project, *columns.split()))


def parquet(tmp_path: Path, table: Any, **options: Any) -> Path:
    pq.write_table(table, tmp_path / "answers.parquet", **options)
    return tmp_path / "answers.parquet"


GAP = [1, 2, None]


@pytest.mark.parametrize(
    ("cells", "categories"),
    [
        (pd.Series(GAP), "-; 1; 2"),
        (pd.Series(GAP, dtype="Int64"), "-; 1; 2"),
        (pd.Series(GAP, dtype="object"), "-; 1; 2"),
        (pd.Series(GAP, dtype="category"), "-; 1; 2"),
        (pd.Series([1.0, None, 2.0], dtype="object"), "-; 1; 2"),
        (pd.Series([1.0, 2.5, 1e300]), "1.0; 1e+300; 2.5"),
        (pd.Series([1, 2, 2]), "1; 2; 2"),
        (pd.Series([True, False, True]), "false; true; true"),
        (pd.Series([True, None, False], dtype="boolean"), "-; false; true"),
        (pd.Series(["a", pd.NA, "b"], dtype="string"), "-; a; b"),
        (pd.Categorical(["b", None, "a"], categories=["z", "b", "a"]), "-; a; b"),
        (pd.Series([1, True, "1"], dtype="object"), "1; 1; true"),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_what_a_cell_of_a_frame_means(sqlite_ledger, cells, categories):
    frame = pd.DataFrame({"item": ["i", "j", "k"], "annotator": "A", "category": cells})
    assert fates(sqlite_ledger.import_frame(frame, "p")) == {"inserted": 3}
    assert stands(sqlite_ledger, "category") == categories


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


@pytest.mark.parametrize(
    ("array", "texts"), TYPES, ids=lambda value: str(getattr(value, "type", ""))
)
def test_values_of_arrow_as_text(array, texts):
    column = column_of_arrow(array, whole=whole_numbers(array))
    assert [column[n] for n in range(len(array))] == texts
    assert len(set(column.texts)) == len(column.texts)  # type: ignore[union-attr]


CELLS = st.one_of(st.none(), st.integers(-(2**53), 2**53), st.text("ab", max_size=2), st.booleans())


@given(st.lists(CELLS, min_size=1))
def test_a_column_is_the_same_from_values_and_from_a_frame(values):
    """Only that a frame takes floats for what they are in their whole column."""
    of_values = column_of_values(values)
    of_series = column_of_series(pd.Series(values, dtype="object"), whole=True)
    for n in range(len(values)):
        assert of_values[n] == of_series[n]


def test_moments_and_days_in_frames(sqlite_ledger):
    moments = (pd.Timestamp("2024-03-01 10:00"), pd.Timestamp("2024-03-01 12:00+02:00"),
               "2024-03-01T10:00Z", date(2024, 3, 1))  # fmt: skip
    for n, moment in enumerate(moments):
        frame = pd.DataFrame({"item": ["i", "j"], "annotator": "A", "category": "x"})
        dtype = "object" if type(moment) is date else None
        frame["labeled_at"] = pd.Series([moment, None], dtype=dtype)
        sqlite_ledger.import_frame(frame, f"p{n}")
        hour = "00" if type(moment) is date else "10"
        expected = f"i 2024-03-01T{hour}:00:00Z; j -"
        assert stands(sqlite_ledger, "item labeled_at", f"p{n}") == expected


@pytest.mark.parametrize("source", ["file", "frame", "table"])
def test_a_gap_makes_no_fraction(ledger, tmp_path, source):
    frame = pd.DataFrame(
        {"item": [1, 2, None, 4], "annotator": ["A", "A", "A", "B"], "category": [1, None, 2, 3],
         "labeled_at": pd.to_datetime(["2026-01-23 11:03", None, "2026-01-24 00:00", None]),
         "seconds": [1.5, None, 2.0, 3.25]}
    )  # fmt: skip
    table = pa.Table.from_pandas(frame)
    if source == "file":
        path = parquet(tmp_path, table, row_group_size=2)
        result = ledger.import_file(path, "p", skip_invalid=True)
    else:
        result = ledger.import_frame(frame if source == "frame" else table, "p", skip_invalid=True)
    assert fates(result) == {"inserted": 3, "rejected": 1}
    assert result.rejections[0].line == (3 if source == "file" else 4)
    assert stands(ledger, "item category labeled_at seconds") == (
        "1 1 2026-01-23T11:03:00Z 1.5; 2 - - -; 4 3 - 3.25"
    )


def test_the_same_rows_in_every_form_are_the_same_answers(ledger, write, tmp_path):
    rows = [{"item": str(n), "annotator": "A", "category": bool(n)} for n in range(2)]
    ledger.import_file(write("item,annotator,category\n0,A,false\n1,A,true"), "p")
    lines = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    files = [write(lines, "x.jsonl"), parquet(tmp_path, pa.Table.from_pylist(rows))]
    results = [ledger.import_file(file, "p") for file in files]
    results.append(ledger.import_frame(pd.DataFrame(rows), "p"))
    assert [result.unchanged for result in results] == [2, 2, 2]
    ledger.import_file(write("item,annotator,category\n 1,7,1\n 2,7,2"), "q")
    columns = {"item": [1, 2, 3], "annotator": [7, 7, None], "category": [1, 2, None]}
    result = ledger.import_frame(pd.DataFrame(columns), "q", skip_invalid=True)
    assert fates(result) == {"unchanged": 2, "rejected": 1}
    assert stands(ledger, "item annotator category", "q") == "1 7 1; 2 7 2"


def test_a_list_in_a_cell_is_several_categories(ledger):
    lists = [["a", "b"], [], ("b",), {"a"}, "c", None]
    frame = pd.DataFrame({"item": list("ijklmn"), "annotator": "A", "category": lists})
    assert fates(ledger.import_frame(frame, "p", options=SEVERAL)) == {"inserted": 7}
    assert stands(ledger, "item category") == "i a; i b; j -; k b; l a; m c; n -"
    wide = pd.DataFrame({"item": ["i", "j"], "A": [["a"], ["b", "c"]], "B": [None, ["a"]]})
    assert fates(ledger.import_frame(wide, "q", options=SEVERAL, wide=True)) == {"inserted": 4}
    topics = [["a", "b"], [], ("b", "b"), {"a"}, "c|d", None]
    frame = pd.DataFrame(
        {"item": list("ijklmn"), "annotator": "A", "tone": list("xyxyxy"), "topics": topics}
    )
    how: dict[str, Any] = {"questions": ["tone=tone", "topics=topics:several"], "separator": "|"}
    result = ledger.import_frame(frame, "asked", **how)
    assert [(row["answers"], row["skipped"]) for row in result.questions] == [(6, 0), (8, 2)]
    rows = standing(ledger, "asked", "item", "category", "question")
    topics_stand = table_text(row[:2] for row in rows if row[2] == "topics")
    assert topics_stand == "i a; i b; j -; k b; l a; m c; m d; n -"
    again = ledger.import_frame(frame, "asked", **how)
    assert (again.rows, again.unchanged) == (14, 14)


@pytest.mark.parametrize(
    ("column", "cell", "options", "sign"),
    [
        ("category", ["a", "b"], {}, "line 3: the category is a list, ['a', 'b'], not a single"),
        ("category", {"a": 1}, {"options": SEVERAL}, "line 3: the category is an object, {'a': 1}"),
        ("category", [["a"]], {"options": SEVERAL}, "line 3: the category is a list, [['a']]"),
        ("item", ["a"], {"options": SEVERAL}, "line 3: the item is a list, ['a']"),
        ("annotator", ("a",), {}, "line 3: the annotator is a list, ('a',)"),
        ("category", "\ud800", {}, "half a character"),
    ],
)
def test_cells_of_frames_that_cannot_be_read(sqlite_ledger, column, cell, options, sign):
    columns = {"item": ["i", "j"], "annotator": ["A", "A"], "category": ["x", "x"]}
    columns[column] = ["x", cell]
    with pytest.raises(Refused) as caught:
        sqlite_ledger.import_frame(pd.DataFrame(columns, dtype="object"), "p", **options)
    assert sign in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 2
    assert stored(sqlite_ledger) == {}


@pytest.mark.parametrize(
    ("tone", "topics", "reason"),
    [
        (["x"], "a", "tone: the category is a list, ['x'], not a"),
        ("x", {"a": 1}, "topics: the category is an object, {'a': 1}, not a"),
        ("x", [["a"]], "topics: the category is a list, [['a']], a list of lists"),
    ],
)
def test_each_question_takes_the_lists_that_it_allows(sqlite_ledger, tone, topics, reason):
    rows = [{"item": "i", "annotator": "A", "tone": "x", "topics": ["a"]},
            {"item": "j", "annotator": "A", "tone": tone, "topics": topics}]  # fmt: skip
    asked = ["tone=tone", "topics=topics:several"]
    result = sqlite_ledger.import_frame(pd.DataFrame(rows), "p", questions=asked, skip_invalid=True)
    assert (result.rows, result.inserted, result.rejected) == (3, 2, 1)
    assert f"line 3: {reason}" in str(result.rejections[0])
    for question, names in (("tone", ["x"]), ("topics", ["a"])):
        assert list(sqlite_ledger.categories.list("p", question=question).labels) == names


LISTS: dict[str, list[Any]] = {
    "id": ["i", "j", "k"], "text": ["one", "two", "three"],
    "annotators": [["A", "B"], ["A"], []], "labels": [["x", "y"], [None], []],
    "seconds": [[1.0, 2.5], [3.0], []],
}  # fmt: skip


@pytest.mark.parametrize("source", ["parquet", "frame", "table"])
def test_lists_of_annotators_and_labels_are_an_answer_each(ledger, tmp_path, source):
    table, item = pa.table(LISTS), ["item=id"]
    if source == "parquet":
        ledger.import_file(parquet(tmp_path, table), "p", columns=item)
    else:
        ledger.import_frame(table if source == "table" else pd.DataFrame(LISTS), "p", columns=item)
    assert stands(ledger, "item annotator category seconds") == "i A x 1.0; i B y 2.5; j A - 3.0"


def test_lists_within_lists_and_of_unequal_lengths(ledger):
    table = pa.table({"item": ["i"], "annotators": [["A", "B"]], "labels": [[["x", "y"], []]]})
    ledger.import_frame(table, "p", options=SEVERAL)
    assert stands(ledger, "item annotator category") == "i A x; i A y; i B -"
    unequal = {"item": ["i", "j"], "annotators": [["A", "B"], ["A"]], "labels": [["x"], ["y"]]}
    result = ledger.import_frame(pd.DataFrame(unequal), "q", skip_invalid=True)
    assert result.rejections[0].reason == "2 annotators, and 1 of 'category'"
    assert stands(ledger, "item annotator category", "q") == "j A y"


def test_wide_parquet_with_questions_and_objects(ledger, tmp_path):
    table = pa.table(
        {"item": ["i", "j"], "annotator": ["A", "A"], "Tone": [1, 2], "Fair": [True, None],
         "meta": [{"lang": "nl", "tags": ["a"]}, {"lang": "fr", "tags": []}]}
    )  # fmt: skip
    path, asked = parquet(tmp_path, table), ["tone=Tone:ordinal", "fair=Fair"]
    result = ledger.import_file(path, "p", questions=asked, keep=["meta.lang", "meta.tags"])
    assert fates(result) == {"inserted": 4}
    assert stands(ledger, "question item category") == "fair i true; fair j -; tone i 1; tone j 2"
    wide = pa.table({"item": ["i", "j"], "A": ["x", None], "B": ["y", "x"]})
    ledger.import_file(parquet(tmp_path, wide), "w", wide=True)
    assert stands(ledger, "item annotator category", "w") == "i A x; i B y; j B x"
    label = '{"names": ["bad", "good"], "_type": "ClassLabel"}'
    note = f'{{"info": {{"features": {{"label": {label}}}}}}}'
    table = pa.table({"item": list("ijk"), "annotator": list("AAA"), "label": [1, 0, -1]})
    table = table.replace_schema_metadata({"huggingface": note})
    ledger.import_file(parquet(tmp_path, table), "numbered")
    assert stands(ledger, "item category", "numbered") == "i good; j bad; k -"


EMPTY: dict[str, list[str]] = {"item": [], "annotator": [], "category": []}
BAD_TABLES: list[tuple[Any, str]] = [
    ({"item": [b"\xff"], "annotator": ["A"], "category": ["x"]}, "bytes that are no text"),
    ({"item": ["i"], "labels": [["x", "y"]]}, "no column for the annotator"),
    (EMPTY, "holds no row"),
    *((cut, "is no Parquet file that can be read") for cut in (5, 100, -20)),
]


@pytest.mark.parametrize(("table", "reason"), BAD_TABLES, ids=[reason for _, reason in BAD_TABLES])
def test_tables_that_cannot_be_read_are_refused(sqlite_ledger, tmp_path, table, reason):
    path = parquet(tmp_path, pa.table(LISTS if isinstance(table, int) else table))
    if isinstance(table, int):
        path.write_bytes(path.read_bytes()[:table])
    with pytest.raises(Refused, match=reason):
        sqlite_ledger.import_file(path, "p")
    assert stored(sqlite_ledger) == {}


def test_an_empty_frame_is_refused(sqlite_ledger):
    with pytest.raises(Refused, match="frame holds no row"):
        sqlite_ledger.import_frame(pd.DataFrame(EMPTY), "p")
