"""What a program that is read live must be able to tell."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any, Protocol

Progress = Callable[[int, int | None], None]
"""Called with the records read so far, and how many there are, None if unknown."""


@dataclass
class Pulled:
    """What was read of a program.

    Attributes:
        unread: the keys of all its items; how many records on each were not read.
        until: the newest of its updates that was seen before any answer was read; None if none was.
        read: how many records were read with their answers.
    """

    unread: dict[str, int] = field(default_factory=dict)
    until: int | None = None
    read: int = 0

    def write(self, into: IO[str], record: Any) -> None:
        """Write a record that was read as the next of a JSON list."""
        into.write(",\n" if self.read else "[")
        json.dump(record, into)
        self.read += 1

    def end(self, into: IO[str]) -> None:
        """End the list of what was read."""
        into.write("]" if self.read else "[]")


class Remote(Protocol):
    """A project, or its like, of another program.

    Attributes:
        tool: the name of its format, of `READERS`.
        source: its address, without secrets.
        asks_all: whether an answer in it answers all questions that any answer does.
    """

    tool: str
    source: str
    asks_all: bool

    def pull(self, since: int | None, into: IO[str], progress: Progress) -> Pulled:
        """Write the records updated since a moment, or all, as a file of the tool's format.

        Those updated at that very moment are read again. Raises Refused, with one line that says
        why, if the program cannot be read.
        """
        ...
