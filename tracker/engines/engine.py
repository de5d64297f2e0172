"""What counts in the ledger's stead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol, TypeAlias

from sqlalchemy import Connection, Select
from sqlalchemy.sql import visitors
from sqlalchemy.sql.selectable import Alias

from tracker.core.tallies import IntArray
from tracker.storage.schema import Label
from tracker.storage.schema.labels import QuestionKey

Columns: TypeAlias = "list[IntArray | list[Any]]"
"""The columns of rows: arrays of whole numbers, or lists of anything else."""


def rows_of(columns: Iterable[IntArray | list[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of columns, in Python's own numbers."""
    return zip(*(c if isinstance(c, list) else c.tolist() for c in columns), strict=True)


class Asked(NamedTuple):
    """What is to be counted.

    Attributes:
        statement: as it would be sent to the ledger's database.
        question: whose answers it counts.
        items: the highest number of an item.
        heavy: whether it joins answers with each other, or with what they add up to.
    """

    statement: Select[Any]
    question: QuestionKey
    items: int
    heavy: bool


class Engine(Protocol):
    """A database that counts what a transaction of the ledger sees."""

    name: str

    def columns(self, connection: Connection, asked: Asked) -> Columns | None:
        """Return the columns of a statement, in any order of the rows.

        None if the ledger's own database is to count it. The connection is to the ledger, in the
        transaction whose state is counted.
        """
        ...


def is_heavy(statement: Select[Any]) -> bool:
    """Return whether a statement joins answers with each other, or with what they add up to."""
    parts = visitors.iterate(statement)
    return len({id(part) for part in parts if isinstance(part, Select) and _reads(part)}) > 1


def _reads(statement: Select[Any]) -> bool:
    sources = statement.get_final_froms()
    return Label.__table__ in sources and not any(map(is_lower_pass, sources))


def is_lower_pass(part: Any) -> bool:
    """Return whether a part of a statement stands for answers on passes before another's."""
    return isinstance(part, Alias) and part.name == "lower_pass"
