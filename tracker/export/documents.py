"""What is written as a document that another program reads, not as rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Document:
    """A document that is made as it is written.

    Attributes:
        unit: what it holds, such as a task.
        parts: its text, piece by piece.
        left_out: what could not be written, with its number; whole once all parts are read.
        number: how many units were written so far.
    """

    unit: str
    parts: Generator[str, None, None] = field(default_factory=lambda: json_list(()))
    left_out: Counter[str] = field(default_factory=Counter)
    number: int = 0

    def counted(self, found: Iterable[str]) -> Generator[str, None, None]:
        """Yield what the document holds, and count it."""
        for one in found:
            self.number += 1
            yield one


def json_list(values: Iterable[str]) -> Generator[str, None, None]:
    """Yield the text of a list, an encoded value a line."""
    yield from _lines("[", values, "]")


def json_object(members: Iterable[str]) -> Generator[str, None, None]:
    """Yield the text of an object, an encoded member a line."""
    yield from _lines("{", members, "}")


def encoded(value: Any) -> str:
    """Return a value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _lines(start: str, values: Iterable[str], end: str) -> Generator[str, None, None]:
    yield start
    between = "\n"
    for value in values:
        yield between + value
        between = ",\n"
    yield f"\n{end}\n"
