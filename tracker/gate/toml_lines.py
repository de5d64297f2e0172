"""On which line of a TOML file each key stands, which the parser does not tell."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Place:
    """Where a table begins, and where its own keys stand; lines are counted from 1."""

    line: int
    keys: dict[str, int] = field(default_factory=dict)

    def of(self, key: str | None) -> int:
        """The line of a key, or of the table where the key is not written in it."""
        return self.keys.get(key or "", self.line)


def places(text: str, name: str) -> tuple[Place, list[Place]]:
    """Where the keys of a file stand that is known to be TOML.

    A header or a key with its value is TOML by itself, and is whole as soon as it can be parsed:
    so a header inside a text of several lines is not taken for one.

    Returns:
        The top of the file, whose keys are also the names of its tables, and each ``[[name]]``.
    """
    top, tables = Place(1), list[Place]()
    current, start, statement = top, 1, ""
    for number, line in enumerate(text.split("\n"), start=1):
        statement += f"{line}\n"
        try:
            told = tomllib.loads(statement)
        except (ValueError, RecursionError):
            continue  # it goes on in the next line
        if statement.lstrip().startswith("["):
            current = Place(start)
            top.keys.setdefault(next(iter(told)), start)
            if told.get(name) == [{}]:
                tables.append(current)
        else:
            for key in told:
                current.keys.setdefault(key, start)
        start, statement = number + 1, ""
    return top, tables
