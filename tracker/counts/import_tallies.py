"""The annotator tallies apart by the imported file that brought the answers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    Select,
    Subquery,
    Text,
    and_,
    case,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy import cast as sql_cast

from tracker.core.audit_tallies import MOVED_ROWS, FileTallies, ImportedFile
from tracker.counts.selection import Selection, labels, where_counted, with_answers
from tracker.counts.tallies import count_tallies_of_parts
from tracker.storage.schema import Import, Item, Source

LEAST_ROWS = 20
"""Rows of an import whose answers are told apart from those of others."""
_BLOCKS: Final = 256
"""Blocks of items; of fewer items each is hardly more than one."""

_imports, _sources = Import.__table__, Source.__table__
_items = Item.__table__


def count_file_tallies(
    connection: Connection, selection: Selection, least: int = 2
) -> FileTallies | None:
    """Return the tallies by file, by two statements; None if they are of fewer than ``least``."""
    files = _files(connection, selection)
    if len(files) < least:
        return None
    of_number = max(file.number for file in files).bit_length()
    bits = max(file.change for file in files).bit_length() + of_number
    # The next import seldom needs more, so that its items alone are counted.
    bits = -(-bits // 4) * 4
    file = _file_number(selection, of_number)
    key = (labels.c.item_id, labels.c.annotator_id)
    if not selection.single:
        file = func.max(file)
    statement = select(*key, file.label("part")).where(where_counted(selection))
    answers = with_answers(statement, selection, key).subquery("answers")
    columns, annotators, parts = count_tallies_of_parts(connection, selection, answers, bits)
    by_number = {file.change << of_number | file.number: file for file in files}
    of_owners = tuple(map(by_number.get, parts.tolist()))
    if len({file for file in of_owners if file}) < least:
        return None
    return FileTallies(columns, tuple(annotators.tolist()), of_owners)


def _files(connection: Connection, selection: Selection) -> list[ImportedFile]:
    sources = _imports.join(_sources, _sources.c.import_id == _imports.c.id)
    columns = (_imports.c.id, _imports.c.change_id, _sources.c.number, _sources.c.name)
    statement = _large_imports(selection, *columns).select_from(sources)
    rows = connection.execute(statement.order_by(_imports.c.id, _sources.c.number))
    return [ImportedFile(*row) for row in rows]


def _large_imports(selection: Selection, *columns: ColumnElement[Any]) -> Select[Any]:
    """Return columns of each import of `LEAST_ROWS` rows or more that stands."""
    return select(*columns).where(
        _imports.c.project_id == selection.question.project_id,
        _imports.c.undone_by.is_(None),
        _imports.c.rows >= LEAST_ROWS,
    )


def select_import_numbers(selection: Selection) -> Select[Any]:
    """Return each item with the number of each import of its answers: item_id, value, a text."""
    imports = _large_imports(selection, _imports.c.id, _imports.c.change_id).subquery("large")
    of_change = imports.c.change_id == labels.c.change_id
    return (
        select(labels.c.item_id, sql_cast(imports.c.id, Text).label("value"))
        .select_from(labels.join(imports, of_change))
        .where(where_counted(selection))
        .distinct()
    )


def _file_number(selection: Selection, of_number: int) -> ColumnElement[Any]:
    """Return one number of an answer's change and file; 0 if it is of no larger import."""
    number = sql_cast(labels.c.change_id, BigInteger).bitwise_lshift(literal(of_number, Integer))
    large = _large_imports(selection, _imports.c.change_id)
    combined = number + labels.c.source if of_number else number
    return case((labels.c.change_id.in_(large), combined), else_=sql_cast(literal(0), BigInteger))


def count_shifted_agreement(
    connection: Connection, selection: Selection, chosen: Collection[tuple[int, ImportedFile]]
) -> dict[tuple[int, ImportedFile], NDArray[np.float64]]:
    """Return how often annotators' answers of a file agree with others' if moved by some rows.

    Of each annotator and file they are the pairs of the answer that stands so many rows above an
    item's in the file, and an answer of another to that item, and those that are the same: shape
    (blocks of items, 2, `MOVED_ROWS`). Nothing is known of a file's order, so that in which the
    items were first met is tried, and that of their names. Only of answers of one category each.
    """
    if not chosen or not selection.single:
        return {}
    own, others = _moved(selection, chosen), labels.alias("others")
    of_others = and_(
        others.c.item_id == own.c.item_id,
        others.c.annotator_id != own.c.annotator_id,
        where_counted(selection, others),
    )
    moved = [own.c[name] for name, _, _ in _MOVES]
    same = [func.sum(case((column == others.c.category_id, 1), else_=0)) for column in moved]
    key = (own.c.annotator_id, own.c.change_id, own.c.source, own.c.item_id % _BLOCKS)
    statement = select(*key, *map(func.count, moved), *same).group_by(*key)
    files = {(annotator, file.change, file.number): file for annotator, file in chosen}
    counts = {owner: np.zeros((_BLOCKS, 2, len(_MOVES))) for owner in chosen}
    for row in connection.execute(statement.select_from(own.join(others, of_others))):
        file = files[row[0], row[1], row[2]]
        counts[row[0], file][row[3]] = np.reshape(row[4:], (2, -1))
    return counts


_MET, _NAME = (_items.c.id,), (func.length(_items.c.name), _items.c.name)
_MOVES: Final = tuple(
    (f"moved_{place}", rows, (_MET, _NAME)[place * 2 // len(MOVED_ROWS)])
    for place, rows in enumerate(MOVED_ROWS)
)
"""Each column of moved answers: its name, by how many rows, in which order of the items."""


def _moved(selection: Selection, chosen: Collection[tuple[int, ImportedFile]]) -> Subquery:
    """Return the chosen answers, each with those that stand some rows above it in its file."""
    key = (labels.c.annotator_id, labels.c.change_id, labels.c.source)
    owners = [
        and_(key[0] == annotator, key[1] == file.change, key[2] == file.number)
        for annotator, file in chosen
    ]
    answer = labels.c.category_id
    moved = []
    for name, rows, order in _MOVES:
        above = func.lag(answer, rows) if rows >= 0 else func.lead(answer, -rows)
        moved.append(above.over(partition_by=key, order_by=order).label(name))
    of_item = and_(_items.c.project_id == labels.c.project_id, _items.c.id == labels.c.item_id)
    statement = select(labels.c.item_id, *key, *moved).select_from(labels.join(_items, of_item))
    return statement.where(where_counted(selection), or_(*owners)).subquery("own")
