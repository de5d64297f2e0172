"""Files that cannot be imported: what is said of each, and that nothing is stored."""

from __future__ import annotations

import gzip
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.formats.reading import found_in
from tests.helpers import fates, standing, stored
from tests.profiles import both
from tracker.core.errors import Refused
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

Write = Callable[..., Path]

HEADER = b"item,annotator,category\n"
FIRST_LINES = HEADER + b"i,A,x\n" * 1000  # more than is looked at to tell a binary file


def refused(ledger: Ledger, file: Path, *signs: str, **options: object) -> str:
    """The error's text, after what every refusal has in common."""
    before = stored(ledger)
    with pytest.raises(Refused) as caught:
        ledger.import_file(file, "p", **options)  # type: ignore[arg-type]
    said = str(caught.value)
    assert caught.value.exit_code == 3
    assert file.name in said or "1,000 different categories" in said
    for sign in signs:
        assert sign in said
    assert len(said.splitlines()) <= 2
    assert len(said) < 1500
    assert stored(ledger) == before == {}
    return said


def test_a_missing_file(ledger: Ledger, tmp_path: Path) -> None:
    refused(ledger, tmp_path / "nowhere.csv", "there is no such file")


def test_a_folder_without_files(ledger: Ledger, tmp_path: Path) -> None:
    refused(ledger, tmp_path, "holds no file")


def test_a_missing_file_among_others(ledger: Ledger, write: Write, tmp_path: Path) -> None:
    good = write("item,annotator,category\n i,A,x")
    with pytest.raises(Refused, match="there is no such file"):
        ledger.import_file([good, tmp_path / "nowhere.csv"], "p")
    assert stored(ledger) == {}


@pytest.mark.parametrize(
    ("content", "signs"),
    [
        (b"", ["is empty"]),
        (b"\n\n", ["is empty"]),
        (b'"\n', ["no header that can be read"]),
        (b"\xef\xbb\xbf", ["is empty"]),
        (HEADER, ["a header and no row below it"]),
        (HEADER + b"\n\n", ["a header and no row below it"]),
        (HEADER.strip(), ["a header and no row below it"]),
        (
            b"a,b,c\ni,A,x\n",
            ["no column for the item or the annotator or the category", "a, b, c", "--map item="],
        ),
        (b"item,who,label\ni,A,x\n", ["no column for the annotator", "item, who, label"]),
        (b"item,who,label\ni,A,x\n", ["--map annotator=COLUMN", "--wide"]),
        (
            b"task,document,annotator,category\nt,d,A,x\n",
            ["the item could be 'task' or 'document'", "--map item=task"],
        ),
        (
            b"item,worker,rater,category\ni,w,r,x\n",
            ["the annotator could be 'worker' or 'rater'", "--map annotator=worker"],
        ),
        (
            b"item,annotator,category,category\ni,A,x,y\n",
            ["the category could be 'category' or 'category'"],
        ),
        (HEADER + b"i,A,\xc3\xa9\nj,A,caf\xe9\n", ["line 3", "0xe9 is not UTF-8", "save the file"]),
        (FIRST_LINES + b"j,A,\xc3\xa9\xff\n", ["line 1002", "0xff is not UTF-8"]),
        (HEADER + "a\u2028b\x0c,A,x\r\n".encode() + b"j,A,\xff\n", ["line 3", "0xff is not"]),
        (HEADER + b'i,A,x\n"j,A,x\nk,A,x\n', ["line 3", "a quote is opened that never closes"]),
        (HEADER + b'i,A,x\n"j"s,A,x\n', ["line 3", "goes on after its closing quote"]),
        (HEADER + b"i,A,x\nj,A\n", ["line 3", "2 cells where the header has 3"]),
        (HEADER + b"i,A,x,1\n", ["line 2", "4 cells where the header has 3"]),
        (HEADER + b"i,A,x\n,A,x\n", ["line 3", "the item is empty"]),
        (HEADER + b"i,,x\n", ["line 2", "the annotator is empty"]),
        (HEADER + b"i, ,x\n", ["line 2", "the annotator is empty"]),
        (HEADER + b"i,A,x\x00y\n", ["binary"]),
        (FIRST_LINES + b"j,A,x\x00y\n", ["line 1002", "NUL"]),
        (FIRST_LINES + b"j\x00,A,x\n", ["line 1002", "NUL"]),
        (b"\x7fELF\x02\x01\x01" + bytes(5000), ["is a binary file"]),
        (b"PK\x03\x04\x14\x00\x06\x00" + bytes(100), ["is damaged: it does not unpack"]),
        (b"\xff\xfeabc", ["UTF-16"]),
    ],
    ids=lambda value: None if isinstance(value, list) else repr(value[-30:]),
)
def test_a_bad_file(sqlite_ledger: Ledger, write: Write, content: bytes, signs: list[str]) -> None:
    refused(sqlite_ledger, write(content), *signs)


