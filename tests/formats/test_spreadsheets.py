"""Workbooks of Excel and JSON of plain objects are tables, as a delimited file is."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.formats.reading import table_text
from tests.helpers import fates, standing, stored
from tracker.core.errors import Refused
from tracker.ledger import Ledger

HEADER = ["item", "annotator", "category", "labeled_at", "seconds"]
SHEET = "xl/worksheets/sheet1.xml"


def stands(ledger: Ledger, project: str = "p", columns: str = "item annotator category") -> str:
    return table_text(standing(ledger, project, *columns.split()))


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
    """The same workbook, each of its files changed."""
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
    assert fates(ledger.import_file(path, "p", format="xlsx")) == {"unchanged": 3}
    path = workbook(tmp_path / "b.xlsx", S=[HEADER, [1, "A", "x"], [], [None, "A", "x"]])
    with pytest.raises(Refused, match="row 4: the item is empty"):
        ledger.import_file(path, "q")


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
        ("#DIV/0!", "row 5: the category is #DIV/0! (cell 'D5')"),
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
    assert stands(ledger) == "1 A x; 3 A -"
    with pytest.raises(Refused, match="and 2 more"):
        ledger.import_file(path, "q")


def test_errors_in_a_wide_sheet_and_in_columns_that_are_not_read(sqlite_ledger, tmp_path):
    rows = [["item", "A", "B", "note"], ["i", "x", "#NAME?", None], ["j", "x", "y", "#NULL!"]]
    path = workbook(tmp_path / "a.xlsx", S=rows)
    result = sqlite_ledger.import_file(path, "p", wide=True, ignore=["note"], skip_invalid=True)
    assert [rejection.reason for rejection in result.rejections] == [
        "the category is #NAME? (cell 'C2')"
    ]
    assert stands(sqlite_ledger) == "j A x; j B y"


def test_a_formula_counts_as_its_last_result(sqlite_ledger, tmp_path):
    def saved_by_excel(name: str, content: bytes) -> bytes:
        if name != SHEET:
            return content
        text = re.sub("<v ?/>", "<v>x</v>", content.decode(), count=1)
        return re.sub('"(C[23])"', r'"\1" t="str"', text).encode()

    rows = [HEADER[:3], [1, "A", "=B2"], [2, "A", "=B3"]]
    path = changed(workbook(tmp_path / "a.xlsx", S=rows), saved_by_excel)
    sqlite_ledger.import_file(path, "p")
    assert stands(sqlite_ledger) == "1 A x; 2 A -"


def test_merged_cells_all_have_their_value(ledger, tmp_path):
    rows = [
        ["item", "A", "B", "C"], ["i", "x", "w"], ["j", None, "y", "z"], ["k", "#N/A"], ["l", "v"]
    ]  # fmt: skip
    merged = ("B1:E1", "C3:C4", "D3:E3", "C5:E5", "B6:B9", "C6:E6")
    path = workbook(tmp_path / "a.xlsx", merged, at=(2, 2), S=rows)
    result = ledger.import_file(path, "p", wide=True, skip_invalid=True)
    assert [rejection.line for rejection in result.rejections] == [5]
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


def test_formatted_cells_far_away_do_no_harm(sqlite_ledger, tmp_path):
    far = '<row r="1048576"><c r="XFD1048576" s="1"/></row>'
    sqlite_ledger.import_file(with_row(tmp_path / "a.xlsx", far), "p")
    assert stands(sqlite_ledger) == "i A x"


@pytest.mark.parametrize("member", ["xl/workbook.xml", SHEET])
def test_a_damaged_workbook_is_refused(sqlite_ledger, tmp_path, member):
    def cut(name: str, content: bytes) -> bytes:
        return content[: len(content) // 2] if name == member else content

    path = changed(workbook(tmp_path / "a.xlsx", S=[HEADER, [1]]), cut)
    with pytest.raises(Refused):
        sqlite_ledger.import_file(path, "p")
    assert stored(sqlite_ledger) == {}


@pytest.mark.parametrize("lines", [True, False])
def test_json_of_objects(ledger, write, lines):
    objects = [
        {"item": 1, "annotator": "A", "label": 1.0, "meta": {"lang": "nl"}},
        {"item": 2, "annotator": "A", "label": None, "seconds": 1.5},
        {"item": 3, "annotator": "A", "label": True, "meta": {"lang": "fr"}},
    ]
    text = "\n".join(map(json.dumps, objects)) if lines else json.dumps(objects)
    result = ledger.import_file(write(text.encode(), "answers.txt"), "p", keep=["meta.lang"])
    assert fates(result) == {"inserted": 3}
    assert stands(ledger, columns="item category seconds") == "1 1 -; 2 - 1.5; 3 true -"


def test_json_with_several_answers_in_an_object(sqlite_ledger, write):
    lists = b'{"item": "i", "annotators": ["A", "B"], "labels": ["x", "y"]}'
    sqlite_ledger.import_file(write(lists, "a.jsonl"), "p")
    assert stands(sqlite_ledger) == "i A x; i B y"
    wide = write(b'[{"item": "i", "A": "x"}, {"item": "j", "B": "y"}]', "b.json")
    sqlite_ledger.import_file(wide, "w", wide=True)
    assert stands(sqlite_ledger, "w") == "i A x; j B y"
    asked = write(b'{"item": "i", "annotator": "A", "t": 1, "f": 2}', "c.json")
    sqlite_ledger.import_file(asked, "q", questions=["tone=t", "fair=f"])
    assert stands(sqlite_ledger, "q", "question category") == "fair 2; tone 1"


def test_a_key_that_comes_late_is_a_column(sqlite_ledger, write):
    rows: list[dict[str, Any]] = [
        {"item": n, "annotator": "A", "label": "x"} for n in range(11_000)
    ]
    rows[-1]["seconds"] = 3
    file = write("\n".join(map(json.dumps, rows)).encode(), "a.jsonl")
    sqlite_ledger.import_file(file, "p")
    assert ("10999", 3.0) in standing(sqlite_ledger, "p", "item", "seconds")


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ('{"item": 1, "annotator": "A", "label": 1}\n5', "line 2: this is no object"),
        ('[{"item": 1, "annotator": "A", "label": 1}, []]', "value 2: this is no object"),
        ('[{"item": 1, "annotator": "A", "label": {"a": 1}}]', "no column for the category"),
        ('[{"item": 1, "annotator": "A", "label": [1, 2]}]', "the category is a list, [1, 2]"),
        ('[{"item": 1, "annotator": "A", "label": 1}', "is cut off"),
        ('{"data": 1}', "no column for the item"),
    ],
)
def test_json_that_cannot_be_read(sqlite_ledger, write, text, sign):
    with pytest.raises(Refused, match=re.escape(sign)):
        sqlite_ledger.import_file(write(text.encode(), "a.json"), "p")
    assert stored(sqlite_ledger) == {}
