"""Rows of delimited text, as a standard parser reads them, with their lines."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.core.errors import Refused
from tracker.formats.source import STDIN, SourceFile
from tracker.formats.streams import Row, head_columns, table_rows

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=5)


def source(text: str) -> SourceFile:
    return SourceFile(STDIN, io.BytesIO(text.encode()))


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=5), st.sampled_from(",;\t"))
def test_rows_are_those_that_were_written(rows: list[tuple[str, ...]], delimiter: str) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("a", "b", "c"), *rows])
    found = list(table_rows(source(text.getvalue())))
    assert [tuple(row.cells.values()) for row in found] == rows
    lines = text.getvalue().split("\n")
    assert all(lines[row.line - 1].startswith('"') for row in found)
    assert head_columns(source(text.getvalue())) == ["a", "b", "c"]


def test_blank_lines_are_passed_over() -> None:
    assert list(table_rows(source("a,b\n\n1,2\n\n"))) == [Row(3, {"a": "1", "b": "2"})]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b\n1\n", "line 2: 1 cells where the header has 2"),
        ('a,b\n1,2\n"x\n', "line 3: a quote is opened that never closes"),
        ("", "is empty"),
        ('a,"b" c\n1,2\n', "line 1: a quoted cell goes on after"),
        ('a,"b', "line 1: a quote is opened"),
    ],
)
def test_what_is_no_table_is_refused(text: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        list(table_rows(source(text)))


@pytest.mark.parametrize("text", ["[1, 2]", "", "word", "a\0b,c"])
def test_other_files_have_at_most_one_column(text: str) -> None:
    assert len(head_columns(source(text))) <= 2
