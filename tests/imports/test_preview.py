"""Previews and the rows of files: what an import would store, and the table as it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.reading import table_text
from tests.helpers import SPANS, csv_text, standing, stored
from tests.imports.tables import HEADER
from tests.profiles import examples
from tracker.ledger import Ledger

TIMED = [*HEADER.strip().split(","), "pass", "labeled_at", "seconds", "confidence", "comment"]


def preview(ledger: Ledger, path: Path, **how: Any) -> tuple[dict[str, Any], ...]:
    before = stored(ledger)
    done = ledger.import_file(path, "p", preview=True, **how)
    assert stored(ledger) == before
    assert done.id is None
    assert done.preview is not None
    assert done.to_dict()["preview"] == list(done.preview)
    return done.preview


def columns_of(rows: tuple[dict[str, Any], ...], columns: str) -> str:
    return table_text([row[name] for name in columns.split()] for row in rows)


def test_a_preview_shows_rows_as_they_would_be_stored(ledger, write):
    path = write([
        TIMED, [" 1 ", "ann", "5 stars", "", "2026-01-02T10:00", "2.5", "0.75", "why"],
        ["1", "bob", "", "2", "1767348000", "", "", ""],
    ])  # fmt: skip
    first, second = preview(ledger, path, values=["5 stars=5"])
    assert first == {
        "line": 2, "item": "1", "annotator": "ann", "kind": "human", "question": "label",
        "category": "5", "start": None, "end": None, "pass": 1,
        "labeled_at": "2026-01-02T10:00:00Z", "seconds": 2.5, "confidence": 0.75, "comment": "why",
    }  # fmt: skip
    assert (second["category"], second["pass"]) == (None, 2)
    assert second["labeled_at"] == "2026-01-02T10:00:00Z"
    gold = preview(ledger, write("item,annotator,category,gold\n1,a,x,y\n"))
    assert columns_of(gold, "annotator kind category") == "gold reference y; a human x"
    spans = write("item,annotator,category,start,end\n1,a,x,0,3\n1,b,,,\n")
    shown = preview(ledger, spans, options=SPANS)
    assert columns_of(shown, "category start end") == "x 0 3; - - -"
    table = [(n, who, "good", "4", "good") for n in range(20) for who in ("ann", "bob")]
    path = write([["item", "annotator", "Tone", "Fair", "gold"], *table])
    how: Any = {"questions": ["tone=Tone", "fair=Fair:ordinal"], "columns": ["gold="]}
    shown = preview(ledger, path, **how)
    lines = "; ".join(f"{line} {name}" for line in range(2, 7) for name in ("tone", "fair"))
    assert columns_of(shown, "line question") == lines
    ledger.import_file(path, "p", **how)
    names = ("item", "annotator", "question", "category")
    assert {tuple(row[name] for name in names) for row in shown} <= {*standing(ledger, "p", *names)}


_names = st.text("ab", min_size=1, max_size=2)


@examples(8)
@given(st.lists(st.tuples(_names, _names), min_size=1, max_size=25, unique=True))
def test_the_first_ten_good_rows_are_shown(sqlite_ledger, tmp_path, pairs):
    path = tmp_path / "rows.csv"
    path.write_text(HEADER + csv_text((*pair, "x") for pair in pairs))
    shown = preview(sqlite_ledger, path)
    assert [(row["item"], row["annotator"]) for row in shown] == pairs[:10]


def grid(path: Path, **how: Any) -> Any:
    """The only table of a file."""
    (table,) = Ledger.grids([(path, path.name)], **how)
    return table


def test_rows_stand_as_in_the_file_below_a_title(write):
    file = write(b'Week 3;;\n\n"Item";who; says \n1;"a\nb";x;more\n2;c;y\n')
    table = grid(file)
    assert (table.names, table.header, table.unit) == (["Item", "who", "says"], 3, "line")
    assert table.rows == [
        (1, ["Week 3", "", ""]), (3, ["Item", "who", " says "]), (4, ["1", "a\nb", "x", "more"]),
        (6, ["2", "c", "y"]),
    ]  # fmt: skip
    assert table.roles == {"Item": "item"}  # though the annotator is not known
    mapped = grid(file, columns=["annotator=who", "category=says"], keep=["nothing"])
    assert mapped.roles["says"] == "category"
    assert grid(file, no_header=True).names == ["1", "2", "3", "4"]
    assert grid(file, header_row=4).names[2:] == ["x", "more"]
    assert grid(file, header_row=0).header == 3  # what is wrong is passed over


def test_rejected_rows_are_shown_however_far_down(sqlite_ledger, write):
    rows = [f"{n},a,x" for n in range(2000)]
    rows[1500] = ",a,x"
    files = [(write(HEADER + "\n".join(rows)), "sent.csv")]
    done = sqlite_ledger.import_uploads(files, "p", preview=True)
    (table,) = Ledger.grids(files, done)
    assert table.rejected == {1502: ["", "a", "x"]}
    assert len(table.rows) == 8
    assert table.roles == {"item": "item", "annotator": "annotator", "category": "category"}


def test_tables_of_other_formats(sqlite_ledger, write, tmp_path):
    objects = b'[{"item": 1, "of": {"who": "a"}, "tags": ["x"]}, {"item": null}]'
    table = grid(write(objects, "a.json"))
    assert (table.names, table.header, table.unit) == (["item", "of.who", "tags"], 0, "value")
    assert table.rows == [(1, ["1", "a", '["x"]'])]
    pd.DataFrame({"item": [1, 2], "who": ["a", None]}).to_parquet(tmp_path / "a.parquet")
    assert grid(tmp_path / "a.parquet").rows == [(1, ["1", "a"]), (2, ["2", ""])]
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


@pytest.mark.parametrize("content", [b"", b"%PDF-1.4", b'item,who\n"1,a\n', b"\xff\xfe\x00"])
def test_files_other_than_tables_have_no_rows(write, content):
    assert [table.rows for table in Ledger.grids([(write(content), "a.csv")])] in ([], [[]])
