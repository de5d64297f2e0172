"""What the database says of its tables and views to people who look at them there."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, inspect

from tracker.storage.schema import Base
from tracker.storage.views import VIEWS

QUOTE = "'"


def write_comments(connection: Connection) -> None:
    """Store the comments of the tables and views that are there, if the database can."""
    if not connection.dialect.supports_comments:
        return
    quote = connection.dialect.identifier_preparer.quote
    inspector = inspect(connection)
    there = {*inspector.get_table_names(), *inspector.get_view_names()}
    written = [
        f"COMMENT ON {kind} {'.'.join(map(quote, names))} IS '{text.replace(QUOTE, 2 * QUOTE)}'"
        for kind, names, text in _comments()
        if names[0] in there
    ]
    connection.exec_driver_sql("; ".join(written))


def _comments() -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield each comment after the kind and the name of what it describes."""
    for table in Base.metadata.sorted_tables:
        yield "TABLE", (table.name,), str(table.comment)
        for column in table.columns:
            if column.comment is not None:
                yield "COLUMN", (table.name, column.name), column.comment
    for view, described in VIEWS.items():
        yield "VIEW", (view,), described.comment
        for name, text in described.columns.items():
            yield "COLUMN", (view, name), text
