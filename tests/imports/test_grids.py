"""The rows of files as they stand there, whether or not they can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tracker.ledger import Ledger


def grid(path: Path, **how: Any) -> Any:
    """The only table of a file."""
    (table,) = Ledger.grids([(path, path.name)], **how)
    return table


def test_rows_stand_as_in_the_file_below_a_title(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text('Week 3;;\n\n"Item";who; says \n1;"a\nb";x;more\n2;c;y\n', "utf-8")
    table = grid(file)
    assert (table.names, table.header, table.unit) == (["Item", "who", "says"], 3, "line")
    assert table.rows == [
        (1, ["Week 3", "", ""]), (3, ["Item", "who", " says "]), (4, ["1", "a\nb", "x", "more"]),
        (6, ["2", "c", "y"]),
    ]  # fmt: skip
    assert table.roles == {"Item": "item"}  # though who answered is not known
    mapped = grid(file, columns=["annotator=who", "category=says"], keep=["nothing"])
    assert mapped.roles["says"] == "category"
    assert grid(file, no_header=True).names == ["1", "2", "3", "4"]
    assert grid(file, header_row=4).names[2:] == ["x", "more"]
    assert grid(file, header_row=0).header == 3  # what is wrong is passed over


def test_rejected_rows_are_there_however_far_down(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    rows = [f"{n},a,x" for n in range(2000)]
    rows[1500] = ",a,x"
    file.write_text("\n".join(["item,annotator,category", *rows]), "utf-8")
    files = [(file, "sent.csv")]
    made = sqlite_ledger.import_uploads(files, "p", preview=True)
    (table,) = Ledger.grids(files, made)
    assert table.rejected == {1502: ["", "a", "x"]}
    assert len(table.rows) == 8
    assert table.roles == {"item": "item", "annotator": "annotator", "category": "category"}


def test_tables_of_other_formats(tmp_path: Path) -> None:
    objects = tmp_path / "a.json"
    objects.write_text('[{"item": 1, "of": {"who": "a"}, "tags": ["x"]}, {"item": null}]', "utf-8")
    table = grid(objects)
    assert (table.names, table.header, table.unit) == (["item", "of.who", "tags"], 0, "value")
    assert table.rows == [(1, ["1", "a", '["x"]'])]
    packed = tmp_path / "a.parquet"
    pd.DataFrame({"item": [1, 2], "who": ["a", None]}).to_parquet(packed)
    assert grid(packed).rows == [(1, ["1", "a"]), (2, ["2", ""])]


@pytest.mark.parametrize("content", [b"", b"%PDF-1.4", b'item,who\n"1,a\n', b"\xff\xfe\x00"])
def test_what_is_no_table_has_no_rows(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(content)
    assert [table.rows for table in Ledger.grids([(file, "a.csv")])] in ([], [[]])


def test_a_sheet_is_chosen_by_its_name(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "a.xlsx"
    with pd.ExcelWriter(file) as book:
        for who in ("one", "two"):
            frame = pd.DataFrame({"item": ["1"], "annotator": [who], "category": ["x"]})
            frame.to_excel(book, sheet_name=who, index=False)
    assert (grid(file).sheet, grid(file).sheets) == ("one", ["one", "two"])
    assert grid(file, sheet="two").rows[1] == (2, ["1", "two", "x"])
    each = Ledger.grids([(file, "b.xlsx")], annotator_from="sheet")
    assert [table.source for table in each] == ["b.xlsx#one", "b.xlsx#two"]
    sqlite_ledger.import_file(file, "p", sheet="two")
    assert [row.annotator.name for row in sqlite_ledger.annotators.list("p")] == ["two"]
