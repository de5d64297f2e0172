"""Workbooks, JSON, frames, Parquet and queries are tables, as a delimited file is."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from tests.helpers import SEVERAL, fates, standing, stored
from tests.imports.tables import stands
from tests.profiles import both
from tracker.core.errors import Refused, TrackerError
from tracker.formats.tables import column_of_arrow, column_of_series, column_of_values
from tracker.readers.parquet import whole_numbers

HEADER = ["item", "annotator", "category", "labeled_at", "seconds"]


def workbook(path: Path, merged: tuple[str, ...] = (), at: tuple[int, int] = (1, 1),
             **sheets: list[list[Any]]) -> Path:  # fmt: skip
    """A workbook whose last sheet has merged cells, and whose rows begin at a row and column."""
    book = openpyxl.Workbook()
    del book["Sheet"]
    for name, rows in sheets.items():
        sheet = book.create_sheet(name.replace("_", " & "))
        for n, row in enumerate(rows, at[0]):
            for place, value in enumerate(row, at[1]):
                if value is not None:
                    sheet.cell(n, place, value)
    for cells in merged:
        sheet.merge_cells(cells)
    book.save(path)
    return path


def changed(path: Path, change: Callable[[str, bytes], bytes]) -> Path:
    files = {}
    with zipfile.ZipFile(path) as book:
        for name in book.namelist():
            files[name] = change(name, book.read(name))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in files.items():
            book.writestr(name, content)
    return path


def test_the_types_of_cells(ledger, tmp_path):
    rows = [
        [], HEADER, [1, "A", 4, datetime(2026, 1, 23, 11, 3, 22), 1.5],  # noqa: DTZ001
        [None] * 5, [2, "A", True, 46045.5, None], [3, "A", 2.5, "24.01.2026 12:00", 2],
    ]  # fmt: skip
    path = workbook(tmp_path / "a.xlsx", Notes=[["read me"]], Answers=rows, Empty=[])
    result = ledger.import_file(path, "p")
    assert stands(ledger, columns="item category seconds labeled_at") == (
        "1 4 1.5 2026-01-23T11:03:22Z; 2 true - 2026-01-23T12:00:00Z; "
        "3 2.5 2.0 2026-01-24T12:00:00Z"
    )
    assert result.columns[0]["dates"] == {"labeled_at": "day.month.year"}


def test_totals_without_saved_results_are_no_answers(ledger, tmp_path):
    rows = [["item", "ann", "bea"], ["i", "x", "x"], ["j", "x", "y"]]
    totals = [["Total", '=COUNTIF(B2:B3,"x")', '=COUNTIF(C2:C3,"x")']]
    (columns,) = ledger.import_file(
        workbook(tmp_path / "a.xlsx", A=rows + totals), "p", wide=True
    ).columns
    assert columns["rows_left_out"] == {"row of totals": 1}
    unsaved = workbook(tmp_path / "b.xlsx", A=[*rows, ["k", "=B3", "x"]])
    with pytest.raises(Refused, match="a formula that was saved without its result"):
        ledger.import_file(unsaved, "p", wide=True)


def test_sheets_of_answers_are_chosen_by_name(ledger, tmp_path):
    sheets = {name: [HEADER[:3], [item, "A", "x"]] for name, item in (("One", "i"), ("Two", "j"))}
    path = workbook(tmp_path / "a.xlsx", **sheets)
    several = r"has several sheets of answers: 'One', 'Two'(?s:.)*--sheet One"
    with pytest.raises(Refused, match=several):
        ledger.import_file(path, "p")
    ledger.import_file(f"{path}#Two", "p")
    assert stands(ledger) == "j A x"
    with pytest.raises(Refused, match="it has: 'One', 'Two'"):
        ledger.import_file(f"{path}#Three", "p")
    wide = [["item", "A", "B"], ["i", 1, None], ["j", 2, 3]]
    path = workbook(tmp_path / "b.xlsx", Notes=[["read me"]], Marks=wide)
    with pytest.raises(Refused, match=r"category: 'Notes', 'Marks'(?s:.)*--sheet Marks"):
        ledger.import_file(path, "q")
    ledger.import_file(f"{path}#Marks", "q", wide=True)
    assert stands(ledger, "q") == "i A 1; j A 2; j B 3"


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("#N/A", "row 5: the category is #N/A (cell 'D5')"),
        ("=B5", "row 5: the category is a formula that was saved without its result (cell 'D5')"),
    ],
)
def test_a_cell_without_a_value_is_not_a_skipped_answer(ledger, tmp_path, cell, reason):
    rows = [HEADER[:3], [1, "A", "x"], [2, "A", cell], [3, "A", None], [4, "=B5"], ["#REF!"]]
    path = workbook(tmp_path / "a.xlsx", at=(3, 2), Sheet=[], Answers_more=rows)
    result = ledger.import_file(path, "p", skip_invalid=True)
    assert sorted(str(rejection).split("a.xlsx, ")[1] for rejection in result.rejections) == [
        reason,
        "row 7: the annotator is a formula that was saved without its result (cell 'C7')",
        "row 8: the item is #REF! (cell 'B8')",
    ]
    assert stands(ledger) == "1 A x"


def test_merged_cells_all_have_their_value(ledger, tmp_path):
    rows = [
        ["item", "A", "B", "C"], ["i", "x", "w"], ["j", None, "y", "z"], ["k", "#N/A"], ["l", "v"]
    ]  # fmt: skip
    merged = ("B1:E1", "C3:C4", "D3:E3", "C5:E5", "B6:B9", "C6:E6")
    path = workbook(tmp_path / "a.xlsx", merged, at=(2, 2), S=rows)
    result = ledger.import_file(path, "p", wide=True, skip_invalid=True)
    assert [rejection.line for rejection in result.rejections] == [5, 5, 5]
    assert stands(ledger) == ("i A x; i B w; i C w; j A x; j B y; j C z; l A v; l B v; l C v")


def with_row(path: Path, row: str, text: str = "") -> Path:
    """A workbook of an answer whose sheet has a further row, and the text to which that refers."""
    end = b"</sheetData>"
    workbook(path, S=[HEADER[:3], ["i", "A", "x"]])
    changed(path, lambda _, content: content.replace(end, row.encode() + end))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/sharedStrings.xml", f"<sst><si><t>{text}</t></si></sst>")
    return path


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', ""),
        ("<row r='1048576'><c q='a>b' r = 'az1048576'><v>1</v></c></row>", ""),
        (f'<row r="1048576">{"<c><v>1</v></c>" * 16_000}</row>', ""),
        ("<row r='3'>" + '<c t="s"><v>0</v></c>' * 10_000 + "</row>", "long " * 100_000),
    ],
    ids=["far", "far, quoted", "wide", "long text"],
)
def test_a_small_workbook_that_would_fill_the_memory_is_refused(sqlite_ledger, tmp_path, row, text):
    with pytest.raises(Refused, match=r"would fill the memory.*\n.*as CSV"):
        sqlite_ledger.import_file(with_row(tmp_path / "a.xlsx", row, text), "p")


def test_json_of_objects(ledger, write):
    objects = [
        {"item": 1, "annotator": "A", "label": 1.0, "meta": {"lang": "nl"}},
        {"item": 2, "annotator": "A", "label": None, "seconds": 1.5},
        {"item": 3, "annotator": "A", "label": True, "meta": {"lang": "fr"}},
    ]
    file = write("\n".join(map(json.dumps, objects)), "answers.txt")
    result = ledger.import_file(file, "p", keep=["meta.lang"], accept=["decimal_twins"])
    assert fates(result) == {"inserted": 2}
    assert stands(ledger, columns="item category seconds") == "1 1 -; 3 true -"


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ('{"item": 1, "annotator": "A", "label": 1}\n5', "line 2: this is no object"),
        ('[{"item": 1, "annotator": "A", "label": 1}, []]', "value 2: this is no object"),
        ('[{"item": 1, "annotator": "A", "label": {"a": 1}}]', "no column for the category"),
        ('[{"item": 1, "annotator": "A", "label": [1, 2]}]', "the category is a list, [1, 2]"),
    ],
)
def test_json_that_cannot_be_read(sqlite_ledger, write, text, sign):
    with pytest.raises(Refused, match=re.escape(sign)):
        sqlite_ledger.import_file(write(text.encode(), "a.json"), "p")
    assert stored(sqlite_ledger) == {}


def parquet(tmp_path: Path, table: Any, **options: Any) -> Path:
    pq.write_table(table, tmp_path / "answers.parquet", **options)
    return tmp_path / "answers.parquet"


TYPES = [
    (pa.array([1, None], pa.int64()), ["1", ""]),
    (pa.array([1.0, None]), ["1", ""]),
    (pa.array([0.1, float("nan")], pa.float32()), ["0.1", ""]),
    (pa.array([True, None, False]), ["true", "", "false"]),
    (pa.array([b"a", None]), ["a", ""]),
    (pa.array(["a", None]).dictionary_encode(), ["a", ""]),
    (pa.DictionaryArray.from_arrays([1, None], [7, 8]), ["8", ""]),
    (pa.array([datetime(2026, 1, 2, 3, 4, 5), None]), ["2026-01-02 03:04:05", ""]),  # noqa: DTZ001
    (pa.array([datetime(2026, 1, 2, 3, 4, 5, 6, UTC)], pa.timestamp("us", "Asia/Tokyo")),
     ["2026-01-02 03:04:05.000006Z"]),
    (pa.array([10**18 + 5], pa.timestamp("ns")), ["2001-09-09 01:46:40"]),
    (pa.array([date(2026, 1, 2), None]), ["2026-01-02", ""]),
    (pa.array([Decimal("1.50")]), ["1.50"]),
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


@pytest.mark.parametrize("source", ["file", "frame"])
def test_a_gap_makes_no_fraction(ledger, tmp_path, source):
    frame = pd.DataFrame(
        {"item": [1, 2, None, 4], "annotator": ["A", "A", "A", "B"], "category": [1, None, 2, 3],
         "labeled_at": pd.to_datetime(["2026-01-23 11:03", None, "2026-01-24 00:00", None]),
         "seconds": [1.5, None, 2.0, 3.25]}
    )  # fmt: skip
    if source == "file":
        path = parquet(tmp_path, pa.Table.from_pandas(frame), row_group_size=2)
        result = ledger.import_file(path, "p", skip_invalid=True)
    else:
        result = ledger.import_frame(frame, "p", skip_invalid=True)
    assert fates(result) == {"inserted": 2, "rejected": 1}
    assert result.rejections[0].line == (3 if source == "file" else 4)
    rows = "1 1 2026-01-23T11:03:00Z 1.5; 4 3 - 3.25"
    assert stands(ledger, "p", "item category labeled_at seconds") == rows


def test_a_list_in_a_cell_is_several_categories(ledger):
    lists = [["a", "b"], [], ("b",), {"a"}, "c", None]
    frame = pd.DataFrame({"item": list("ijklmn"), "annotator": "A", "category": lists})
    assert fates(ledger.import_frame(frame, "p", options=SEVERAL)) == {"inserted": 7}
    assert stands(ledger, "p", "item category") == "i a; i b; j -; k b; l a; m c; n -"


@pytest.mark.parametrize(
    ("column", "cell", "options", "sign"),
    [
        ("category", ["a", "b"], {}, "line 3: the category is a list, ['a', 'b'], not a single"),
        ("category", {"a": 1}, {"options": SEVERAL}, "line 3: the category is an object, {'a': 1}"),
        ("category", [["a"]], {"options": SEVERAL}, "line 3: the category is a list, [['a']]"),
        ("item", ["a"], {"options": SEVERAL}, "line 3: the item is a list, ['a']"),
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


LISTS: dict[str, list[Any]] = {
    "id": ["i", "j", "k"], "text": ["one", "two", "three"],
    "annotators": [["A", "B"], ["A"], []], "labels": [["x", "y"], [None], []],
    "seconds": [[1.0, 2.5], [3.0], []],
}  # fmt: skip


def test_lists_of_annotators_and_labels_are_an_answer_each(ledger, tmp_path):
    ledger.import_file(parquet(tmp_path, pa.table(LISTS)), "p", columns=["item=id"])
    rows = "i A x 1.0; i B y 2.5"
    assert stands(ledger, "p", "item annotator category seconds") == rows


def test_lists_within_lists_and_of_unequal_lengths(ledger):
    table = pa.table({"item": ["i"], "annotators": [["A", "B"]], "labels": [[["x", "y"], []]]})
    ledger.import_frame(table, "p", options=SEVERAL)
    assert stands(ledger, "p", "item annotator category") == "i A x; i A y; i B -"
    unequal = {"item": ["i", "j"], "annotators": [["A", "B"], ["A"]], "labels": [["x"], ["y"]]}
    result = ledger.import_frame(pd.DataFrame(unequal), "q", skip_invalid=True)
    assert result.rejections[0].reason == "2 annotators, and 1 of 'category'"
    assert stands(ledger, "q", "item annotator category") == "j A y"


def test_parquet_with_questions_and_objects(ledger, tmp_path):
    table = pa.table(
        {"item": ["i", "j"], "annotator": ["A", "A"], "Tone": [1, 2], "Fair": [True, None],
         "meta": [{"lang": "nl", "tags": ["a"]}, {"lang": "fr", "tags": []}]}
    )  # fmt: skip
    path, asked = parquet(tmp_path, table), ["tone=Tone:ordinal", "fair=Fair"]
    result = ledger.import_file(path, "p", questions=asked, keep=["meta.lang", "meta.tags"])
    assert fates(result) == {"inserted": 3}
    assert stands(ledger, "p", "question item category") == "fair i true; tone i 1; tone j 2"
    label = '{"names": ["bad", "good"], "_type": "ClassLabel"}'
    note = f'{{"info": {{"features": {{"label": {label}}}}}}}'
    table = pa.table({"item": list("ijk"), "annotator": list("AAA"), "label": [1, 0, -1]})
    table = table.replace_schema_metadata({"huggingface": note})
    ledger.import_file(parquet(tmp_path, table), "numbered")
    assert stands(ledger, "numbered", "item category") == "i good; j bad"


EMPTY: dict[str, list[str]] = {"item": [], "annotator": [], "category": []}
BAD_TABLES: list[tuple[Any, str]] = [
    ({"item": [b"\xff"], "annotator": ["A"], "category": ["x"]}, "bytes that are no text"),
    ({"item": ["i"], "labels": [["x", "y"]]}, "no column for the annotator"),
    (EMPTY, "holds no row"),
    (-20, "is no Parquet file that can be read"),
]


@pytest.mark.parametrize(("table", "reason"), BAD_TABLES, ids=[reason for _, reason in BAD_TABLES])
def test_tables_that_cannot_be_read_are_refused(sqlite_ledger, tmp_path, table, reason):
    path = parquet(tmp_path, pa.table(LISTS if isinstance(table, int) else table))
    if isinstance(table, int):
        path.write_bytes(path.read_bytes()[:table])
    with pytest.raises(Refused, match=reason):
        sqlite_ledger.import_file(path, "p")
    assert stored(sqlite_ledger) == {}


QUERY = "SELECT task AS item, person AS annotator, verdict AS category, at FROM votes"


@pytest.fixture
def app(ledger):
    """The URL of a database with a table of votes, beside a ledger's tables."""
    ledger.projects.create("made")
    with ledger.database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE votes (task integer, person text, verdict text, "
                                "at timestamp, meta text)"))  # fmt: skip
        insert = text("INSERT INTO votes VALUES (:task, :person, :verdict, :at, :meta)")
        when = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC).replace(tzinfo=None).isoformat()
        connection.execute(insert, [
            {"task": task, "person": person, "verdict": verdict, "at": when, "meta": "{}"}
            for task, person, verdict in
            ((1, "Ann", 'so, "so"'), (1, "Bo", "100 %s"), (2, "Ann", None), (2, "Zoë", "a\nb"))
        ])  # fmt: skip
    yield ledger.database.url.render_as_string(hide_password=False)
    with ledger.database.engine.begin() as connection:
        connection.execute(text("DROP TABLE votes"))


