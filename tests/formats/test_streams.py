"""Values of JSON files and rows of delimited text, one at a time, as other parsers read them."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.core.errors import Refused
from tracker.formats.source import STDIN, SourceFile
from tracker.formats.streams import Row, head_columns, head_value, json_records, table_rows

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=5),
    lambda some: (
        st.lists(some, max_size=3) | st.dictionaries(st.text(max_size=3), some, max_size=3)
    ),
    max_leaves=8,
)


class Trickle(io.BytesIO):
    """A stream that gives few bytes at a time."""

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(min(7, size or 7))


def source(content: bytes | str) -> SourceFile:
    stream = Trickle(content) if isinstance(content, bytes) else io.BytesIO(content.encode())
    return SourceFile(STDIN, stream)


def values(content: bytes) -> list[Any]:
    return [record.value for record in json_records(source(content))]


@given(
    st.lists(VALUES, max_size=6), st.sampled_from([None, 2]), st.sampled_from(["utf-8", "utf-16"])
)
def test_a_list_is_read_value_by_value(records, indent, code):
    content = json.dumps(records, indent=indent, ensure_ascii=False).encode(code, "replace")
    whole = json.loads(content.decode(code))
    assert values(content) == whole
    places = [record.place for record in json_records(source(content))]
    assert places == [*range(1, len(whole) + 1)]


@given(st.lists(VALUES.filter(lambda value: not isinstance(value, list)), max_size=6))
def test_lines_are_read_value_by_value(records):
    if records:
        lines = "".join(f"{json.dumps(value)}\n\n" for value in records)
        found = list(json_records(source(lines.encode())))
        assert [record.value for record in found] == records
        assert [record.place for record in found] == [*range(1, 2 * len(records), 2)]


@given(st.lists(VALUES, min_size=1, max_size=6), st.data())
def test_a_file_that_is_cut_off_is_refused(records, data):
    content = json.dumps(records).encode()
    cut = data.draw(st.integers(1, len(content) - 1))
    with pytest.raises(Refused, match=r"line 1.*(cut off|no JSON)"):
        values(content[:cut])


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=5)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=5), st.sampled_from(",;\t"))
def test_rows_are_read_as_they_were_written(rows, delimiter):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("a", "b", "c"), *rows])
    found = list(table_rows(source(text.getvalue())))
    assert [tuple(row.cells.values()) for row in found] == rows
    lines = text.getvalue().split("\n")
    assert all(lines[row.line - 1].startswith('"') for row in found)
    assert head_columns(source(text.getvalue())) == ["a", "b", "c"]


def test_blank_lines_are_passed_over_and_numbers_that_are_none_missing():
    assert list(table_rows(source("a,b\n\n1,2\n\n"))) == [Row(3, {"a": "1", "b": "2"})]
    assert values(b'[{"a": NaN}, Infinity]') == [{"a": None}, None]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"[1 2]", "'2' is between two values"),
        (b"[1]\n[2]", "line 2: there is something after the end"),
        (b'[1,\n{"a": tru}]', "line 2, value 2 of the list: no JSON"),
        (b"[" + b"[" * 100_000, "nested too deeply"),
        (b"[1" + b"0" * 5000 + b"]", "line 1, value 1 of the list: a number has too many digits"),
        (b'{"a": 1}\n{"a"', "line 2: the value does not end"),
        (b'["\xff"]', "the byte 0xff is not UTF-8"),
        ("a,b\n1\n", "line 2: 1 cells where the header has 2"),
        ('a,b\n1,2\n"x\n', "line 3: a quote is opened that never closes"),
        ("", "is empty"),
        ('a,"b" c\n1,2\n', "line 1: a quoted cell goes on after"),
        ('a,"b', "line 1: a quote is opened"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_damaged_files_are_refused_with_the_place(content, reason):
    with pytest.raises(Refused, match=reason):
        values(content) if isinstance(content, bytes) else list(table_rows(source(content)))


@pytest.mark.parametrize(
    ("content", "first"),
    [
        (b'[{"a": 1, "b": [2]}, {"c"', {"a": 1, "b": [2]}),
        (b'\xef\xbb\xbf  {"a": 1}\n{"b": 2}', {"a": 1}),
        (b'[{"a": 1, "b": {"c', {"a": 1, "b": None}),
        (b"item,annotator\n1,2", None),
        (b"[", None),
        (b'{"a": 1 2: 3}', {"a": 1}),
        (b"{1: 2}", None),
    ],
)
def test_the_head_of_a_file_has_its_first_value(content, first):
    assert head_value(SourceFile(STDIN, io.BytesIO(content))) == first


@pytest.mark.parametrize("text", ["[1, 2]", "", "word", "a\0b,c"])
def test_files_other_than_tables_have_at_most_two_columns(text):
    assert len(head_columns(source(text))) <= 2
