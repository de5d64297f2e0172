"""What is kept of an import: how its files were read, and what was left out of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import openpyxl

from tracker.ledger import Ledger

Write = Callable[..., Path]
COLUMNS = {"item": "item", "annotator": "annotator", "category": "category"}


def test_what_was_read_and_left_out_is_kept(ledger: Ledger, write: Write) -> None:
    rows = "doc;annotator;category;when;note\n1;a;x;01.02.2026;n\n2;a;x;13.02.2026;n\n3;;x;;\n"
    file = write(rows.replace("n\n", "\xfc\n").encode("cp1252"))
    done = ledger.import_file(file, "p", columns=["item=doc", "labeled_at=when"], skip_invalid=True)
    read = {
        "format": "csv",
        "header_row": 1,
        "encoding": "windows-1252",
        "date_format": "%d.%m.%Y",
        "delimiter": ";",
        "columns": {
            "doc": "item",
            "when": "labeled_at",
            "annotator": "annotator",
            "category": "category",
        },
    }
    kept = ledger.imports.show(1).to_dict()
    assert kept["read"] == done.to_dict()["read"] == read
    assert kept["left_out"] == done.to_dict()["left_out"] == {"rejected rows": 1, "columns": 1}
    assert ledger.verify("p").passed


def test_files_read_alike_are_told_once(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for n in range(30):
        (folder / f"{n:02}.csv").write_text(f"item,annotator,category\n{n},a,x\n")
    (folder / "last.jsonl").write_text(json.dumps({"item": "9", "annotator": "b", "label": "x"}))
    read = sqlite_ledger.import_file(folder, "p").to_dict()["read"]
    assert (read["format"], read["files"], read["columns"]) == ("csv", 30, COLUMNS)
    (other,) = read["others"]
    assert (other["files"], other["columns"]["label"]) == (1, "category")
    assert other["file"].endswith("last.jsonl")


def test_a_workbook_says_which_sheet_was_read(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["a note"])
    sheet = book.create_sheet("Antworten")
    for row in ((None,), ("item", "annotator", "category"), ("1", "a", "x")):
        sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    read = sqlite_ledger.import_file(tmp_path / "a.xlsx", "p").to_dict()["read"]
    assert (read["format"], read["sheet"], read["header_row"]) == ("xlsx", "Antworten", 2)
    assert (read["encoding"], read["columns"]) == (None, COLUMNS)
