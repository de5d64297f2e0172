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
from tracker.storage.schema.labels import QuestionKey, of_question, same_answer_key, select_with

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

    It is empty if no answers changed hands since, which is the usual case.
    """
    if through is None:
        return {}
    later = _moves(project_id).where(Change.id > through)
    if connection.scalar(later.limit(1)) is None:
        return {}
    rows = connection.execute(_aliases_then(project_id, through))
    # Nobody is 0: before the first merge all names were their own, which is not "nothing".
    return {0: 0} | {row.alias_id: row.annotator_id for row in rows}


def _moves(project_id: int) -> Select[Any]:
    return select(Change.id).where(Change.project_id == project_id, Change.kind.in_((MERGE, SPLIT)))


def _aliases_then(project_id: int, through: int) -> Select[Any]:
    ended = case((_aliases.c.to_change > through, null()), else_=_aliases.c.to_change)
    # A name that was only added was nobody else's before: it may stand for its owner all along.
    not_moved = _aliases.c.from_change.not_in(_moves(project_id))
    return select_with(_aliases, to_change=ended).where(
        _aliases.c.project_id == project_id,
        or_(_aliases.c.from_change <= through, not_moved),
        or_(_aliases.c.to_change.is_(None), _aliases.c.to_change > through),
    )


def annotators_as_of(connection: Connection, project_id: int, through: int) -> Rows:
    """Return annotators with their kinds then, their aliases, and the imports, as known."""
    kinds = _kinds_then(connection, project_id, through)
    kind = case(kinds, value=_annotators.c.id, else_=_annotators.c.kind)
    annotators = select_with(_annotators, kind=kind) if kinds else select(_annotators)
    return {
        _annotators: [annotators.where(_annotators.c.project_id == project_id)],
        _aliases: [_aliases_then(project_id, through)],
        **imports_as_of(project_id, through),
    }


def imports_as_of(project_id: int, through: int) -> Rows:
    """Return the imports that were known; those undone since were not yet."""
    later = _imports.c.undone_by > through
    undone = case((later, sql_cast(null(), Integer)), else_=_imports.c.undone_by)
    known = and_(_imports.c.project_id == project_id, _imports.c.change_id <= through)
    return {_imports: [select_with(_imports, undone_by=undone).where(known)]}


def _kinds_then(connection: Connection, project_id: int, through: int) -> dict[int, str]:
    """Return the kinds of annotators that have another now."""
    rows = connection.execute(
        select(_facts.c.annotator_id, _facts.c.value, _facts.c.change_id, _imports.c.undone_by)
        .outerjoin(_imports, same_answer_key(("project_id", "change_id"), _imports, _facts))
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
    for model, moment in tables:
        table = model.__table__
        ours = table.c.project_id == project_id
        rows[table] = [select(table).where(ours, table.c[moment] <= known_at)]
    return rows


_merges = CategoryMerge.__table__
_merged = MergedLabel.__table__
_RECORD = (
    "item_id", "given_as", "pass", "change_id", "source", "labeled_at", "span_start", "span_end"
)  # fmt: skip


class Merge(NamedTuple):
    """A category that counts as another: since which change, and both by number."""

    question: QuestionKey
    id: int
    category: int
    into: int


def merges_as_of_now(connection: Connection, question: QuestionKey) -> list[Merge]:
    """Return the merges of a question's categories that hold now, oldest first."""
    return _merges_where(connection, of_question(_merges, question) & _merges.c.to_change.is_(None))


def merges_as_of(
    connection: Connection, project_id: int, through: int
) -> tuple[list[Merge], list[Merge]]:
    """Return the merges to end, and those to make again, for the labels after a change."""
    ours, open_now = _merges.c.project_id == project_id, _merges.c.to_change.is_(None)
    later = _merges_where(connection, ours & open_now & (_merges.c.from_change > through))
    ended = and_(ours, _merges.c.from_change <= through, _merges.c.to_change > through)
    return later[::-1], _merges_where(connection, ended)


def _merges_where(connection: Connection, which: ColumnElement[bool]) -> list[Merge]:
    key = (_merges.c.project_id, _merges.c.question_id)
    rows = connection.execute(
        select(*key, _merges.c.from_change, _merges.c.category_id, _merges.c.into_id)
        .where(which)
        .order_by(_merges.c.from_change)
    )
    return [Merge(QuestionKey(*row[:2]), *row[2:]) for row in rows]


def store_merged_labels(connection: Connection, merge: Merge, table: Table) -> None:
    """Record which labels of a table a merge gives the other category."""
    key = [table.c[column] for column in _RECORD]
    row = [literal(merge.question.project_id), literal(merge.id), *key, _has_both(merge, table)]
    connection.execute(
        insert(_merged).from_select(
            ["project_id", "merge_id", *_RECORD, "beside"],
            select(*row).where(_of_category(merge, table, merge.category)),
        )
    )


def merge_stored_labels(connection: Connection, merge: Merge, tables: Collection[Table]) -> None:
    """Give the labels of a category the other one; a record that has both keeps one."""
    for table in tables:
        merged = _of_category(merge, table, merge.category)
        connection.execute(delete(table).where(merged, _has_both(merge, table)))
        connection.execute(update(table).where(merged).values(category_id=merge.into))


def split_stored_labels(connection: Connection, merge: Merge, tables: Sequence[Table]) -> None:
    """Give labels back the category that a merge took."""
    for table in tables:
        merged = and_(
            _merged.c.project_id == merge.question.project_id,
            _merged.c.merge_id == merge.id,
            same_answer_key(_RECORD, _merged, table),
        )
        of_other = _of_category(merge, table, merge.into)
        given_back = select_with(table, category_id=literal(merge.category)).where(of_other, merged)
        names = [column.name for column in table.columns]
        connection.execute(insert(table).from_select(names, given_back))
        alone = exists(select(literal(1)).select_from(_merged)).where(
            merged, _merged.c.beside.is_(False)
        )
        connection.execute(delete(table).where(of_other, alone.correlate(table)))


def _of_category(merge: Merge, table: Table, category: int) -> ColumnElement[bool]:
    return and_(of_question(table, merge.question), table.c.category_id == category)


def _has_both(merge: Merge, table: Table) -> ColumnElement[bool]:
    """Return the condition that the record and span of a label has the other category, too."""
    also = table.alias("also")
    columns = ("project_id", "question_id", "annotator_id", *_RECORD)
    both = exists(select(literal(1)).select_from(also)).where(
        same_answer_key(columns, also, table), also.c.category_id == merge.into
    )
    return both.correlate(table)
