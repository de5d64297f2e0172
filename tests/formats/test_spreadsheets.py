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

from tests.helpers import fates, standing, stored
from tracker.core.errors import Refused
from tracker.ledger import Ledger

Write = Callable[..., Path]

HEADER = ["item", "annotator", "category", "labeled_at", "seconds"]


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    book = openpyxl.Workbook(write_only=True)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_the_types_of_cells(ledger: Ledger, tmp_path: Path) -> None:
    rows = [
        [],
        HEADER,
        [1, "A", 4, datetime(2026, 1, 23, 11, 3, 22), 1.5],  # noqa: DTZ001
        [None, None, None, None, None],
        [2, "A", True, 46045.5, None],
        [3, "A", 2.5, "24.01.2026 12:00", 2],
    ]
    path = workbook(tmp_path / "a.xlsx", Notes=[["read me"]], Answers=rows, Empty=[])
    result = ledger.import_file(path, "p")
    assert standing(ledger, "p", *HEADER[::2], "labeled_at") == [
        ("1", "4", 1.5, "2026-01-23T11:03:22Z"),
        ("2", "true", None, "2026-01-23T12:00:00Z"),
        ("3", "2.5", 2.0, "2026-01-24T12:00:00Z"),
    ]
    assert result.columns[0]["dates"] == {"labeled_at": "day.month.year"}
    assert fates(ledger.import_file(path, "p", format="xlsx")) == {"unchanged": 3}


