"""What counts in the ledger's stead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from sqlalchemy import Connection, Over, Select
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


@dataclass(frozen=True)
class Asked:
    """A statement as it would be sent to the ledger's database, and what it counts.

    Attributes:
        items: the highest number of an item.
    """

    statement: Select[Any]
    question: QuestionKey
    items: int

    @cached_property
    def is_heavy(self) -> bool:
        """Whether it joins answers with each other or puts them in order; slow to find out."""
        parts = {id(part): part for part in visitors.iterate(self.statement)}
        if any(isinstance(part, Over) and part.order_by is not None for part in parts.values()):
            return True
        sources = [part.get_final_froms() for part in parts.values() if isinstance(part, Select)]
        of_labels = [each for each in sources if Label.__table__ in each]
        return sum(not any(map(is_lower_pass, each)) for each in of_labels) > 1


class Engine(Protocol):
    """A database that counts what a transaction of the ledger sees."""

    name: str

    def columns(self, connection: Connection, asked: Asked) -> Columns | None:
        """Return the columns of a statement, in any order of the rows.

        None if the ledger's own database is to count it. The connection is to the ledger.
        """
        ...


def is_lower_pass(part: Any) -> bool:
    """Return whether a part of a statement stands for answers on passes before another's."""
    return isinstance(part, Alias) and part.name == "lower_pass"
