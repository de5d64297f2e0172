"""Temporary tables that hide the stored tables of the same names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any, Protocol, TypeVar, runtime_checkable

from sqlalchemy import Column, Connection, Integer, MetaData, Select, Table, insert, select

from tracker.core.kept import MOMENT, READ
from tracker.storage import backends
from tracker.storage.as_of.annotators import (
    Rows,
    annotators_as_of,
    flags_as_of,
    imports_as_of,
    merge_stored_labels,
    merges_as_of,
    split_stored_labels,
)
from tracker.storage.as_of.facts import LABELS, facts_as_of, labels_as_of
from tracker.storage.as_of.moment import NOW, Moment
from tracker.storage.kept_tallies import TALLIES
from tracker.storage.schema import PastLabel

_Counted = TypeVar("_Counted")


@runtime_checkable
class LabelsElsewhere(Protocol):
    """A connection to a ledger whose labels are elsewhere, and shown as they were by itself."""

    ledger: Connection

    def check_files(self) -> None: ...

    def showing(self, moment: Moment) -> AbstractContextManager[None]:
        """Show labels of a moment until the block ends; raises Refused if they are gone."""
        ...


def ledger_of(connection: Connection) -> Connection:
    """Return the connection to the ledger's own tables, wherever labels are read."""
    return connection.ledger if isinstance(connection, LabelsElsewhere) else connection


@contextmanager
def as_it_was(connection: Connection, project_id: int, moment: Moment) -> Iterator[None]:
    """Make statements on the project's labels, annotators, imports and flags read a past state.

    Other projects' rows are not to be seen inside, and nothing may be written to these tables.
    """
    if moment == NOW:
        yield
        return
    rows: Rows = {}
    showing: AbstractContextManager[None] = nullcontext()
    if isinstance(connection, LabelsElsewhere):
        showing, connection = connection.showing(moment), ledger_of(connection)
    else:
        rows |= labels_as_of(connection, project_id, moment)
    if moment.through is not None:
        rows |= annotators_as_of(connection, project_id, moment.through)
        rows |= facts_as_of(connection, project_id, moment.through)
    if moment.known_at is not None:
        rows |= flags_as_of(project_id, moment.known_at)
    before = connection.info.get(MOMENT)
    connection.info[MOMENT] = moment
    try:
        with showing, _hidden(connection, project_id, moment, rows):
            yield
    finally:
        connection.info[MOMENT] = before


@contextmanager
def shadow_item_ids(connection: Connection, items: Iterable[int]) -> Iterator[Select[Any]]:
    """Yield a statement for the ids of these items, for `shadow_tables_of_items`."""
    backend = backends.backend_of(connection)
    wanted = _wanted_items(backend.temporary_schema)
    wanted.create(connection)
    backend.bulk_insert(connection, wanted, {"item_id": list(items)})
    backend.refresh_statistics(connection, wanted)
    yield select(wanted.c.item_id)
    wanted.drop(connection)


@contextmanager
def shadow_tables_of_items(
    connection: Connection,
    project_id: int,
    moment: Moment,
    items: Select[Any],
    *,
    past: bool = False,
) -> Iterator[None]:
    """Make statements on the project's standing labels read those of some items, as they were.

    So do those on its imports, and with ``past`` those on its past labels.
    """
    rows = labels_as_of(connection, project_id, moment, items)
    if not past:
        rows = {LABELS: rows[LABELS]}
    if moment.through is not None:
        rows |= imports_as_of(project_id, moment.through)
    with _hidden(connection, project_id, moment, rows):
        yield


def count_before_and_now(
    connection: Connection,
    project_id: int,
    through: int,
    items: Iterable[int],
    count: Callable[[], _Counted],
) -> tuple[_Counted, _Counted]:
    """Return what is counted of some items as they were after a change, and as they are."""
    with shadow_item_ids(connection, items) as wanted:
        with shadow_tables_of_items(connection, project_id, Moment(through=through), wanted):
            before = count()
        with shadow_tables_of_items(connection, project_id, NOW, wanted):
            now = count()
    return before, now


# One table each for all connections, so that a statement is compiled once.


@cache
def _wanted_items(schema: str) -> Table:
    item = Column("item_id", Integer, primary_key=True, autoincrement=False)
    return Table("wanted_items", MetaData(schema=schema), item)


@cache
def _copy_of(table: Table, schema: str) -> Table:
    copy = table.to_metadata(MetaData(), schema=schema, name=f"{table.name}_then")
    copy.constraints.intersection_update({copy.primary_key})
    for described in (copy, *copy.columns):
        described.comment = None  # each would be a statement
    return copy


@contextmanager
def _hidden(connection: Connection, project_id: int, moment: Moment, rows: Rows) -> Iterator[None]:
    """Hide stored tables behind these rows; an aborted transaction shows them again.

    What is counted inside is not kept.
    """
    backend, prepared = backends.backend_of(connection), connection.dialect.identifier_preparer
    copies = {}
    for table, statements in rows.items():
        copy = copies[table] = _copy_of(table, backend.temporary_schema)
        copy.create(connection)
        for statement in statements:
            names = [column.name for column in table.columns]
            connection.execute(insert(copy).from_select(names, statement))
        backend.refresh_statistics(connection, copy)
    if moment.through is not None:
        labels = [copies[table] for table in (LABELS, PastLabel.__table__) if table in copies]
        to_split, to_merge = merges_as_of(connection, project_id, moment.through)
        for merge in to_split:
            split_stored_labels(connection, merge, labels)
        for merge in to_merge:
            merge_stored_labels(connection, merge, labels)
    # No table is hidden before all copies are filled: they are read from each other.
    for table, copy in copies.items():
        connection.exec_driver_sql(
            f"ALTER TABLE {prepared.format_table(copy)} RENAME TO {prepared.quote(table.name)}"
        )
    before = {TALLIES: connection.info.get(TALLIES), READ: connection.info.get(READ)}
    connection.info.update({TALLIES: None, READ: None if before[READ] is None else {}})
    try:
        yield
    finally:
        connection.info.update(before)
    for table in copies:
        name = prepared.quote(table.name)
        connection.exec_driver_sql(f"DROP TABLE {backend.temporary_schema}.{name}")
