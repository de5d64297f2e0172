"""Which column means what, and what else a row may say: times, seconds, attributes."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.formats.reading import found_in
from tests.helpers import fates, standing, stored
from tracker.core.errors import InvalidOption, Refused
from tracker.ledger import Ledger
from tracker.projects.items import find_item
from tracker.projects.projects import find_project

Write = Callable[..., Path]

ROWS = [("i", "A", "x"), ("i", "B", "y")]


@pytest.mark.parametrize(
    "header",
    [
        "item,annotator,category",
        "task_id,worker,label",
        "Question;Rater;Answer",
        "document\tcoder\trating",
        "Document ID|Annotator-ID|CLASS",
        "\ufeffitem,annotator,category",
        " item , annotator , category ",
    ],
)
def test_columns_are_known_by_many_names(write: Write, header: str) -> None:
    delimiter = next(mark for mark in ",;\t|" if mark in header)
    body = "".join(f"{delimiter.join(row)}\r\n" for row in ROWS)
    found = found_in(write(f"{header}\r\n{body}".encode()))
    assert found.rows("item", "annotator", "category") == ROWS


def test_of_several_names_the_role_itself_wins(write: Write) -> None:
    file = write("task,item,annotator,user,category,label\n t,i,A,u,x,l\n t,i,B,u,y,l")
    assert found_in(file).rows("item", "annotator", "category") == ROWS


@pytest.mark.parametrize(
    ("header", "roles"),
    [
        ("id,participant,label", {"item": "id", "annotator": "participant", "category": "label"}),
        ("sent_id,id,ann,winner", {"item": "sent_id", "annotator": "ann", "category": "winner"}),
        ("item,id,user,ann,label", {"item": "item", "annotator": "user", "category": "label"}),
    ],
)
def test_lesser_names_are_known_if_no_better_one_is_there(
    sqlite_ledger: Ledger, write: Write, header: str, roles: dict[str, str]
) -> None:
    rows = ["i", "i", "j"], ["A", "B", "A"]
    cells = dict.fromkeys(header.split(","), "x")
    lines = [
        ",".join((cells | {roles["item"]: item, roles["annotator"]: who}).values())
        for item, who in zip(*rows, strict=True)
    ]
    result = sqlite_ledger.import_file(write("\n".join([header, *lines])), "p")
    assert result.columns[0]["read"] == roles


def test_an_id_that_numbers_the_rows_is_no_item(sqlite_ledger: Ledger, write: Write) -> None:
    file = write("id,user,label\n1,A,x\n2,B,x")
    with pytest.raises(Refused, match=r"'id' differs in each row(?s:.*)--map item=id"):
        sqlite_ledger.import_file(file, "p")
    sqlite_ledger.import_file(file, "p", columns=["item=id"])
    sqlite_ledger.import_file(write("id,user,label\n1,A,x\n2,A,x"), "q")
    sqlite_ledger.import_file(write("id,A,B\n1,x,x\n2,x,y"), "r", wide=True)


def test_times_spent_are_read_in_the_unit_of_their_column(
    sqlite_ledger: Ledger, write: Write
) -> None:
    file = write("item,annotator,label,Dauer (Min.)\ni,A,x,1.5\nj,A,x,oops")
    columns = ["seconds=Dauer (Min.)"]
    with pytest.raises(Refused, match=r"line 3: .*'oops' are not a number \(column 'Dauer"):
        sqlite_ledger.import_file(file, "p", columns=columns)
    result = sqlite_ledger.import_file(file, "p", columns=columns, skip_invalid=True)
    assert result.columns[0]["units"] == {"seconds": "minutes"}
    assert list(sqlite_ledger.export_frame("p")["seconds"]) == [90]


def test_other_columns_are_mapped(ledger: Ledger, write: Write) -> None:
    file = write("no,who,said,when,item\n i,A,x,2024-01-01,9\n i,B,y,2024-01-02,9")
    columns = ["item=no", "annotator=WHO", "category = said", "labeled_at=when"]
    ledger.import_file(file, "p", columns=columns)
    assert standing(ledger) == ROWS
    assert standing(ledger, "p", "labeled_at")[0] == ("2024-01-01T00:00:00Z",)


@pytest.mark.parametrize(
    ("column", "mapped"), [("labelled_at", []), ("when", ["labelled_at=when"])]
)
def test_labeled_may_be_spelled_with_two_l(write: Write, column: str, mapped: list[str]) -> None:
    file = write(f"item,annotator,category,{column}\n i,A,x,2024-01-01")
    assert found_in(file, *mapped).rows("labeled_at") == [("2024-01-01",)]


@pytest.mark.parametrize(
    ("pair", "sign"),
    [
        ("item", "is not ROLE=COLUMN"),
        ("item=", "is not ROLE=COLUMN"),
        ("itm=x", "did you mean --map item=x"),
        ("date=x", r"did you mean --map labeled_at=x\?.*labeled_at \(when it was answered\)"),
        ("label=x", r"did you mean --map category=x"),
        ("when=labeled_at", "did you mean --map labeled_at=when"),
        ("colour=x", "is no role of a column"),
    ],
)
def test_a_map_that_says_nothing(sqlite_ledger: Ledger, write: Write, pair: str, sign: str) -> None:
    file = write("item,annotator,category\n i,A,x")
    with pytest.raises(InvalidOption, match=sign):
        sqlite_ledger.import_file(file, "p", columns=[pair])
    assert stored(sqlite_ledger) == {}


def test_wide_files_have_a_column_per_annotator(ledger: Ledger, write: Write) -> None:
    file = write("item,A,B,C 1\n i,x,y,\n j,,x, z \n k,,,")
    result = ledger.import_file(file, "p", wide=True)
    assert fates(result) == {"inserted": 4}
    expected = [("i", "A", "x"), ("i", "B", "y"), ("j", "B", "x"), ("j", "C 1", "z")]
    assert standing(ledger) == expected
    assert fates(ledger.import_file(file, "p", wide=True)) == {"unchanged": 4}


def test_wide_files_with_other_columns(ledger: Ledger, write: Write) -> None:
    file = write("doc,A,lang,B,gold,text\n i,x,nl,y,x,hallo\n j,x,fr,,y,salut")
    result = ledger.import_file(file, "p", columns=["annotators=A, B"], keep=["lang"])
    assert fates(result) == {"inserted": 3}
    people = [row for row in standing(ledger) if row[1] != "gold"]
    assert people == [("i", "A", "x"), ("i", "B", "y"), ("j", "A", "x")]
    assert result.gold is not None
    assert result.gold["inserted"] == 2
    with pytest.raises(Refused, match="has no column 'D'"):
        ledger.import_file(file, "p", columns=["annotators=A,D"])


def test_wide_answers_of_one_annotator_twice_contradict(ledger: Ledger, write: Write) -> None:
    with pytest.raises(Refused, match=r"line 2: .* item 'i': 'x' here, 'y' on line 3"):
        ledger.import_file(write("item,A\n i,x\n i,y"), "p", wide=True)
    assert stored(ledger) == {}


def test_attributes_and_texts_are_kept_on_request(ledger: Ledger, write: Write) -> None:
    first = write("item,annotator,category,text,lang,Source\n i,A,x,hello,en,web\n j,A,x,hi,en,")
    ledger.import_file(first, "p", keep=["lang", "source"])
    ledger.import_file(write("item,annotator,category,lang\n i,B,x,nl"), "p", keep=["lang"])
    ledger.import_file(write("item,annotator,category,lang\n i,C,x,fr"), "p")
    with ledger.database.read() as connection:
        project = find_project(connection, "p")
        item = find_item(connection, project, "i")
        other = find_item(connection, project, "j")
    assert item.text == "hello"
    assert item.attributes == {"lang": "nl", "source": "web"}
    assert other.attributes == {"lang": "en", "source": ""}
    with pytest.raises(Refused, match="has no column 'langue'") as caught:
        ledger.import_file(first, "p", keep=["langue"])
    assert "did you mean 'lang'?" in str(caught.value)


# -- times and seconds ---------------------------------------------------------------------


TIMES = [
    ("2024-03-01T10:00:00Z", "2024-03-01T10:00:00Z"),
    ("2024-03-01T10:00:00+02:00", "2024-03-01T08:00:00Z"),
    ("2024-03-01 10:00", "2024-03-01T10:00:00Z"),
    ("2024-03-01", "2024-03-01T00:00:00Z"),
    ("20240301", "2024-03-01T00:00:00Z"),
    ("2024-03-01T10:00:00.123456Z", "2024-03-01T10:00:00.123456Z"),
    ("1700000000", "2023-11-14T22:13:20Z"),
    ("1700000000250", "2023-11-14T22:13:20.250000Z"),
    ("1700000000.25", "2023-11-14T22:13:20.250000Z"),
    (" 1700000000 ", "2023-11-14T22:13:20Z"),
    ("-1", "1969-12-31T23:59:59Z"),
    ("", None),
]


def test_times(sqlite_ledger: Ledger, write: Write) -> None:
    header = ("item", "annotator", "category", "labeled_at")
    rows = [(f"{n:02}", "A", "x", cell) for n, (cell, _) in enumerate(TIMES)]
    sqlite_ledger.import_file(write([header, *rows]), "p")
    found = standing(sqlite_ledger, "p", "item", "labeled_at")
    assert found == [(f"{n:02}", moment) for n, (_, moment) in enumerate(TIMES)]


def test_seconds_are_kept_to_the_millisecond(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category,seconds\n i,A,x,1.2345\n i,B,x,0\n i,C,x,\n i,D,x,2e3")
    ledger.import_file(file, "p")
    assert standing(ledger, "p", "annotator", "seconds") == [
        ("A", 1.234),
        ("B", 0.0),
        ("C", None),
        ("D", 2000.0),
    ]


UNREADABLE = [
    ("labeled_at", "yesterday", "'yesterday' is neither ISO 8601 nor epoch seconds"),
    ("labeled_at", "2024-13-01", "is neither ISO 8601 nor epoch seconds"),
    ("labeled_at", "nan", "is neither ISO 8601 nor epoch seconds"),
    ("labeled_at", "inf", "is neither ISO 8601 nor epoch seconds"),
    ("labeled_at", "-1e300", "is neither ISO 8601 nor epoch seconds"),
    ("labeled_at", "-99999999999999", "is neither ISO 8601 nor epoch seconds"),
    ("labeled_at", "0001-01-01T00:00+14:00", "is neither ISO 8601 nor epoch seconds"),
    ("labeled_at", "2999-01-01", "'2999-01-01' lies in the future"),
    ("labeled_at", "17000000000000000", "is neither ISO 8601 nor epoch seconds"),
    ("labeled_at", "9999999999999", "the labeled_at '9999999999999' lies in the future"),
    ("seconds", "soon", "the seconds 'soon' are not a number"),
    ("seconds", "nan", "are not a number"),
    ("seconds", "-1", "are not a time spent"),
    ("seconds", "1e300", "are not a time spent"),
    ("pass", "0", "the pass '0' is not 1, 2, …"),
    ("pass", "1.5", "is not 1, 2, …"),
    ("pass", "32768", "is not 1, 2, …"),
    ("pass", "9" * 5000, "the pass '9999"),
]


def test_cells_that_cannot_be_read(sqlite_ledger: Ledger, write: Write) -> None:
    names = ("labeled_at", "seconds", "pass")
    cells = [["i", "A", "x", *(cell if one == name else "" for one in names)]
             for name, cell, _ in UNREADABLE]  # fmt: skip
    file = write([("item", "annotator", "category", *names), *cells])
    with pytest.raises(Refused) as caught:
        sqlite_ledger.import_file(file, "p")
    assert len(str(caught.value)) < 1500
    assert stored(sqlite_ledger) == {}
    rejected = sqlite_ledger.import_file(file, "p", skip_invalid=True).rejections
    assert [one.line for one in rejected] == [*range(2, 2 + len(UNREADABLE))]
    for one, (_, _, sign) in zip(rejected, UNREADABLE, strict=True):
        assert sign in one.reason


# -- packed, piped, framed -----------------------------------------------------------------


def test_a_packed_file(sqlite_ledger: Ledger, write: Write) -> None:
    packed = gzip.compress(b"item,annotator,category\ni,A,x\ni,B,y\n")
    sqlite_ledger.import_file(write(packed, "a.csv.gz"), "p")
    assert standing(sqlite_ledger) == ROWS
    with pytest.raises(Refused, match="does not unpack"):
        sqlite_ledger.import_file(write(packed[:-12], "b.csv.gz"), "p")


def test_frames_are_imported_like_files(sqlite_ledger: Ledger) -> None:
    import pandas as pd

    frame = pd.DataFrame({"item": [1, 1], "A": ["x", "y,\n z"], "B": [None, "x"]})
    frame["item"] = ["i", 'j "quoted"']
    sqlite_ledger.import_frame(frame, "p", wide=True)
    assert standing(sqlite_ledger) == [
        ("i", "A", "x"),
        ('j "quoted"', "A", "y,\n z"),
        ('j "quoted"', "B", "x"),
    ]


def test_progress_is_told_in_bytes(sqlite_ledger: Ledger, write: Write) -> None:
    file = write([("item", "annotator", "category"), *((n, "A", "x") for n in range(6000))])
    told: list[tuple[int, int | None]] = []
    sqlite_ledger.import_file(
        [file, file], "p", progress=lambda done, total: told.append((done, total))
    )
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert {total for _, total in told} == {2 * file.stat().st_size}
    assert told[-1][0] == 2 * file.stat().st_size


def test_blank_lines_before_the_header_are_passed_over(ledger: Ledger, write: Write) -> None:
    file = write(b"\n \nitem;annotator;label\ni;A;x\n;B;y\n")
    with pytest.raises(Refused, match="line 5: the item is empty"):
        ledger.import_file(file, "p")


def test_an_empty_text_erases_nothing(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,label,text\ni,A,x,the text\n"), "p")
    ledger.import_file(write("item,annotator,label,text\ni,B,x,\n"), "p")
    with ledger.reading("p") as (connection, project):
        assert find_item(connection, project, "i").text == "the text"


def test_of_many_columns_all_are_listed_and_the_likely_ones_first(
    sqlite_ledger: Ledger, write: Write
) -> None:
    names = ["item", *(f"column_{n}" for n in range(30)), "Worker name", "label (final)"]
    with pytest.raises(Refused) as caught:
        sqlite_ledger.import_file(write([names, names]), "p")
    listed = str(caught.value).partition("its columns are: ")[2].splitlines()[0].split(", ")
    assert listed[:2] == ["Worker name", "label (final)"]
    assert sorted(listed) == sorted(names)