def test_bad_cells_are_named_by_their_row(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", S=[HEADER, [1, "A", "x"], [], [None, "A", "x"]])
    with pytest.raises(Refused, match="row 4: the item is empty"):
        sqlite_ledger.import_file(path, "p")


def test_wide_sheets(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", S=[["item", "A", "B"], ["i", 1, None], ["j", 2, 3]])
    sqlite_ledger.import_file(path, "p", wide=True)
    assert standing(sqlite_ledger) == [("i", "A", "1"), ("j", "A", "2"), ("j", "B", "3")]


def test_several_sheets_of_answers_are_chosen_by_name(ledger: Ledger, tmp_path: Path) -> None:
    one, two = [HEADER[:3], ["i", "A", "x"]], [HEADER[:3], ["j", "A", "x"]]
    path = workbook(tmp_path / "a.xlsx", One=one, Two=two)
    with pytest.raises(Refused, match="has several sheets of answers: 'One', 'Two'") as caught:
        ledger.import_file(path, "p")
    assert "--sheet One" in str(caught.value)
    ledger.import_file(f"{path}#Two", "p")
    assert standing(ledger) == [("j", "A", "x")]
    with pytest.raises(Refused, match="it has: 'One', 'Two'"):
        ledger.import_file(f"{path}#Three", "p")


def test_if_no_sheet_has_a_header_of_answers_all_are_named(
    sqlite_ledger: Ledger, tmp_path: Path
) -> None:
    path = workbook(
        tmp_path / "a.xlsx", Notes=[["read me"]], Marks=[["item", "A", "B"], ["i", 1, 2]]
    )
    with pytest.raises(Refused, match="category: 'Notes', 'Marks'") as caught:
        sqlite_ledger.import_file(path, "p")
    assert "--sheet Marks" in str(caught.value)
    sqlite_ledger.import_file(f"{path}#Marks", "p", wide=True)
    assert standing(sqlite_ledger) == [("i", "A", "1"), ("i", "B", "2")]


@pytest.mark.parametrize("member", ["xl/workbook.xml", "xl/worksheets/sheet1.xml"])
def test_a_damaged_workbook(sqlite_ledger: Ledger, tmp_path: Path, member: str) -> None:
    whole, path = workbook(tmp_path / "a.xlsx", S=[HEADER, [1]]), tmp_path / "b.xlsx"
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content[: len(content) // 2] if name == member else content)
    with pytest.raises(Refused):
        sqlite_ledger.import_file(path, "p")
    assert stored(sqlite_ledger) == {}


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("#DIV/0!", "row 5: the category is #DIV/0! (cell 'D5')"),
        ("#N/A", "row 5: the category is #N/A (cell 'D5')"),
        ("=B5", "row 5: the category is a formula that was saved without its result (cell 'D5')"),
    ],
)
def test_a_cell_without_a_value_is_no_skipped_answer(
    ledger: Ledger, tmp_path: Path, cell: str, told: str
) -> None:
    book = openpyxl.Workbook()
    book.create_sheet("Answers & more")
    sheet = book.worksheets[1]
    rows = [HEADER[:3], [1, "A", "x"], [2, "A", cell], [3, "A", None], [4, None, None]]
    for n, row in enumerate(rows, 3):
        for place, value in enumerate(row, 2):
            sheet.cell(n, place, value)
    sheet.cell(7, 3, "=B5")
    sheet.cell(8, 2, "#REF!")
    book.save(tmp_path / "a.xlsx")
    result = ledger.import_file(tmp_path / "a.xlsx", "p", skip_invalid=True)
    assert sorted(str(one).split("a.xlsx, ")[1] for one in result.rejections) == [
        told,
        "row 7: the annotator is a formula that was saved without its result (cell 'C7')",
        "row 8: the item is #REF! (cell 'B8')",
    ]
    assert standing(ledger) == [("1", "A", "x"), ("3", "A", None)]
    with pytest.raises(Refused, match="and 2 more"):
        ledger.import_file(tmp_path / "a.xlsx", "q")


def test_errors_in_a_wide_sheet_and_in_columns_that_are_not_read(
    sqlite_ledger: Ledger, tmp_path: Path
) -> None:
    rows = [["item", "A", "B", "note"], ["i", "x", "#NAME?", None], ["j", "x", "y", "#NULL!"]]
    path = workbook(tmp_path / "a.xlsx", S=rows)
    result = sqlite_ledger.import_file(path, "p", wide=True, ignore=["note"], skip_invalid=True)
    assert [one.reason for one in result.rejections] == ["the category is #NAME? (cell 'C2')"]
    assert standing(sqlite_ledger) == [("j", "A", "x"), ("j", "B", "y")]


def test_a_formula_counts_as_its_last_result(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    whole = workbook(tmp_path / "a.xlsx", S=[HEADER[:3], [1, "A", "=B2"], [2, "A", "=B3"]])
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(tmp_path / "b.xlsx", "w") as new:
        for name in old.namelist():
            text = old.read(name).decode()
            if name == "xl/worksheets/sheet1.xml":
                cells = re.compile("<v ?/>")
                text = cells.sub("<v>x</v>", text, count=1).replace('"C2"', '"C2" t="str"')
                text = text.replace('"C3"', '"C3" t="str"')
            new.writestr(name, text)
    sqlite_ledger.import_file(tmp_path / "b.xlsx", "p")
    assert standing(sqlite_ledger) == [("1", "A", "x"), ("2", "A", None)]


def test_merged_cells_all_have_their_value(ledger: Ledger, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    rows = [["item", "A", "B", "C"], ["i", "x"], ["j", None, "y", "z"], ["k", "#N/A"], ["l"]]
    for n, row in enumerate(rows, 2):
        for place, value in enumerate(row, 2):
            sheet.cell(n, place, value)
    for cells in ("B1:E1", "C3:C4", "D3:E3", "C5:E5", "B6:B9", "C6:E6"):
        sheet.merge_cells(cells)
    sheet["D3"], sheet["C6"] = "w", "v"
    book.save(tmp_path / "a.xlsx")
    result = ledger.import_file(tmp_path / "a.xlsx", "p", wide=True, skip_invalid=True)
    assert [one.line for one in result.rejections] == [5]
    assert standing(ledger) == [
        ("i", "A", "x"), ("i", "B", "w"), ("i", "C", "w"), ("j", "A", "x"), ("j", "B", "y"),
        ("j", "C", "z"), ("l", "A", "v"), ("l", "B", "v"), ("l", "C", "v"),
    ]  # fmt: skip


# -- JSON ----------------------------------------------------------------------------------

OBJECTS = [
    {"item": 1, "annotator": "A", "label": 1.0, "meta": {"lang": "nl"}},
    {"item": 2, "annotator": "A", "label": None, "seconds": 1.5},
    {"item": 3, "annotator": "A", "label": True, "meta": {"lang": "fr"}},
]


@pytest.mark.parametrize("lines", [True, False])
def test_json_of_objects(ledger: Ledger, write: Write, lines: bool) -> None:
    text = "\n".join(map(json.dumps, OBJECTS)) if lines else json.dumps(OBJECTS)
    file = write(text.encode(), "answers.txt")
    result = ledger.import_file(file, "p", keep=["meta.lang"])
    assert fates(result) == {"inserted": 3}
    assert standing(ledger, "p", "item", "category", "seconds") == [
        ("1", "1", None), ("2", None, 1.5), ("3", "true", None)
    ]  # fmt: skip


def test_json_with_lists_questions_and_annotators(sqlite_ledger: Ledger, write: Write) -> None:
    lists = {"item": "i", "annotators": ["A", "B"], "labels": ["x", "y"]}
    sqlite_ledger.import_file(write(json.dumps(lists).encode(), "a.jsonl"), "p")
    assert standing(sqlite_ledger) == [("i", "A", "x"), ("i", "B", "y")]
    wide = write(b'[{"item": "i", "A": "x"}, {"item": "j", "B": "y"}]', "b.json")
    sqlite_ledger.import_file(wide, "w", wide=True)
    assert standing(sqlite_ledger, "w") == [("i", "A", "x"), ("j", "B", "y")]
    asked = write(b'{"item": "i", "annotator": "A", "t": 1, "f": 2}', "c.json")
    sqlite_ledger.import_file(asked, "q", questions=["tone=t", "fair=f"])
    assert standing(sqlite_ledger, "q", "question", "category") == [("fair", "2"), ("tone", "1")]


def test_a_key_that_comes_late_is_a_column(sqlite_ledger: Ledger, write: Write) -> None:
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
def test_json_that_cannot_be_read(
    sqlite_ledger: Ledger, write: Write, text: str, sign: str
) -> None:
    with pytest.raises(Refused) as caught:
        sqlite_ledger.import_file(write(text.encode(), "a.json"), "p")
    assert sign in str(caught.value)
    assert stored(sqlite_ledger) == {}


def with_sheet(path: Path, row: str, texts: tuple[str, ...] = ()) -> Path:
    """A workbook of an answer whose sheet has a further row, and the texts to which that refers."""
    book = openpyxl.Workbook()
    for cells in (HEADER[:3], ["i", "A", "x"]):
        book.active.append(cells)
    book.save(path.with_suffix(".whole.xlsx"))
    with (
        zipfile.ZipFile(path.with_suffix(".whole.xlsx")) as old,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            content = old.read(name).replace(b"</sheetData>", f"{row}</sheetData>".encode())
            new.writestr(name, content)
        shared = "".join(f"<si><t>{text}</t></si>" for text in texts)
        new.writestr("xl/sharedStrings.xml", f"<sst>{shared}</sst>")
    return path


@pytest.mark.parametrize(
    ("row", "texts"),
    [
        ('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', ()),
        ("<row r='1048576'><c q='a>b' r = 'az1048576'><v>1</v></c></row>", ()),
        (f'<row r="1048576">{"<c><v>1</v></c>" * 16_000}</row>', ()),
        ("<row r='3'>" + '<c t="s"><v>0</v></c>' * 10_000 + "</row>", ("long " * 100_000,)),
    ],
)
def test_a_small_workbook_that_would_fill_the_memory_is_refused(
    sqlite_ledger: Ledger, tmp_path: Path, row: str, texts: tuple[str, ...]
) -> None:
    with pytest.raises(Refused, match=r"would fill the memory.*\n.*as CSV"):
        sqlite_ledger.import_file(with_sheet(tmp_path / "a.xlsx", row, texts), "p")


def test_cells_far_away_that_are_only_formatted_do_no_harm(
    sqlite_ledger: Ledger, tmp_path: Path
) -> None:
    far = '<row r="1048576"><c r="XFD1048576" s="1"/></row>'
    sqlite_ledger.import_file(with_sheet(tmp_path / "a.xlsx", far), "p")
    assert standing(sqlite_ledger) == [("i", "A", "x")]
