"""Annotators, their aliases and findings as they were known; imports not undone yet."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

from sqlalchemy import Connection, Integer, Select, Table, case, null, or_, select
from sqlalchemy import cast as sql_cast

from tracker.storage.facts import KIND
from tracker.storage.schema import (
    KINDS,
    Alias,
    Annotator,
    AnnotatorFact,
    Change,
    FlagChange,
    FlagRow,
    FlagSighting,
    Import,
)

Rows: TypeAlias = dict[Table, list[Select[Any]]]
"""Tables by what they held: the rows of one statement after the other."""

MERGE, SPLIT = "merge annotators", "split annotator"
"""The kinds of changes that give answers to another annotator."""
ERASURE = "erase annotator"
"""The kind of change after which the past before it cannot be told any more."""

_aliases = cast("Table", Alias.__table__)
_annotators = cast("Table", Annotator.__table__)
_facts = cast("Table", AnnotatorFact.__table__)
_imports = cast("Table", Import.__table__)


def owners_then(connection: Connection, project_id: int, through: int | None) -> dict[int, int]:
    """Return the owner of the answers under each alias then: ``{alias id: annotator id}``.

    Nothing where no answers changed hands since, which is the usual case.
    """
    if through is None or not _moved_since(connection, project_id, through):
        return {}
    rows = connection.execute(_aliases_then(project_id, through))
    # Nobody is 0: before the first merge all names were their own, which is not "nothing".
    return {0: 0} | {row.alias_id: row.annotator_id for row in rows}


def _moved_since(connection: Connection, project_id: int, through: int) -> bool:
    moves = select(Change.id).where(
        Change.project_id == project_id, Change.id > through, Change.kind.in_((MERGE, SPLIT))
    )
    return connection.scalar(moves.limit(1)) is not None


def _aliases_then(project_id: int, through: int) -> Select[Any]:
    ended = case((_aliases.c.to_change > through, null()), else_=_aliases.c.to_change)
    # A name that was only added was nobody else's before: it may stand for its owner all along.
    moves = select(Change.id).where(
        Change.project_id == project_id, Change.kind.in_((MERGE, SPLIT))
    )
    return select(
        *(ended.label(c.name) if c.name == "to_change" else c for c in _aliases.columns)
    ).where(
        _aliases.c.project_id == project_id,
        or_(_aliases.c.from_change <= through, _aliases.c.from_change.not_in(moves)),
        or_(_aliases.c.to_change.is_(None), _aliases.c.to_change > through),
    )


def people_then(connection: Connection, project_id: int, through: int) -> Rows:
    """Return annotators with their kinds then, their aliases, and the imports, as known."""
    kinds = _kinds_then(connection, project_id, through)
    kind = case(kinds, value=_annotators.c.id, else_=_annotators.c.kind)
    annotators = select(
        *(kind.label(c.name) if kinds and c.name == "kind" else c for c in _annotators.columns)
    ).where(_annotators.c.project_id == project_id)
    later = _imports.c.undone_by > through
    undone = case((later, sql_cast(null(), Integer)), else_=_imports.c.undone_by)
    imports = select(
        *(undone.label(c.name) if c.name == "undone_by" else c for c in _imports.columns)
    ).where(_imports.c.project_id == project_id, _imports.c.change_id <= through)
    return {
        _annotators: [annotators],
        _aliases: [_aliases_then(project_id, through)],
        _imports: [imports],
    }


def _kinds_then(connection: Connection, project_id: int, through: int) -> dict[int, str]:
    """Return the kinds of annotators that have another now."""
    rows = connection.execute(
        select(_facts.c.annotator_id, _facts.c.value, _facts.c.change_id, _imports.c.undone_by)
        .outerjoin(
            _imports,
            (_imports.c.project_id == _facts.c.project_id)
            & (_imports.c.change_id == _facts.c.change_id),
        )
        .where(_facts.c.project_id == project_id, _facts.c.role == KIND)
        .order_by(_facts.c.change_id)
    ).all()
    human = dict.fromkeys((row.annotator_id for row in rows), KINDS[0])
    now = human | {row.annotator_id: row.value for row in rows if row.undone_by is None}
    then = human | {
        row.annotator_id: row.value
        for row in rows
        if row.change_id <= through and (row.undone_by is None or row.undone_by > through)
    }
    return {number: kind for number, kind in then.items() if kind != now[number]}


def flags_then(project_id: int, known_at: int) -> Rows:
    """Return the recorded findings, their audits and the actions on them, until a moment."""
    tables = ((FlagRow, "found_at"), (FlagSighting, "seen_at"), (FlagChange, "made_at"))
    rows: Rows = {}
    for made, moment in tables:
        table = cast("Table", made.__table__)
        rows[table] = [
            select(table).where(table.c.project_id == project_id, table.c[moment] <= known_at)
        ]
    return rows
