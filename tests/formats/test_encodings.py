"""Files that are not UTF-8, and numbers with a comma, as spreadsheets write them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.formats.reading import found_in
from tests.helpers import fates, standing, stored
from tracker.core.errors import InvalidOption, Refused
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

Write = Callable[..., Path]

HEADER = "item;annotator;category\n"
ASCII = HEADER + "".join(f"{n:0400};Ann;x\n" for n in range(3000))  # more than a block


@pytest.mark.parametrize(("start", "line"), [(HEADER, 2), (ASCII, 3002)])
def test_windows_1252_is_detected_and_told(
    sqlite_ledger: Ledger, write: Write, start: str, line: int
) -> None:
    text = start + "j;Zoë – “né”;crème\nk;Zoë – “né”;plain\n"  # noqa: RUF001
    result = sqlite_ledger.import_file(write(text.encode("cp1252")), "p")
    assert ("j", "Zoë – “né”", "crème") in standing(sqlite_ledger)  # noqa: RUF001
    assert result.columns[0]["encoding"] == f"Windows-1252, as line {line} is not UTF-8"
    again = sqlite_ledger.import_file(write(text.encode()), "p")
    assert fates(again) == {"unchanged": result.rows}
    assert "encoding" not in again.columns[0]


@pytest.mark.parametrize("between", ["", ASCII[len(HEADER) :]])
def test_a_file_that_was_utf8_before_is_damaged(
    sqlite_ledger: Ledger, write: Write, between: str
) -> None:
    text = f"{HEADER}i;Zoë;x\n{between}".encode() + "j;Zoë;x\n".encode("cp1252")
    line = text.count(b"\n") + 1 - 1
    with pytest.raises(Refused, match=f"line {line}: the byte 0xeb is not UTF-8") as caught:
        sqlite_ledger.import_file(write(text), "p")
    assert "--encoding NAME" in str(caught.value)
    assert stored(sqlite_ledger) == {}


def test_bytes_that_windows_1252_does_not_have(sqlite_ledger: Ledger, write: Write) -> None:
    with pytest.raises(Refused, match="line 3: the byte 0x81 is not WINDOWS-1252"):
        sqlite_ledger.import_file(write(HEADER.encode() + b"i;\xe9;x\nj;\x81;x\n"), "p")


@pytest.mark.parametrize("encoding", ["cp1251", "latin-1", "utf-16-le", "UTF-16", "utf-8", "cp437"])
def test_an_encoding_that_is_said(write: Write, encoding: str) -> None:
    name = "Аня" if encoding in {"cp1251", "UTF-16", "utf-16-le", "utf-8"} else "Zoë"
    file = write(f"{HEADER}i;{name};x\n".encode(encoding))
    found = found_in(file, encoding=encoding)
    assert found.rows("item", "annotator", "category") == [("i", name, "x")]


def test_an_encoding_that_does_not_fit(sqlite_ledger: Ledger, write: Write) -> None:
    file = write(f"{HEADER}i;A;x\nj;Zoë;x\n".encode("cp1252"))
    with pytest.raises(Refused, match="line 3: the byte 0xeb is not UTF-8"):
        sqlite_ledger.import_file(file, "p", encoding="utf-8")
    with pytest.raises(Refused, match="is not ASCII"):
        sqlite_ledger.import_file(file, "p", encoding="ascii")
    for wrong in ("utf-9", "base64", "a\0b"):
        with pytest.raises(InvalidOption, match="there is no encoding"):
            sqlite_ledger.import_file(file, "p", encoding=wrong)


# -- as spreadsheets of other countries write them -----------------------------------------


def test_a_decimal_comma_in_files_with_semicolons(ledger: Ledger, write: Write) -> None:
    text = "item;annotator;category;seconds;confidence\ni;A;x;1,5;0,75\nj;A;x;2.5;1\n"
    ledger.import_file(write(text.encode()), "p")
    assert standing(ledger, "p", "seconds", "confidence") == [(1.5, 0.75), (2.5, 1.0)]
    quoted = write(b'item,annotator,category,seconds\nk,A,x,"1,5"\n')
    with pytest.raises(Refused, match="the seconds '1,5' are not a number"):
        ledger.import_file(quoted, "p")


def test_categories_with_a_decimal_comma(ledger: Ledger, write: Write) -> None:
    file = write(b"item;annotator;category;gold\n i;A;3,5;4\n j;A;-1,25;3,5\n")
    ledger.import_file(file, "p", options=QuestionOptions(scale="interval"))
    assert [row[2] for row in standing(ledger) if row[1] == "A"] == ["3.5", "-1.25"]
    assert [row[2] for row in standing(ledger) if row[1] == "gold"] == ["4", "3.5"]
    ledger.import_file(file, "q")  # names of a nominal scale are as they are
    assert [row[2] for row in standing(ledger, "q") if row[1] == "A"] == ["3,5", "-1,25"]


@pytest.mark.parametrize("said", ["sep=;", '"sep=;"', "sep=;;;"])
def test_the_line_that_tells_excel_what_is_between_cells(
    sqlite_ledger: Ledger, write: Write, said: str
) -> None:
    text = f"{said}\r\nitem;annotator;category\r\ni;A, B;x\r\n;B;y\r\n"
    with pytest.raises(Refused, match="line 4: the item is empty"):
        sqlite_ledger.import_file(write(text.encode()), "p")
    sqlite_ledger.import_file(write(text.encode()), "p", skip_invalid=True)
    assert standing(sqlite_ledger) == [("i", "A, B", "x")]
