"""Categories under other names in files: ``OLD=NEW`` by the user, or a file of such pairs."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tracker.core.errors import InvalidOption, Refused
from tracker.projects.names import near_names

Value = tuple[str | None, str, str]
"""The question (None: all), what files have, and what it stands for."""


class Values(NamedTuple):
    """What the user says goes before what a file says."""

    of_file: Sequence[Value] = ()
    of_user: Sequence[Value] = ()

    def of(self, question: str) -> Mapping[str, str]:
        """Return what cells of a question stand for; what is said of all questions yields."""
        every = (*self.of_file, *self.of_user)
        return {old: new for name in (None, question) for whose, old, new in every if whose == name}

    def unmet(self, met: Mapping[str, Collection[str]]) -> Iterator[str]:
        """Yield a sentence for each value of the user that none of the cells, by question, had."""
        for whose, old, _ in self.of_user:
            if not any(old in cells for name, cells in met.items() if whose in {None, name}):
                question, colon, _ = old.partition(":")
                near = near_names(question, met) if whose is None and colon and question else None
                advice = f"; if {question!r} is a question: {near}" if near else ""
                yield f"no cell{'' if whose is None else f' of {whose}'} is {old!r}{advice}"


def values_for_import(
    pairs: Sequence[str], file: str | Path | None, questions: Collection[str]
) -> Values:
    """Return what ``OLD=NEW`` or ``QUESTION:OLD=NEW``, and the rows of a file, say.

    ``questions`` are those of the project. Raises InvalidOption, and Refused for a file that
    cannot be read or names another question.
    """
    of_file = [] if file is None else _read_file(Path(file), questions)
    of_user: dict[tuple[str | None, str], str] = {}
    for pair in pairs:
        old, equals, new = (part.strip() for part in pair.partition("="))
        question, colon, rest = (part.strip() for part in old.partition(":"))
        whose = question if colon and question in questions else None
        old = rest if whose else old
        if not equals or not old:
            raise InvalidOption(f"--value {pair!r} is not OLD=NEW", "such as: '5 stars=5'")
        before = of_user.setdefault((whose, old), new)
        if before != new:
            both = f"{old!r} stands for {before!r} and for {new!r}"
            raise InvalidOption(f"--value: {both}", "leave one out")
    return Values(of_file, [(*key, new) for key, new in of_user.items()])


def _read_file(path: Path, questions: Collection[str]) -> list[Value]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, restval=""))
    except FileNotFoundError:
        raise Refused(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Refused(f"{path} cannot be read: {error}") from None
    if not rows or not {"old", "new"} <= rows[0].keys() <= {"old", "new", "question"}:
        has = f"; it has {', '.join(map(str, rows[0]))}" if rows else ""
        mend = f"it needs the columns old and new, and may have question{has}"
        raise Refused(f"{path} is no file of values", mend)
    values: dict[tuple[str | None, str], tuple[int, str]] = {}
    for line, row in enumerate(rows, 2):
        whose, old, new = ((row.get(name) or "").strip() for name in ("question", "old", "new"))
        before, other = values.setdefault((whose or None, old), (line, new))
        place = f"{path}, line {line}"
        if other != new:
            both = f"{old!r} stands for {new!r} here, and for {other!r} on line {before}"
            raise Refused(f"{place}: {both}", "leave one out")
        if not old:
            raise Refused(f"{place}: the old value is empty")
        if whose and whose not in questions:
            raise Refused(f"{place}: there is no question {whose!r}", near_names(whose, questions))
    return [(*key, new) for key, (_, new) in values.items()]
