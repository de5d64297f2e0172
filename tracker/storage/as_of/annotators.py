"""Annotators, their aliases and findings as they were known; imports not undone yet."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    Table,
    and_,
    case,
    delete,
    exists,
    insert,
    literal,
    null,
    or_,
    select,
    update,
)
from sqlalchemy import cast as sql_cast

from tracker.storage.current import KIND
from tracker.storage.schema import (
    KINDS,
    Alias,
    Annotator,
    AnnotatorFact,
    CategoryMerge,
    Change,
    FlagChange,
    FlagRow,
    FlagSighting,
    Import,
    MergedLabel,
)
from tracker.storage.schema.labels import QuestionKey, of_question

Rows: TypeAlias = dict[Table, list[Select[Any]]]
"""Tables by what they held: the rows of one statement after the other."""

MERGE, SPLIT = "merge annotators", "split annotator"
"""The kinds of changes that give answers to another annotator."""
ERASURE = "erase annotator"
"""The kind of change after which the past before it cannot be told any more."""

_aliases = Alias.__table__
_annotators = Annotator.__table__
_facts = AnnotatorFact.__table__
_imports = Import.__table__


def alias_owners_as_of(
    connection: Connection, project_id: int, through: int | None
) -> dict[int, int]:
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


def annotators_as_of(connection: Connection, project_id: int, through: int) -> Rows:
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


def flags_as_of(project_id: int, known_at: int) -> Rows:
    """Return the recorded findings, their audits and the actions on them, until a moment."""
    tables = ((FlagRow, "found_at"), (FlagSighting, "seen_at"), (FlagChange, "made_at"))
    rows: Rows = {}
    for made, moment in tables:
        table = made.__table__
        rows[table] = [
            select(table).where(table.c.project_id == project_id, table.c[moment] <= known_at)
        ]
    return rows


_merges = CategoryMerge.__table__
_merged = MergedLabel.__table__
_RECORD = ("item_id", "given_as", "pass", "change_id", "source", "labeled_at")
_SPAN = ("span_start", "span_end")


class Merge(NamedTuple):
    """A category that counts as another: since which change, and both by number."""

    question: QuestionKey
    id: int
    category: int
    into: int


def merges_as_of_now(connection: Connection, question: QuestionKey) -> list[Merge]:
    """Return the merges of a question's categories that hold now, oldest first."""
    return _found(connection, of_question(_merges, question) & _merges.c.to_change.is_(None))


def merges_as_of(
    connection: Connection, project_id: int, through: int
) -> tuple[list[Merge], list[Merge]]:
    """Return the merges to end, and those to make again, for the labels after a change.

    In order.
    """
    ours, open_now = _merges.c.project_id == project_id, _merges.c.to_change.is_(None)
    later = _found(connection, ours & open_now & (_merges.c.from_change > through))
    ended = and_(ours, _merges.c.from_change <= through, _merges.c.to_change > through)
    return later[::-1], _found(connection, ended)


def _found(connection: Connection, which: ColumnElement[bool]) -> list[Merge]:
    key = (_merges.c.project_id, _merges.c.question_id)
    rows = connection.execute(
        select(*key, _merges.c.from_change, _merges.c.category_id, _merges.c.into_id)
        .where(which)
        .order_by(_merges.c.from_change)
    )
    return [Merge(QuestionKey(*row[:2]), *row[2:]) for row in rows]


def store_merged_labels(connection: Connection, merge: Merge, table: Table) -> None:
    """Record which labels of a table a merge gives the other category."""
    also = table.alias("also")
    beside = exists(select(literal(1)).select_from(also)).where(
        _same(also, table), also.c.category_id == merge.into
    )
    key = [table.c[column] for column in (*_RECORD, *_SPAN)]
    connection.execute(
        insert(_merged).from_select(
            ["project_id", "merge_id", *_RECORD, *_SPAN, "beside"],
            select(
                literal(merge.question.project_id),
                literal(merge.id),
                *key,
                beside.correlate(table).label("beside"),
            ).where(_of(merge, table, merge.category)),
        )
    )


def merge_stored_labels(connection: Connection, merge: Merge, tables: Collection[Table]) -> None:
    """Give the labels of a category the other one; a record that has both keeps one."""
    for table in tables:
        also = table.alias("also")
        both = exists(select(literal(1)).select_from(also)).where(
            _same(also, table), also.c.category_id == merge.into
        )
        of_one = _of(merge, table, merge.category)
        connection.execute(delete(table).where(of_one, both.correlate(table)))
        connection.execute(update(table).where(of_one).values(category_id=merge.into))


def split_stored_labels(connection: Connection, merge: Merge, tables: Sequence[Table]) -> None:
    """Give labels back the category that a merge took."""
    for table in tables:
        kept = and_(
            _merged.c.project_id == merge.question.project_id,
            _merged.c.merge_id == merge.id,
            *(_merged.c[column] == table.c[column] for column in (*_RECORD, *_SPAN)),
        )
        of_other = _of(merge, table, merge.into)
        columns: list[Any] = [
            literal(merge.category).label(c.name) if c.name == "category_id" else c
            for c in table.columns
        ]
        connection.execute(
            insert(table).from_select(
                [column.name for column in table.columns],
                select(*columns).where(of_other, kept),
            )
        )
        alone = exists(select(literal(1)).select_from(_merged)).where(
            kept, _merged.c.beside.is_(False)
        )
        connection.execute(delete(table).where(of_other, alone.correlate(table)))


def _of(merge: Merge, table: Table, category: int) -> ColumnElement[bool]:
    return and_(of_question(table, merge.question), table.c.category_id == category)


def _same(one: Any, other: Any) -> ColumnElement[bool]:
    """Return the condition that two labels are of one record, and of one span."""
    columns = ("project_id", "question_id", "annotator_id", *_RECORD, *_SPAN)
    return and_(*(one.c[column] == other.c[column] for column in columns))
