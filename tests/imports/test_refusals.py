"""Files and options that cannot be used: the message of each, and that nothing is stored."""

from __future__ import annotations

import gzip
import re
import tracemalloc
from typing import Any

import pytest

from tests.helpers import fates, standing, stored
from tests.imports.tables import HEADER, refuse, stands
from tests.profiles import both
from tracker.core.errors import InvalidOption, Refused
from tracker.projects.questions import QuestionOptions

H = HEADER.encode()
FIRST_LINES = H + b"i,A,x\n" * 1000  # more than is looked at to recognize a binary file
ORDINAL = QuestionOptions(scale="ordinal")

BAD_FILES: list[tuple[bytes, list[str]]] = [
    (b"", ["is empty"]),
    (H + b"\n\n", ["a header and no row below it"]),
    (b"a,b,c\ni,A,x\n",
     ["for the item or the annotator or the category", "a (i), b (A), c (x)", "--map item="]),
    (b"item,who,label\ni,A,x\n",
     ["no column for the annotator", "item (i), who (A), label (x)", "--map annotator=COLUMN"]),
    (b"task,document,annotator,category\nt,d,A,x\n",
     ["the item could be 'task' or 'document'", "--map item=task"]),
    (b"item,worker,rater,category\ni,w,r,x\n",
     ["the annotator could be 'worker' or 'rater'", "--map annotator=worker"]),
    (b"item,annotator,category,category\ni,A,x,y\n",
     ["the category could be 'category' or 'category'"]),
    (H + b"i,A,\xc3\xa9\nj,A,caf\xe9\n", ["line 3", "0xe9 is not UTF-8", "save the file"]),
    (H + "a\u2028b\x0c,A,x\r\n".encode() + b"j,A,\xff\n", ["line 3", "0xff is not"]),
    (H + b'i,A,x\n"j,A,x\nk,A,x\n', ["line 3", "a quote is opened that never closes"]),
    (H + b"i,A,x\nj,A\n", ["line 3", "2 cells where the header has 3"]),
    (H + b"i, ,x\n", ["line 2", "the annotator is empty"]),
    (H.replace(b"\n", b"\r\n") + b'"i\r\nj",A,x\r\n\r\n,A,x\r\n', ["line 5: the item is empty"]),
    ((HEADER + "i,A,x\n,B,x\n").encode("utf-16"), ["line 3: the item is empty"]),
    (H + b"i,A,x\x00y\n", ["binary"]),
    (FIRST_LINES + b"j,A,x\x00y\n", ["line 1002", "NUL"]),
    (b"\x7fELF\x02\x01\x01" + bytes(5000), ["is a binary file"]),
    (b"PK\x03\x04\x14\x00\x06\x00" + bytes(100), ["is damaged: it does not unpack"]),
    (b"\xff\xfeabc", ["UTF-16"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "signs"), BAD_FILES, ids=[repr(content[-30:]) for content, _ in BAD_FILES]
)
def test_a_bad_file(sqlite_ledger, write, content, signs):
    refuse(sqlite_ledger, write(content, "bad.csv"), "bad.csv", *signs)


TONE = "item,annotator,tone\ni,A,+\n"
BAD_OPTIONS: list[tuple[str, dict[str, Any], str]] = [
    *((HEADER + "i,A,x", {"columns": [pair]}, sign) for pair, sign in (
        ("item", "is not ROLE=COLUMN"), ("item=", "is not ROLE=COLUMN"),
        ("itm=x", "did you mean --map item=x"), ("date=x", "did you mean --map labeled_at=x?"),
        ("label=x", "did you mean --map category=x"),
        ("when=labeled_at", "did you mean --map labeled_at=when"),
        ("colour=x", "is no role of a column"),
    )),
    *(("item,annotator,a,b\ni,A,1,2", {"questions": questions}, sign) for questions, sign in (
        (["a=a", "a=b"], "names 'a' twice"), (["a=a", "b"], "'b' names no column"),
        (["a="], "names no column"), (["a:ordnial"], "did you mean 'ordinal'"),
        (["=a"], "name is empty"), (["a:one<one"], "category twice"),
    )),
    *(("item,a\n1,x", {"pattern": pattern}, "--columns") for pattern in
      ("", "{person}", "{question}{question}")),
    *((HEADER + "i,A,x", {"date_format": form}, sign)
      for form, sign in (("DD.MM.YYYY", "day.month.year"), ("%d.%m.", "--date-format"),
                         ("%H:%M", "--date-format"), ("%Q", "--date-format"),
                         ("", "--date-format"), ("%d.%m.%Y %", "--date-format"))),
    (HEADER + "1,a,x", {"header_row": 1, "no_header": True}, "contradict each other"),
    ("doc,system,annotator,label\nd,s,A,x", {"columns": ["item=doc", "item=system"]},
     "--map item=doc+system"),
    (HEADER + "i,A,x;y", {"separator": ";"}, "of several categories"),
    (TONE, {"questions": ["tone=tone"], "values": ["+=a", "+=b"]},
     "'+' stands for 'a' and for 'b'"),
    (TONE, {"questions": ["tone=tone"], "values": ["5"]}, "is not OLD=NEW"),
    (HEADER + "i,A,1", {"options": QuestionOptions(scale="ratio", categories=("1", "low"))},
     "'low' is not a number"),
    (HEADER + "i,A,1", {"options": QuestionOptions(scale="interval", categories=("1", "1.0"))},
     "names a category twice"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "how", "sign"), BAD_OPTIONS)
def test_options_that_cannot_be_used(sqlite_ledger, write, content, how, sign):
    refuse(sqlite_ledger, write(content), sign, error=InvalidOption, **how)


UNREADABLE = [
    ("labeled_at", "yesterday", "'yesterday' is neither ISO 8601 nor epoch seconds"),
    *(("labeled_at", cell, "is neither ISO 8601 nor epoch seconds") for cell in (
        "2024-13-01", "nan", "inf", "-1e300", "-99999999999999", "0001-01-01T00:00+14:00",
        "17000000000000000")),
    ("labeled_at", "2999-01-01", "'2999-01-01' lies in the future"),
    ("seconds", "soon", "the seconds 'soon' are not a number"),
    ("seconds", "-1", "are not a time spent"),
    ("pass", "0", "the pass '0' is not 1, 2, …"),
    ("pass", "32768", "is not 1, 2, …"),
    ("pass", "9" * 5000, "the pass '9999"),
    *(("confidence", cell, "is not a number from 0 to 1") for cell in
      ("1.01", "-0.1", "high", "nan", "80%")),
]  # fmt: skip


def test_cells_that_cannot_be_read(sqlite_ledger, write):
    names = ("labeled_at", "seconds", "pass", "confidence")
    cells = [["i", "A", "x", *(cell if column == name else "" for column in names)]
             for name, cell, _ in UNREADABLE]  # fmt: skip
    file = write([("item", "annotator", "category", *names), *cells])
    how = {"columns": [f"{name}={name}" for name in names]}
    refuse(sqlite_ledger, file, **how)
    rejected = sqlite_ledger.import_file(file, "p", skip_invalid=True, **how).rejections
    assert [rejection.line for rejection in rejected] == [*range(2, 2 + len(UNREADABLE))]
    for rejection, (_, _, sign) in zip(rejected, UNREADABLE, strict=True):
        assert sign in rejection.reason


def test_missing_files_and_empty_folders(ledger, write, tmp_path):
    refuse(ledger, tmp_path, str(tmp_path), "holds no file")
    good, bad = write(HEADER + "i,A,x"), write(HEADER + ",A,x", "bad.csv")
    missing = tmp_path / "nowhere.csv"
    refuse(ledger, [good, missing], "nowhere.csv", "there is no such file")
    refuse(ledger, [good, bad], "bad.csv, line 2: the item is empty")
    refuse(ledger, good, "is no workbook, which the format xlsx is read from", format="xlsx")
    refuse(ledger, good, "there is no such file", values_file="nowhere.csv")


def test_cells_of_a_megabyte_and_nul_in_each_column(ledger, write):
    header, row = ("item", "annotator", "category", "text"), ["i", "A", "x", "x" * 1_000_000]
    for column, keep in (("text", []), ("note", ["note"])):
        content = f"{HEADER[:-1]},{column}\n".encode() + b"i,A,x,x\n" * 1000 + b"j,A,x,a\x00b\n"
        refuse(ledger, write(content), "line 1002", "NUL", keep=keep)
    ledger.import_file(write([header, row]), "p")  # a text may be as long as that
    assert stands(ledger) == "i A x"


def test_a_small_packed_file_that_unpacks_to_one_huge_line(sqlite_ledger, tmp_path):
    file = tmp_path / "packed.csv.gz"
    with gzip.open(file, "wb", compresslevel=1) as packed:
        packed.write(H)
        for _ in range(17):
            packed.write(b"x" * (1 << 20))
    tracemalloc.start()
    try:
        refuse(sqlite_ledger, file, "line 2: the line is longer", "16 MB")
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


def test_headers_of_very_many_and_of_many_columns(sqlite_ledger, write):
    names = ",".join(f"c{n}" for n in range(10_001))
    refuse(sqlite_ledger, write(f"{names}\n{names}\n"), "10,001 columns; 10,000 are the most")
    long = write(f'item,"{"x" * 1_000_000}"\ni,A\n')
    assert len(refuse(sqlite_ledger, long, "its columns are").splitlines()[0]) < 500
    columns = ["item", *(f"column_{n}" for n in range(30)), "Worker name", "label (final)"]
    message = refuse(sqlite_ledger, write([columns, columns]))
    listed = message.partition("its columns are: ")[2].splitlines()[0].split(", ")
    assert listed[:2] == ["Worker name (Worker name)", "label (final) (label (final))"]
    assert {name.partition(" (c")[0] for name in listed[2:]} >= {*columns[1:31]}


@both
def test_the_longest_names(ledger, write):
    header, names = HEADER.strip().split(","), ("x" * 500, "é" * 250, "😀" * 125)
    ledger.import_file(write([header, *((name, name, name) for name in names)]), "p")
    assert standing(ledger) == [(name, name, name) for name in names]
    bad = write([header, *(("i", name + "y", "x") for name in names), ("i", "A", "x" * 10**6)])
    rejections = ledger.import_file(bad, "p", skip_invalid=True).rejections
    assert len(rejections) == 4
    for rejection in rejections:
        assert "'s name is longer than 500 bytes" in str(rejection)


def test_very_many_categories(sqlite_ledger, write, monkeypatch):
    monkeypatch.setattr("tracker.imports.lookup._MOST_LEARNT", 1000)
    rows = [HEADER.strip().split(","), *((n, "A", f"c{n}") for n in range(1000))]
    refuse(sqlite_ledger, write(rows), "1,000 different categories", "--map category=COLUMN")
    sqlite_ledger.import_file(write(rows[:-1]), "p")
    assert stored(sqlite_ledger)["labels"] == 999


HARD = [
    "O'Brien", 'the "quoted"', "😀👩‍🔬", "שלום", "\u202ereversed\u202c", "=1+1", "-2+3", "--",
    "@sum", "'; DROP TABLE labels; --", "%s %(x)s {0} :name ?", "a\\b\\N\\.", "\\N",
    "tab\there", "line\nbreak", "a,b;c|d", "NULL", "None", "nan", "e\u0301", "\u00e9", "x", "X",
    "0", "00", "0.0",
]  # fmt: skip


@both
def test_names_are_kept_exactly_except_for_space_around_them(ledger, write):
    rows = [("item", "annotator", "category", "text", "note")]
    rows += [(name, name, name, name, name) for name in HARD]
    how: dict[str, Any] = {"keep": ["note"], "accept": ["missing_words", "decimal_twins"]}
    result = ledger.import_file(write(rows), "p'; --", **how)
    assert fates(result) == {"inserted": len(HARD)}
    assert standing(ledger, "p'; --") == sorted((name, name, name) for name in HARD)
    assert fates(ledger.import_file(write(rows), "p'; --")) == {"unchanged": len(HARD)}
    assert ledger.database.check() == []
    ledger.import_file(write(HEADER + "i,a,x\n i , A,X\nI,a,x \n"), "p")
    assert stands(ledger) == "I a x; i A X; i a x"


def test_control_characters_in_a_message_cannot_act_on_a_terminal(sqlite_ledger, write):
    file = write("item,annotator,category\x1b]0;evil\x07\n i,A,x")
    message = refuse(sqlite_ledger, file, r"\x1b]0;evil\x07", columns=["category=none"])
    assert not [mark for mark in message if mark < " " and mark != "\n"]


def test_rejections_of_truths(ledger, write):
    file = write("item,annotator,category,gold\n i,A,x,z\n i,B,x,z\n j,A,x,y")
    options = QuestionOptions(categories=("x", "y"))
    result = ledger.import_file(file, "q", options=options, skip_invalid=True)
    assert fates(result)["rejected"] >= 1
    assert result.rejections[0].line == 2
    assert re.match("the gold: 'z' is none of", result.rejections[0].reason)


def test_a_rejection_names_the_column_that_is_wrong(sqlite_ledger, write):
    long = write("item,coder,category,when\n1,ann,x,soon\n,ann,x,\n1,bo,x,,\n1,,x,\n")
    done = sqlite_ledger.import_file(long, "p", columns=["labeled_at=when"], preview=True)
    assert [rejection.column for rejection in done.rejections] == [None, "when", "item", "coder"]
    sqlite_ledger.projects.create("q", categories=["x"])
    wide = write("item,ann,bo\n1,x,x\n2,x,z\n")
    (rejection,) = sqlite_ledger.import_file(wide, "q", wide=True, preview=True).rejections
    assert (rejection.line, rejection.column) == (3, "bo")


OBJECTS = ['{"choices":["Speed","Price"]}', '[{"rating":5}]', "{}", '[{"a":5}]', "['a' 'b']"]
LISTS = ['["a","b"]', "['a', 'b']", "[]"]


@pytest.mark.parametrize(("answers", "cells"), [("several", OBJECTS), ("one", OBJECTS + LISTS)])
def test_a_list_or_an_object_is_not_a_category_unless_declared(
    sqlite_ledger, write, cells, answers
):
    rows = [(n, "A", cell) for n, cell in enumerate(cells)]
    file = write([HEADER.strip().split(","), ("i", "A", "x"), *rows])
    options = QuestionOptions(answers=answers)
    with pytest.raises(Refused, match=r"line 3: the category .* is a list or an object"):
        sqlite_ledger.import_file(file, "p", options=options)
    assert stored(sqlite_ledger) == {}
    rejected = sqlite_ledger.import_file(file, "p", options=options, skip_invalid=True).rejections
    for cell, rejection in zip(cells, rejected, strict=True):
        assert "is a list or an object" in rejection.reason, cell
    declared = QuestionOptions(answers=answers, categories=("x", *cells))
    result = sqlite_ledger.import_file(file, "declared", options=declared)
    assert fates(result) == {"inserted": len(cells) + 1}
    texts = ["[x]", "{", "[1", "[" * 400, "(1, 2)", "[sic]", "{a}"]
    rows = [(n, "A", cell) for n, cell in enumerate(texts)]
    sqlite_ledger.import_file(write([HEADER.strip().split(","), *rows]), "texts")
    assert [cell for _, _, cell in standing(sqlite_ledger, "texts")] == texts


def test_an_ordinal_scale_needs_an_order(ledger, write):
    file = write(HEADER + "i,A,low\n i,B,high")
    refuse(ledger, file, "need an order, and 'low' is neither a number",
           "with the import: --categories low,middle,high", options=ORDINAL)  # fmt: skip
    two = write("item,annotator,a,b\ni,A,high,2\ni,B,low,1")
    refuse(ledger, two, "ordinal 'a' need an order", "--question 'a=COLUMN:low<middle<high'",
           questions=["a=a:ordinal", "b=b:ordinal"])  # fmt: skip
    declared = QuestionOptions(scale="ordinal", categories=("low", "high"))
    assert fates(ledger.import_file(file, "p", options=declared)) == {"inserted": 2}
    ledger.projects.create("q", scale="ordinal")
    refuse(ledger, file, "before: tracker project set q --categories", project="q")
    numbers = write(HEADER + "i,A,1\nj,A,abc\nk,A,2\nl,A,3\n")
    bad = "line 3: 'abc' is not a number, as the other"
    refuse(ledger, numbers, bad, project="numbers", options=ORDINAL)
    result = ledger.import_file(numbers, "numbers", options=ORDINAL, skip_invalid=True)
    assert (result.inserted, result.rejected) == (3, 1)
    refuse(ledger, write(HEADER + "m,A,abc\n"), "line 2: 'abc'", project="numbers")


def test_scales_of_numbers_take_numbers(ledger, write):
    file = write(HEADER + "i,A,1.5\n i,B,many\n j,A,-2e3\n j,B,inf\n k,A,nan")
    for scale, lines in (("interval", [3, 5, 6]), ("ratio", [3, 4, 5, 6])):
        options = QuestionOptions(scale=scale)
        result = ledger.import_file(file, scale, options=options, skip_invalid=True)
        assert [rejection.line for rejection in result.rejections] == lines
        sign = f"'many' is not a number, as a scale of {scale}"
        assert sign in str(result.rejections[0])
