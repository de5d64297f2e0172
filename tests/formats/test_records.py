"""Values of JSON files, one at a time: the same as those of a parser that reads all at once."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.core.errors import Refused
from tracker.formats.source import STDIN, SourceFile
from tracker.formats.streams import head_value, json_records

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


def source(content: bytes) -> SourceFile:
    return SourceFile(STDIN, Trickle(content))


def values(content: bytes) -> list[Any]:
    return [record.value for record in json_records(source(content))]


@given(
    st.lists(VALUES, max_size=6), st.sampled_from([None, 2]), st.sampled_from(["utf-8", "utf-16"])
)
def test_a_list_is_read_value_by_value(given: list[Any], indent: int | None, encoding: str) -> None:
    text = json.dumps(given, indent=indent, ensure_ascii=False).encode(encoding, "replace")
    whole = json.loads(text.decode(encoding))
    assert values(text) == whole
    assert [record.place for record in json_records(source(text))] == [*range(1, len(whole) + 1)]


@given(st.lists(VALUES.filter(lambda value: not isinstance(value, list)), max_size=6))
def test_lines_are_read_value_by_value(given: list[Any]) -> None:
    text = "".join(json.dumps(value) + "\n\n" for value in given).encode()
    if text:
        found = list(json_records(source(text)))
        assert [record.value for record in found] == given
        assert [record.place for record in found] == [*range(1, 2 * len(given), 2)]


@given(st.lists(VALUES, min_size=1, max_size=6), st.data())
def test_a_file_that_is_cut_off_is_refused(given: list[Any], data: st.DataObject) -> None:
    text = json.dumps(given).encode()
    cut = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(Refused, match=r"line 1.*(cut off|no JSON)"):
        values(text[:cut])


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
    ],
)
def test_what_is_no_json_is_refused_with_its_place(content: bytes, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        values(content)


def test_numbers_that_are_none_are_missing() -> None:
    assert values(b'[{"a": NaN}, Infinity]') == [{"a": None}, None]


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
def test_the_head_of_a_file_has_its_first_value(content: bytes, first: Any) -> None:
    assert head_value(SourceFile(STDIN, io.BytesIO(content))) == first