@both
def test_a_bad_file_on_either_database(ledger: Ledger, write: Write) -> None:
    for content in (FIRST_LINES + b"j,A,x\x00y\n", HEADER + b"i,A,x\nj,A\n"):
        refused(ledger, write(content))
    ledger.import_file(write(HEADER + b"i,A,x\n"), "p")  # which is not the worse for it
    assert standing(ledger) == [("i", "A", "x")]


def test_nul_in_what_is_told_of_an_item(sqlite_ledger: Ledger, write: Write) -> None:
    for column, keep in (("text", []), ("note", ["note"]), ("gold", [])):
        header = f"item,annotator,category,{column}\n".encode()
        content = header + b"i,A,x,x\n" * 1000 + b"j,A,x,a\x00b\n"
        refused(sqlite_ledger, write(content), "line 1002", "NUL", keep=keep)


def test_a_cell_of_a_megabyte(ledger: Ledger, write: Write) -> None:
    huge = "x" * 1_000_000
    rows = [("item", "annotator", "category", "text"), ("i", "A", "x", huge)]
    for column, what in enumerate(("item", "annotator", "category")):
        bad = list(rows[1])
        bad[column] = huge
        file = write([rows[0], bad])
        refused(ledger, file, f"line 2: the {what}'s name is longer than 500 bytes")
    closed = QuestionOptions(categories=("x", "y"))
    refused(ledger, write([rows[0], ("i", "A", huge, "")]), "line 2", options=closed)
    timed = write([("item", "annotator", "category", "labeled_at"), ("i", "A", "x", huge)])
    refused(ledger, timed, "line 2")
    ledger.import_file(write(rows), "p")  # a text may be as long as that
    assert standing(ledger) == [("i", "A", "x")]


def test_a_small_packed_file_that_unpacks_to_one_huge_line(
    sqlite_ledger: Ledger, tmp_path: Path
) -> None:
    file = tmp_path / "packed.csv.gz"
    cases = ((HEADER, b"x", "line 2: the line is longer"), (b"", b",", "line 1: the line is"))
    for head, filling, sign in cases:
        with gzip.open(file, "wb", compresslevel=1) as packed:
            packed.write(head)
            for _ in range(17):
                packed.write(filling * (1 << 20))
        tracemalloc.start()
        try:
            refused(sqlite_ledger, file, sign, "16 MB")
            assert tracemalloc.get_traced_memory()[1] < 100 << 20
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_header_of_very_many_columns_and_of_a_very_long_one(
    sqlite_ledger: Ledger, write: Write, quote: str
) -> None:
    names = ",".join(f"{quote}c{n}{quote}" for n in range(10_001))
    refused(sqlite_ledger, write(f"{names}\n{names}\n"), "10,001 columns; 10,000 are the most")
    with pytest.raises(Refused, match="its columns are") as error:
        sqlite_ledger.import_file(write(f"item,{quote}{'x' * 1_000_000}{quote}\ni,A\n"), "p")
    assert len(error.value.message) < 500


