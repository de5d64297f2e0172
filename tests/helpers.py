"""What many tests ask of a ledger: what it stores, what stands, what a call cost."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, event, func, select

from tracker.formats.reader import ReadOptions
from tracker.imports.loader import ImportResult
from tracker.imports.undo import undo_import
from tracker.ledger import Ledger
from tracker.projects.projects import find_project
from tracker.projects.questions import QuestionInfo, QuestionOptions, find_question
from tracker.storage.schema import Base

__all__ = [
    "AS_THEY_ARE",
    "ONE",
    "SEVERAL",
    "SPANS",
    "Counted",
    "Write",
    "count_rows",
    "count_statements",
    "csv_text",
    "fates",
    "give",
    "question_of",
    "standing",
    "stored",
    "undo",
    "write_file",
]

Write = Callable[..., Path]
"""The fixture `write`, which makes a file to import."""

ONE = QuestionOptions(answers="one")
SEVERAL = QuestionOptions(answers="several")
SPANS = QuestionOptions(answers="spans")

AS_THEY_ARE = ReadOptions(empty="skipped", accept=("contradictions",))
"""Options of an import for drawn answers: an empty cell is a skip, a later file corrects."""


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as comma-separated text; None is an empty cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def write_file(path: Path, content: object) -> Path:
    """Write text, bytes or rows; text loses the indentation that tests give it."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        lines = [line.strip(" ") for line in content.strip().split("\n")]
        path.write_bytes(("\n".join(lines) + "\n").encode())
    else:
        path.write_bytes(csv_text(content).encode())  # type: ignore[arg-type]
    return path


def give(
    ledger: Ledger, rows: Iterable[Any], project: str = "p", *more: str, **how: Any
) -> ImportResult:
    """Import answers: rows of item, annotator, category and further columns."""
    import pandas as pd

    frame = pd.DataFrame([*rows], columns=["item", "annotator", "category", *more])
    return ledger.import_frame(frame, project, **how)


def fates(result: ImportResult) -> dict[str, int]:
    """The fates that rows had, those that none had left out; they always add up."""
    told = result.to_dict()
    counts = {
        fate: told[fate] for fate in ("inserted", "changed", "unchanged", "older", "rejected")
    }
    assert sum(counts.values()) == told["rows"]
    assert min(counts.values()) >= 0
    return {fate: number for fate, number in counts.items() if number}


def standing(ledger: Ledger, project: str = "p", *columns: str) -> list[tuple[Any, ...]]:
    """The labels that stand, sorted: item, annotator and category, or the columns asked for."""
    with ledger.labels(project) as (names, rows):
        places = [names.index(one) for one in columns or ("item", "annotator", "category")]
        chosen = [tuple(row[place] for place in places) for row in rows]
    return sorted(chosen, key=lambda row: tuple((cell is not None, str(cell)) for cell in row))


def question_of(connection: Connection, project: str = "p") -> QuestionInfo:
    return find_question(connection, find_project(connection, project))


def undo(ledger: Ledger, number: int | None) -> None:
    assert number is not None
    with ledger.database.write() as connection:
        undo_import(connection, number)


def stored(ledger: Ledger) -> dict[str, int]:
    """How many rows each table has, empty tables left out, and the one row of the key."""
    with ledger.database.read() as connection:
        counts = {
            name: connection.scalar(select(func.count()).select_from(table)) or 0
            for name, table in Base.metadata.tables.items()
            if name != "pseudonym_keys"
        }
    return {name: number for name, number in counts.items() if number}


class Counted:
    """How many there were in a block; complete once the block has ended."""

    number = 0


@contextmanager
def count_statements(engine: Engine) -> Iterator[Counted]:
    """Count the statements sent in a block; one with many sets of parameters is one."""
    counted = Counted()

    def add(*_: Any) -> None:
        counted.number += 1

    event.listen(engine, "before_cursor_execute", add)
    try:
        yield counted
    finally:
        event.remove(engine, "before_cursor_execute", add)


@contextmanager
def count_rows(engine: Engine) -> Iterator[Counted]:
    """Count the rows that reach Python in a block, on connections made in it."""
    counted = Counted()

    def sqlite_row(_cursor: Any, row: Any) -> Any:
        counted.number += 1
        return row

    def postgres_row(_cursor: Any) -> Any:
        def make(values: Any) -> Any:
            counted.number += 1
            return tuple(values)

        return make

    def prepare(connection: Any, _record: Any) -> None:
        is_sqlite = engine.dialect.name == "sqlite"
        connection.row_factory = sqlite_row if is_sqlite else postgres_row

    engine.dispose()  # no connection of before
    event.listen(engine, "connect", prepare)
    try:
        yield counted
    finally:
        event.remove(engine, "connect", prepare)
        engine.dispose()
