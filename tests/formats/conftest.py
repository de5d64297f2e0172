"""Fixtures of the readers' tests: a file, what its reader finds, and why it refuses."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.formats.reading import Found, found_in, write_json_lines, write_zip
from tracker.core.errors import Refused


@pytest.fixture
def save(tmp_path):
    """``save(content, name="x…")``: a file of a text, bytes, JSON lines (list) or array (tuple).

    A dict of texts by name is a zip file.
    """
    numbers = count()

    def saved(content: Any, name: str | None = None, *, again: bool = True) -> Path:
        suffix = {list: ".jsonl", tuple: ".json", dict: ".zip"}.get(type(content), ".csv")
        path = tmp_path / (name or f"x{(again and next(numbers)) or ''}{suffix}")
        match content:
            case Path():
                return content
            case dict():
                return write_zip(path, content)
            case list():
                return write_json_lines(path, content)
            case bytes():
                path.write_bytes(content)
            case _:
                text = content if isinstance(content, str) else json.dumps(content)
                path.write_bytes(text.encode())
        return path

    return saved


@pytest.fixture
def read(save):
    """``read(content, *pairs, name=None, **options)``: what a reader finds in such a file."""

    def found(content: Any, *pairs: str, name: str | None = None, **options: Any) -> Found:
        return found_in(save(content, name, again=False), *pairs, **options)

    return found


@pytest.fixture
def refuse(read):
    """``refuse(content, match, *pairs, **options)``: the text of the refusal, which matches."""

    def refused(content: Any, match: str, *pairs: str, **options: Any) -> str:
        with pytest.raises(Refused, match=match) as caught:
            read(content, *pairs, **options)
        return str(caught.value)

    return refused
