"""Titles above the header, totals below, no header, no item: tables as spreadsheets hold them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.helpers import standing
from tracker.core.errors import InvalidOption, Refused
from tracker.imports.preview import columns_sentence
from tracker.ledger import Ledger

Write = Callable[..., Path]

TITLED = """Report of week 3,,
,,
item,annotator,category
i1,ada,pos
i1,bo,neg
,,
i2,ada,neg
Total,,3
"""
GERMAN = """Auswertung Woche 12
Stand: 12.03.2026;;;

Beleg;Prüfer;Bewertung;Datum
1001;Jörg;gut;13.03.2026
;;;
1002;Jörg;schlecht;13.03.2026
;;Summe;2
"""
BARE = "i1,ada,pos\ni1,bo,pos\ni2,ada,neg\ni2,bo,pos\n"


def answers(ledger: Ledger, project: str = "p") -> list[tuple[str, str, str]]:
    return standing(ledger, project)


@pytest.mark.parametrize("options", [{}, {"header_row": 3}], ids=["found", "named"])
def test_a_header_below_titles(ledger: Ledger, write: Write, options: dict[str, Any]) -> None:
    result = ledger.import_file(write(TITLED), "p", **options)
    assert answers(ledger) == [("i1", "ada", "pos"), ("i1", "bo", "neg"), ("i2", "ada", "neg")]
    (columns,) = result.columns
    assert columns["header_row"] == 3
    assert columns["rows_left_out"] == {"empty row": 1, "row of totals": 1}


def test_a_title_with_none_of_the_delimiters(sqlite_ledger: Ledger, write: Write) -> None:
    path = write("")
    path.write_bytes(GERMAN.encode("cp1252"))
    roles = ["item=Beleg", "annotator=Prüfer", "category=Bewertung", "labeled_at=Datum"]
    result = sqlite_ledger.import_file(path, "p", columns=roles)
    assert answers(sqlite_ledger) == [("1001", "Jörg", "gut"), ("1002", "Jörg", "schlecht")]
    assert result.columns[0]["rows_left_out"] == {"empty row": 1, "row of totals": 1}


def test_a_workbook_with_a_cover_titles_and_a_sum(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["Project"])
    sheet = book.create_sheet("answers")
    header = ["item", "annotator", "category"]
    for row in (["Week 12"], ["as of", date(2026, 3, 12)], [], header, ["i", "A", "x"],
                [None, None, None], ["j", "A", "y"], ["Sum", 2]):  # fmt: skip
        sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    result = sqlite_ledger.import_file(tmp_path / "a.xlsx", "p")
    assert answers(sqlite_ledger) == [("i", "A", "x"), ("j", "A", "y")]
    assert result.columns[0]["header_row"] == 4
    assert result.columns[0]["rows_left_out"] == {"row of totals": 1}
    assert result.columns[0]["sheets_left_out"] == ["Sheet"]


def test_a_first_row_that_is_no_header(sqlite_ledger: Ledger, write: Write) -> None:
    path = write(BARE)
    ways = ("--no-header --map item=1 --map annotator=2 --map category=3",) * 2
    mapped = ["item=i1", "annotator=ada", "category=pos"]  # as the list of columns would suggest
    for columns, way in zip(([], mapped), ways, strict=True):
        with pytest.raises(Refused, match="looks like a row of answers") as caught:
            sqlite_ledger.import_file(path, "p", columns=columns)
        assert way in str(caught.value)
    roles = ["item=1", "annotator=2", "category=3"]
    assert sqlite_ledger.import_file(path, "p", columns=roles, no_header=True).inserted == 4
    quoted = write(BARE.replace("i1", '"i\n1"'))
    sqlite_ledger.import_file(quoted, "q", columns=roles, no_header=True)
    assert answers(sqlite_ledger, "q")[0] == ("i\n1", "ada", "pos")


def test_an_answer_about_a_total_is_an_answer(sqlite_ledger: Ledger, write: Write) -> None:
    """Words are annotated, too: a row with an annotator is none of totals."""
    sqlite_ledger.import_file(write("item,annotator,category\ntotal,A,noun\nsum,A,noun"), "p")
    assert [row[0] for row in answers(sqlite_ledger)] == ["sum", "total"]
    numbered = write("item,annotator,category\nrun,2,verb\ntotal,2,noun\nTotal,16,\n")
    sqlite_ledger.import_file(numbered, "n")
    assert [row[:2] for row in answers(sqlite_ledger, "n")] == [("run", "2"), ("total", "2")]
    wide = "item,A,B\nmean,verb,noun\nrun,verb,verb\nsum,noun,verb\n"
    sqlite_ledger.import_file(write(wide), "q", wide=True)
    assert {row[0] for row in answers(sqlite_ledger, "q")} == {"mean", "run", "sum"}


@pytest.mark.parametrize(
    ("header_row", "said"),
    [(2, "blank"), (9, "line 9, which is blank or beyond"), (1, "no column for")],
)
def test_a_row_that_cannot_be_the_header(
    sqlite_ledger: Ledger, write: Write, header_row: int, said: str
) -> None:
    path = write(TITLED.replace("\n,,\n", "\n\n"))
    with pytest.raises(Refused, match=said):
        sqlite_ledger.import_file(path, "p", header_row=header_row)


def test_columns_that_are_the_item_together(ledger: Ledger, write: Write) -> None:
    path = write("doc,system,worker,label\nd1,a,w,x\nd1,b,w,y\nd2,,w,x\n")
    ledger.import_file(path, "p", columns=["item=doc+system"])
    assert answers(ledger) == [("d1/a", "w", "x"), ("d1/b", "w", "y"), ("d2/", "w", "x")]
    ledger.import_file(path, "q", columns=["item=doc + system"], join="|")
    assert answers(ledger, "q")[0] == ("d1|a", "w", "x")
    with pytest.raises(InvalidOption, match="twice") as caught:
        ledger.import_file(path, "r", columns=["item=doc", "item=system"])
    assert "--map item=doc+system" in str(caught.value)


def test_annotators_and_times_that_are_in_several_columns(
    sqlite_ledger: Ledger, write: Write
) -> None:
    path = write("item,first,last,label,day,hour\ni1,ada,b,x,25/12/2025,10:30\n")
    roles = ["annotator=first+last", "labeled_at=day+hour"]
    sqlite_ledger.import_file(path, "p", columns=roles, join=" ")
    (label,) = sqlite_ledger.items.show("p", "i1").labels
    told = label.to_dict()
    assert told["annotator"] == "ada b"
    assert told["labeled_at"].startswith("2025-12-25T10:30:00")


FAMILIES = {
    "numbered": ("id,source,annotator1,annotator2\n1,web,x,y\n2,tv,y,y\n",
                 {"annotator1", "annotator2"}, ["source"]),
    "one name": ("id,text,score,score,mean\n1,a,1,2,1.5\n2,b,3,3,3\n", {"score 1", "score 2"},
                 ["mean"]),
    "shared values": ("item,ada,bo,majority\n1,x,y,x\n2,y,y,y\n", {"ada", "bo"}, ["majority"]),
    "three people": ("item,A1,A2,B1\n1,x,y,x\n", {"A1", "A2", "B1"}, []),
}  # fmt: skip


@pytest.mark.parametrize(("table", "people", "left"), FAMILIES.values(), ids=FAMILIES)
def test_columns_of_annotators(
    sqlite_ledger: Ledger, write: Write, table: str, people: set[str], left: list[str]
) -> None:
    result = sqlite_ledger.import_file(write(table), "p", wide=True)
    assert {row[1] for row in answers(sqlite_ledger)} == people
    assert result.columns[0]["left_out"] == left


def test_columns_with_values_of_their_own_are_no_annotators(
    sqlite_ledger: Ledger, write: Write
) -> None:
    path = write("item,ada,bo,source\n1,x,y,web\n2,y,y,tv\n")
    with pytest.raises(Refused, match="source does not hold the values of ada, bo") as caught:
        sqlite_ledger.import_file(path, "p", wide=True)
    assert "--map annotators=ada,bo" in str(caught.value)
    sqlite_ledger.import_file(path, "p", columns=["annotators=ada,bo"])
    assert {row[1] for row in answers(sqlite_ledger)} == {"ada", "bo"}


def test_rows_that_are_the_items(sqlite_ledger: Ledger, write: Write) -> None:
    table = "r1,r2\nx,y\n\ny,y\n"
    with pytest.raises(Refused, match="no column for the item") as caught:
        sqlite_ledger.import_file(write(table), "p", wide=True)
    assert "--map 'item=#'" in str(caught.value)
    sqlite_ledger.import_file(write(table), "p", wide=True, columns=["item=#"])
    # The blank row is the second one: a file of another annotator may hold it.
    assert {row[0] for row in answers(sqlite_ledger)} == {"1", "3"}
    sqlite_ledger.import_file(
        write(table.replace("\n\n", "\n,\n")), "p", columns=["item=#"], wide=True
    )
    assert len(answers(sqlite_ledger)) == 4


JOINED = {
    "{annotator}_{question}.{category}":
    "item,A1_tone.rude,A1_tone.kind,A2_tone.rude,A2_tone.kind\n1,1,0,0,1\n2,x,x,,yes\n3,0,0,,\n",
    "{question}/{category}": "item,annotator,tone/rude,tone/kind\n1,A1,1,0\n1,A2,0,1\n2,A1,x,x\n"
    "2,A2,,yes\n3,A1,0,0\n3,A2,,\n",
}  # fmt: skip


@pytest.mark.parametrize(("pattern", "table"), JOINED.items(), ids=JOINED)
def test_a_column_for_each_option(
    sqlite_ledger: Ledger, write: Write, pattern: str, table: str
) -> None:
    result = sqlite_ledger.import_file(write(table), "p", pattern=pattern)
    assert result.columns[0]["questions"]["tone"].count(",") >= 1
    assert answers(sqlite_ledger) == [
        ("1", "A1", "rude"), ("1", "A2", "kind"), ("2", "A1", "kind"), ("2", "A1", "rude"),
        ("2", "A2", "kind"), ("3", "A1", None),
    ]  # fmt: skip
    (asked,) = sqlite_ledger.questions.list("p")
    assert (asked.name, asked.answers) == ("tone", "several")


def test_a_column_for_each_category_beside_known_ones(sqlite_ledger: Ledger, write: Write) -> None:
    table = "id,worker,polite,rude\n1,w1,1,0\n1,w2,0,1\n"
    result = sqlite_ledger.import_file(write(table), "p", pattern="{category}")
    assert answers(sqlite_ledger) == [("1", "w1", "polite"), ("1", "w2", "rude")]
    assert columns_sentence(result.columns[0]).endswith("; one per category: polite, rude")


def test_a_column_for_each_annotator_and_question(sqlite_ledger: Ledger, write: Write) -> None:
    path = write("item,R1_tone,R1_length,R2_tone,R2_length\n1,rude,3,kind,4\n2,kind,,kind,3\n")
    with pytest.raises(Refused) as caught:
        sqlite_ledger.import_file(path, "p")
    assert "--columns '{annotator}_{question}'" in str(caught.value)
    result = sqlite_ledger.import_file(path, "p", pattern="{annotator}_{question}")
    assert {one["question"]: one["answers"] for one in result.questions} == {"tone": 4, "length": 3}


@pytest.mark.parametrize("pattern", ["", "{person}", "{question}{question}"])
def test_a_pattern_that_names_nothing(sqlite_ledger: Ledger, write: Write, pattern: str) -> None:
    with pytest.raises(InvalidOption, match="--columns"):
        sqlite_ledger.import_file(write("item,a\n1,x"), "p", pattern=pattern)


def test_a_cell_that_says_neither_yes_nor_no(sqlite_ledger: Ledger, write: Write) -> None:
    path = write("item,annotator,c.rude,c.kind\n1,A,often,0\n")
    with pytest.raises(Refused, match="neither yes nor no"):
        sqlite_ledger.import_file(path, "p", pattern="c.{category}")


def test_a_mapping_keeps_how_a_table_is_read(
    sqlite_ledger: Ledger, write: Write, tmp_path: Path
) -> None:
    how: dict[str, Any] = {
        "columns": ["item=1+2", "annotator=3", "category=4"], "no_header": True, "join": "|",
    }  # fmt: skip
    (tmp_path / "m.toml").write_text(sqlite_ledger.mapping_text(tmp_path, **how))
    sqlite_ledger.import_file(write("d,a,A,x\nd,b,A,y"), "p", mapping=tmp_path / "m.toml")
    assert answers(sqlite_ledger) == [("d|a", "A", "x"), ("d|b", "A", "y")]
    for key, value in (("header_row", 3), ("pattern", "{annotator}")):
        assert repr(value).strip("'") in sqlite_ledger.mapping_text(tmp_path, **{key: value})


def test_two_answers_that_no_column_tells_apart_can_be_read_as_repeats(
    sqlite_ledger: Ledger, write: Write
) -> None:
    path = write("item,annotator,category\n1,a,x\n1,a,y\n")
    with pytest.raises(Refused, match="--repeat revision, or --repeat pass"):
        sqlite_ledger.import_file(path, "p")
    assert sqlite_ledger.import_file(path, "p", repeat="pass").inserted == 2


def test_a_header_is_on_a_line_or_there_is_none(sqlite_ledger: Ledger, write: Write) -> None:
    path = write("item,annotator,category\n1,a,x\n")
    with pytest.raises(InvalidOption, match="contradict each other"):
        sqlite_ledger.import_file(path, "p", header_row=1, no_header=True)


def test_a_table_is_no_workbook(sqlite_ledger: Ledger, write: Write) -> None:
    with pytest.raises(Refused, match="is no workbook, which the format xlsx is read from"):
        sqlite_ledger.import_file(write("item,annotator,category\n1,a,x\n"), "p", format="xlsx")
