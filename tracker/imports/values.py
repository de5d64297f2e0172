"""Categories under other names in files: ``OLD=NEW`` by the user, or a file of such pairs."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from tracker.core.errors import InvalidOption, Refused
from tracker.projects.names import near_names

Value = tuple[str | None, str, str]
"""The question (None: all), what files have, and what it stands for."""


class Values:
    def __init__(self, of_file: Sequence[Value] = (), of_user: Sequence[Value] = ()) -> None:
        """What the user says goes before what a file says."""
        self._all = (*of_file, *of_user)
        self._of_user = of_user

    def of(self, question: str) -> Mapping[str, str]:
        """Return what cells of a question stand for; what is said of all questions yields."""
        general = {old: new for whose, old, new in self._all if whose is None}
        return general | {old: new for whose, old, new in self._all if whose == question}

    def unmet(self, met: Mapping[str, Collection[str]]) -> Iterator[str]:
        """Yield a sentence for each value of the user that none of the cells, by question, had."""
        for whose, old, _ in self._of_user:
            if not any(old in cells for name, cells in met.items() if whose in {None, name}):
                question = old.partition(":")[0] if whose is None and ":" in old else ""
                near = near_names(question, met) if question else None
                yield f"no cell{'' if whose is None else f' of {whose}'} is {old!r}" + (
                    f"; if {question!r} is a question: {near}" if near else ""
                )


def values_for_import(
    pairs: Sequence[str], file: str | Path | None, questions: Collection[str]
) -> Values:
    """Return what ``OLD=NEW`` or ``QUESTION:OLD=NEW``, and the rows of a file, say.

    ``questions`` are those of the project. Raises InvalidOption, and Refused for a file that
    cannot be read or names another question.
    """
    of_file = [] if file is None else _of_file(Path(file), questions)
    of_user = [_parsed(pair, questions) for pair in pairs]
    first: dict[tuple[str | None, str], str] = {}
    for whose, old, new in of_user:
        before = first.setdefault((whose, old), new)
        if before != new:
            raise InvalidOption(
                f"--value: {old!r} stands for {before!r} and for {new!r}", "leave one out"
            )
    return Values(of_file, of_user)


def _parsed(pair: str, questions: Collection[str]) -> Value:
    old, equals, new = pair.partition("=")
    question, colon, rest = old.partition(":")
    whose = question.strip() if colon and question.strip() in questions else None
    old = (rest if whose else old).strip()
    if not equals or not old:
        raise InvalidOption(f"--value {pair!r} is not OLD=NEW", "such as: '5 stars=5'")
    return whose, old, new.strip()


def _of_file(path: Path, questions: Collection[str]) -> list[Value]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, restval=""))
    except FileNotFoundError:
        raise Refused(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Refused(f"{path} cannot be read: {error}") from None
    if not rows or not {"old", "new"} <= rows[0].keys() <= {"old", "new", "question"}:
        has = f"; it has {', '.join(map(str, rows[0]))}" if rows else ""
        raise Refused(
            f"{path} is no file of values",
            f"it needs the columns old and new, and may have question{has}",
        )
    values = [
        ((row.get("question") or "").strip() or None, row["old"].strip(), row["new"].strip())
        for row in rows
    ]
    first: dict[tuple[str | None, str], tuple[int, str]] = {}
    for line, (whose, old, new) in enumerate(values, 2):
        before, other = first.setdefault((whose, old), (line, new))
        if other != new:
            raise Refused(
                f"{path}, line {line}: {old!r} stands for {new!r} here, "
                f"and for {other!r} on line {before}",
                "leave one out",
            )
        if not old:
            raise Refused(f"{path}, line {line}: the old value is empty")
        if whose is not None and whose not in questions:
            raise Refused(
                f"{path}, line {line}: there is no question {whose!r}",
                near_names(whose, questions),
            )
    return values
