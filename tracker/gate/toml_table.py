"""One table of a configuration, its values taken out by type, or refused with their line."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from tracker.core.errors import Refused
from tracker.projects.lookup import near_names


def refused_toml_table(
    source: str, place: Place, message: str, mend: str | None = None, *, key: str | None = None
) -> Refused:
    """The error that says what is wrong with a table, and on which line."""
    return Refused(f"{source}:{place.of(key)}: {message}", mend)


@dataclass(frozen=True)
class Table:
    """The keys of one table; its methods raise Refused where a value is not what is asked for."""

    source: str
    told: Mapping[str, Any]
    place: Place

    def refused(self, message: str, mend: str | None = None, *, key: str | None = None) -> Refused:
        """The error about this table, or one of its keys."""
        return refused_toml_table(self.source, self.place, message, mend, key=key)

    def text(self, key: str) -> str | None:
        """A text that is not blank, less surrounding space; None where the key is not there."""
        value = self.told.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self.refused(f"{key} is not a text", f'write it in quotes: "{value}"', key=key)
        if not value.strip():
            raise self.refused(f"{key} is empty", "name something, or leave it out", key=key)
        return value.strip()

    def word(self, key: str, known: Collection[str], what: str) -> str | None:
        """One of the words that are ``known``; None where the key is not there."""
        word = self.text(key)
        if word is not None:
            self.check_known(word, known, what, key)
        return word

    def check_known(self, word: str, known: Collection[str], what: str, key: str) -> None:
        """Accept a word that is known."""
        if word not in known:
            mend = near_names(word, known) or f"one of: {', '.join(known)}"
            raise self.refused(f"there is no {what} {word!r}", mend, key=key)

    def number(self, key: str, low: float | None, high: float, *, open_: bool = False) -> float:
        """A number from ``low`` (None: any) to ``high``; ``open_``: neither of the two."""
        value = self.told[key]
        mend = f"give a number of at most {high:g}"
        if low is not None:
            words = ("between", "and") if open_ else ("from", "to")
            mend = f"give a number {words[0]} {low:g} {words[1]} {high:g}"
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refused(f"{key} is {value!r}, not a number", mend, key=key)
        least = -math.inf if low is None else low
        within = least < value < high if open_ else least <= value <= high
        if not within or math.isinf(value):
            raise self.refused(f"{key} is {value}", mend, key=key)
        return float(value)

    def whole(self, key: str) -> int:
        """A whole number above 0."""
        value = self.told[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self.refused(f"{key} is {value!r}", "give a whole number from 1", key=key)
        return value


@dataclass(frozen=True)
class Place:
    """Where a table begins, and where its own keys stand; lines are counted from 1."""

    line: int
    keys: dict[str, int] = field(default_factory=dict)

    def of(self, key: str | None) -> int:
        """The line of a key, or of the table where the key is not written in it."""
        return self.keys.get(key or "", self.line)


def toml_key_places(text: str, name: str) -> tuple[Place, list[Place]]:
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