@both
def test_rows_of_a_query_are_imported_as_those_of_a_file(ledger, app):
    how: dict[str, Any] = {"columns": ["labeled_at=at"], "empty": "skipped"}
    result = ledger.import_query(app, QUERY, "p", **how)
    assert (result.rows, result.inserted) == (4, 4)
    assert standing(ledger) == [
        ("1", "Ann", 'so, "so"'), ("1", "Bo", "100 %s"), ("2", "Ann", None), ("2", "Zoë", "a\nb"),
    ]  # fmt: skip
    assert set(standing(ledger, "p", "labeled_at")) == {("2026-02-03T04:05:06Z",)}
    like = f"{QUERY} WHERE verdict LIKE '100 %' AND ':x' <> '?'"  # no sign of a parameter
    assert ledger.import_query(app, like, "signs", ignore=["at"]).rows == 1
    numbers = (  # more than are fetched at once
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000) "
        "SELECT i AS item, 'Ann' AS annotator, i % 3 AS category FROM n"
    )
    assert ledger.import_query(app, numbers, "many").inserted == 6_000
    assert set(standing(ledger, "many", "category")) == {("0",), ("1",), ("2",)}


@both
def test_queries_that_write_or_fail_are_refused_and_change_nothing(ledger, app, tmp_path):
    for query in ("DELETE FROM votes RETURNING task", "CREATE TABLE x (y integer)", "SELEKT", ""):
        with pytest.raises(Refused, match=r"^[^\n]*quer[^\n]*\n"):
            ledger.import_query(app, query, "p")
    with ledger.database.engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM votes")) == 4
    value = "CAST('x' AS blob)" if app.startswith("sqlite") else "CAST('x' AS bytea)"
    with pytest.raises(Refused, match="the column 'category' holds bytes"):
        ledger.import_query(app, f"SELECT 1 AS item, 'a' AS annotator, {value} AS category", "p")
    with pytest.raises(TrackerError) as refused:
        ledger.import_query("postgresql://reader:s3cret@127.0.0.1:1/app", "SELECT 1", "p")
    assert "s3cret" not in str(refused.value)
    with pytest.raises(Refused, match="there is no such file"):
        ledger.import_query(f"sqlite:///{tmp_path}/none.db", "SELECT 1", "p")
    assert not (tmp_path / "none.db").exists()
