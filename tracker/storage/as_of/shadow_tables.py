"""Temporary tables that hide the stored tables of the same names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from sqlalchemy import Column, Connection, Integer, MetaData, Select, Table, insert, select

from tracker.storage import backends
from tracker.storage.as_of.annotators import (
    Merge,
    annotators_as_of,
    flags_as_of,
    merge_stored_labels,
    merges_as_of,
    split_stored_labels,
)
from tracker.storage.as_of.facts import LABELS, facts_as_of, labels_as_of
from tracker.storage.as_of.moment import NOW, Moment


@contextmanager
def as_it_was(connection: Connection, project_id: int, moment: Moment) -> Iterator[None]:
    """Make statements on the project's labels, annotators, imports and flags read a past state.

    Other projects' rows are not to be seen inside, and nothing may be written to these tables.
    """
    if moment == NOW:
        yield
        return
    rows = labels_as_of(connection, project_id, moment)
    if moment.through is not None:
        rows |= annotators_as_of(connection, project_id, moment.through)
        rows |= facts_as_of(connection, project_id, moment.through)
    if moment.known_at is not None:
        rows |= flags_as_of(project_id, moment.known_at)
    with _hidden(connection, rows, *_merges(connection, project_id, moment)):
        yield


def _merges(
    connection: Connection, project_id: int, moment: Moment
) -> tuple[list[Merge], list[Merge]]:
    """Return the merges of categories to end, and to make again, in copies of the labels."""
    if moment.through is None:
        return [], []
    return merges_as_of(connection, project_id, moment.through)


@contextmanager
def shadow_item_ids(connection: Connection, items: Iterable[int]) -> Iterator[Select[Any]]:
    """Yield a statement for the ids of these items, for `shadow_tables_of_items`."""
    wanted = _wanted_items(backends.backend_of(connection).temporary_schema)
    wanted.create(connection)
    backends.backend_of(connection).bulk_insert(connection, wanted, {"item_id": list(items)})
    backends.backend_of(connection).refresh_statistics(connection, wanted)
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

    With ``past`` those on its past labels, too.
    """
    rows = labels_as_of(connection, project_id, moment, items)
    merges = _merges(connection, project_id, moment)
    with _hidden(connection, rows if past else {LABELS: rows[LABELS]}, *merges):
        yield


# One table each for all connections: what is made of the same tables is compiled once.


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
def _hidden(
    connection: Connection,
    rows: Mapping[Table, Sequence[Select[Any]]],
    ended: Sequence[Merge] = (),
    made: Sequence[Merge] = (),
) -> Iterator[None]:
    """Hide stored tables behind these rows; an aborted transaction shows them again."""
    schema = backends.backend_of(connection).temporary_schema
    prepared = connection.dialect.identifier_preparer
    copies = []
    labels: list[Table] = []
    for table, statements in rows.items():
        copy = _copy_of(table, schema)
        copy.create(connection)
        for statement in statements:
            names = [column.name for column in table.columns]
            connection.execute(insert(copy).from_select(names, statement))
        backends.backend_of(connection).refresh_statistics(connection, copy)
        if "category_id" in table.c and "given_as" in table.c:
            labels.append(copy)
        copies.append((copy, prepared.quote(table.name)))
    for merge in ended:
        split_stored_labels(connection, merge, labels)
    for merge in made:
        merge_stored_labels(connection, merge, labels)
    # No table is hidden before all copies are filled: they are read from each other.
    for copy, name in copies:
        connection.exec_driver_sql(f"ALTER TABLE {prepared.format_table(copy)} RENAME TO {name}")
    yield
    for _, name in copies:
        connection.exec_driver_sql(f"DROP TABLE {schema}.{name}")