@both
def test_the_longest_names(ledger: Ledger, write: Write) -> None:
    header, names = ("item", "annotator", "category"), ("x" * 500, "é" * 250, "😀" * 125)
    ledger.import_file(write([header, *((name, name, name) for name in names)]), "p")
    assert standing(ledger) == [(name, name, name) for name in names]
    bad = write([header, *(("i", name + "y", "x") for name in names)])
    rejected = ledger.import_file(bad, "p", skip_invalid=True).rejections
    assert ["annotator's name is longer than 500 bytes" in str(one) for one in rejected] == [
        True, True, True,
    ]  # fmt: skip


def test_very_many_categories(
    sqlite_ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracker.imports.lookup._MOST_LEARNT", 1000)
    rows = [("item", "annotator", "category"), *((n, "A", f"c{n}") for n in range(1000))]
    refused(sqlite_ledger, write(rows), "1,000 different categories", "--map category=COLUMN")
    sqlite_ledger.import_file(write(rows[:-1]), "p")
    assert stored(sqlite_ledger)["labels"] == 999


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_files_with_a_mark_of_their_encoding(write: Write, encoding: str) -> None:
    mark = "\ufeff" if encoding.endswith(("le", "be")) else ""
    text = mark + "item;annotator;category\r\ni;Zoë 😀;x\r\n"
    found = found_in(write(text.encode(encoding)))
    assert found.rows("item", "annotator", "category") == [("i", "Zoë 😀", "x")]


def test_lines_of_a_utf16_file_are_numbered(sqlite_ledger: Ledger, write: Write) -> None:
    text = "item,annotator,category\ni,A,x\n,B,x\n"
    refused(sqlite_ledger, write(text.encode("utf-16")), "line 3: the item is empty")


def test_lines_are_those_on_which_rows_start(sqlite_ledger: Ledger, write: Write) -> None:
    content = b'item,annotator,category\r\n"i\r\nj",A,x\r\n\r\n,A,x\r\n'
    refused(sqlite_ledger, write(content), "line 5: the item is empty")


# -- names that are hard on programs -------------------------------------------------------

HARD = [
    "O'Brien", 'the "quoted"', "😀👩‍🔬", "שלום", "\u202ereversed\u202c", "=1+1", "-2+3", "--",
    "@sum", "'; DROP TABLE labels; --", "%s %(x)s {0} :name ?", "a\\b\\N\\.", "\\N",
    "tab\there", "line\nbreak", "a,b;c|d", "NULL", "None", "nan", "e\u0301", "\u00e9", "x", "X",
    "0", "00", "0.0",
]  # fmt: skip


@both
def test_hard_names_come_back_as_they_were(ledger: Ledger, write: Write) -> None:
    rows = [("item", "annotator", "category", "text", "note")]
    rows += [(name, name, name, name, name) for name in HARD]
    result = ledger.import_file(write(rows), "p'; --", keep=["note"])
    assert fates(result) == {"inserted": len(HARD)}
    expected = sorted((name, name, name) for name in HARD)
    assert standing(ledger, "p'; --") == expected
    assert fates(ledger.import_file(write(rows), "p'; --")) == {"unchanged": len(HARD)}
    assert ledger.database.check() == []


@both
def test_names_are_compared_exactly_but_for_space_around_them(ledger: Ledger, write: Write) -> None:
    rows = [("item", "annotator", "category"), ("i", "a", "x"), (" i ", "A", "X"), ("I", "a", "x ")]
    ledger.import_file(write(rows), "p")
    assert standing(ledger) == sorted([("i", "a", "x"), ("i", "A", "X"), ("I", "a", "x")])


# -- bad rows left out ---------------------------------------------------------------------

MIXED = """item,annotator,category,labeled_at,seconds
    i,A,x,2024-01-01,1
    ,A,x,2024-01-01,1
    j,A,x
    j,A,x,never,1
    j,B,x,2024-01-01,often
    k,A,x,2024-01-01,
    k,A,y,2024-01-01,
    k,B,x,2024-01-01,
    k,B,x,2024-01-01,
    ,,,,
    l,A,x,2024-01-01,5,6"""


def test_bad_rows_can_be_left_out(ledger: Ledger, write: Write) -> None:
    file = write(MIXED)
    refused(ledger, file, "(and 6 more)", "--skip-invalid")
    result = ledger.import_file(file, "p", skip_invalid=True)
    assert fates(result) == {"inserted": 2, "unchanged": 1, "rejected": 7}
    assert result.rows == 10
    assert result.columns[0]["rows_left_out"] == {"empty row": 1}
    lines = sorted(rejection.line for rejection in result.rejections)
    assert lines == [3, 4, 5, 6, 7, 8, 12]
    assert {rejection.source for rejection in result.rejections} == {str(file)}
    assert standing(ledger) == [("i", "A", "x"), ("k", "B", "x")]
    told = result.to_dict()["rejections"][0]
    assert set(told) == {"source", "line", "reason"}


def test_only_ragged_rows(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A\n j,A")
    result = ledger.import_file(file, "p", skip_invalid=True)
    assert fates(result) == {"rejected": 2}


def test_bad_rows_of_truths_can_be_left_out(ledger: Ledger, write: Write) -> None:
    file = write("item,gold\n i,x\n ,x\n ,\n j,")
    result = ledger.import_file(file, "p", skip_invalid=True)
    told = fates(result)
    assert told["inserted"] == 1
    assert result.rejections[0].line == 3


def test_a_bad_truth_rejects_its_row(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category,gold\n i,A,x,z\n i,B,x,z\n j,A,x,y")
    options = QuestionOptions(categories=("x", "y"))
    result = ledger.import_file(file, "p", options=options, skip_invalid=True)
    assert fates(result)["rejected"] >= 1
    assert result.rejections[0].line == 2
    assert re.match("the gold: 'z' is none of", result.rejections[0].reason)


def test_very_many_bad_rows_are_counted_and_the_first_kept(
    sqlite_ledger: Ledger, write: Write
) -> None:
    rows = [("item", "annotator", "category"), *(("", "A", "x") for _ in range(3000))]
    result = sqlite_ledger.import_file(write([*rows, ("i", "A", "x")]), "p", skip_invalid=True)
    assert fates(result) == {"inserted": 1, "rejected": 3000}
    assert [rejection.line for rejection in result.rejections] == list(range(2, 1002))


def test_what_an_error_quotes_cannot_act_on_a_terminal(
    sqlite_ledger: Ledger, write: Callable[..., Path]
) -> None:
    file = write("item,annotator,category\x1b]0;evil\x07\n i,A,x")
    with pytest.raises(Refused, match=r"\\x1b\]0;evil\\x07") as caught:
        sqlite_ledger.import_file(file, "p", columns=["category=none"])
    assert not [one for one in str(caught.value) if one < " " and one != "\n"]


def test_a_rejection_names_the_column_that_is_wrong(sqlite_ledger: Ledger, write: Write) -> None:
    long = "doc,coder,category,when\n1,ann,x,soon\n,ann,x,\n1,bo,x,,\n1,,x,\n"
    how: Any = {"columns": ["labeled_at=when"], "preview": True}
    done = sqlite_ledger.import_file(write(long.replace("doc", "item")), "p", **how)
    assert [one.column for one in done.rejections] == [None, "when", "item", "coder"]
    sqlite_ledger.projects.create("q", categories=["x"])
    wide = write("item,ann,bo\n1,x,x\n2,x,z\n")
    (one,) = sqlite_ledger.import_file(wide, "q", wide=True, preview=True).rejections
    assert (one.line, one.column) == (3, "bo")
    asked = write("item,annotator,tone,fair\n1,ann,9,x\n2,ann,low,x\n")
    questions = ["tone=tone:interval", "fair=fair"]
    told = sqlite_ledger.import_file(asked, "r", questions=questions, preview=True)
    assert [one.to_dict()["column"] for one in told.rejections] == ["tone"]
