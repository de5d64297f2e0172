"""The consensus item by item, with what is known of the item."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Connection

from tracker.export.consensus import consensus_columns, consensus_rows
from tracker.export.items import item_columns, rows_with_items
from tracker.projects.question import QuestionInfo
from tracker.queries import AnswerFilter


class ConsensusItem(NamedTuple):
    """An item, the rows of its consensus by column, and its text, length and attributes."""

    name: str
    rows: Sequence[dict[str, Any]]
    known: dict[str, Any]

    @property
    def text(self) -> str | None:
        """The item's text, if it is known."""
        told: str | None = self.known.get("text")
        return told


def consensus_by_item(
    connection: Connection, question: QuestionInfo, method: str, choice: AnswerFilter
) -> Generator[ConsensusItem, None, None]:
    """Yield each item that has an answer, in the order of the items."""
    columns = consensus_columns([question])
    known = item_columns(connection, question.project)
    found = consensus_rows(connection, [question], method, choice)
    with closing(rows_with_items(connection, question.project, found, known)) as rows:
        for name, some in groupby(rows, lambda row: row[0]):
            group = list(some)
            yield ConsensusItem(
                name,
                [dict(zip(columns, row, strict=False)) for row in group],
                dict(zip(known, group[0][len(columns) :], strict=True)),
            )
