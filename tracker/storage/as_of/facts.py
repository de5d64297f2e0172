"""Facts about items, annotators and categories, as they were known."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    case,
    func,
    literal,
    null,
    or_,
    select,
    tuple_,
    union_all,
)
from sqlalchemy import cast as sql_cast

from tracker.storage.as_of.annotators import Rows, alias_owners_as_of
from tracker.storage.as_of.moment import Moment
from tracker.storage.current import ATTRIBUTE, LENGTH
from tracker.storage.schema import (
    AnnotatorAttribute,
    AnnotatorFact,
    CategoryFact,
    CategoryMerge,
    Import,
    Item,
    ItemAttribute,
    ItemFact,
    Label,
    PastLabel,
    Withdrawal,
)
from tracker.storage.schema.labels import (
    ANSWER,
    detail_of,
    question_numbers,
    same_answer_key,
    select_with,
    standing_order,
)

_facts = ItemFact.__table__
_items = Item.__table__
_attributes = ItemAttribute.__table__


def latest_facts(which: ColumnElement[bool]) -> Select[Any]:
    """Return the last such fact on each thing: ``project_id, item_id, role, name, value``."""
    key = ("project_id", "item_id", "role", "name")
    columns = [_facts.c[column] for column in key]
    last = (
        select(*columns, func.max(_facts.c.change_id).label("change_id"))
        .where(which)
        .group_by(*columns)
        .subquery("last")
    )
    best, stored = _facts.alias("best_fact"), _facts.alias("stored_fact")
    stored_by = func.coalesce(best.c.same_as, best.c.change_id)
    return (
        select(*(best.c[column] for column in key), stored.c.value)
        .select_from(last)
        .join(best, same_answer_key((*key, "change_id"), best, last))
        .join(stored, same_answer_key(key, stored, best) & (stored.c.change_id == stored_by))
    )


def facts_as_of(connection: Connection, project_id: int, through: int) -> Rows:
    """Return the facts that were known after a change, of the tables that differ now."""
    rows: Rows = {}
    for model in (AnnotatorFact, AnnotatorAttribute, CategoryFact, ItemFact):
        table = model.__table__
        ours = table.c.project_id == project_id
        later = select(table.c.change_id).where(ours, table.c.change_id > through).limit(1)
        if connection.scalar(later) is not None:
            rows[table] = [select(table).where(ours, table.c.change_id <= through)]
    merges = CategoryMerge.__table__
    ours = merges.c.project_id == project_id
    since = or_(merges.c.from_change > through, merges.c.to_change > through)
    if connection.scalar(select(merges.c.from_change).where(ours, since).limit(1)) is not None:
        ended = case((merges.c.to_change > through, null()), else_=merges.c.to_change)
        then = select_with(merges, to_change=ended)
        rows[merges] = [then.where(ours, merges.c.from_change <= through)]
    return rows | _items_then(connection, project_id, through)


def _items_then(connection: Connection, project_id: int, through: int) -> Rows:
    """Return attributes and lengths of items, if a later change added or removed some."""
    undone = select(Import.change_id).where(Import.project_id == project_id)
    of_project, change = _facts.c.project_id == project_id, _facts.c.change_id
    since = or_(change > through, change.in_(undone.where(Import.undone_by > through)))
    roles = set(connection.scalars(select(_facts.c.role).where(of_project, since).distinct()))
    undone_then = undone.where(Import.undone_by <= through)
    known = and_(of_project, change <= through, change.not_in(undone_then))
    rows: Rows = {}
    if ATTRIBUTE in roles:
        best = latest_facts(and_(known, _facts.c.role == ATTRIBUTE)).subquery("best")
        rows[_attributes] = [select(*(best.c[c.name] for c in _attributes.columns))]
    if LENGTH in roles:
        best = latest_facts(and_(known, _facts.c.role == LENGTH)).subquery("best")
        of_item = and_(best.c.project_id == _items.c.project_id, best.c.item_id == _items.c.id)
        rows[_items] = [
            select_with(_items, length=sql_cast(best.c.value, _items.c.length.type))
            .select_from(_items.outerjoin(best, of_item))
            .where(_items.c.project_id == project_id)
        ]
    return rows


LABELS = Label.__table__
_past = PastLabel.__table__
_withdrawals = Withdrawal.__table__


def labels_as_of(
    connection: Connection, project_id: int, moment: Moment, items: Select[Any] | None = None
) -> Rows:
    """Return the rows of ``labels`` and ``past_labels`` as they were, of all items or of some.

    If an item has no past record its labels stood as they stand, as many as were known;
    otherwise the standing record is found anew. After a merge of annotators, or the end of one,
    that holds for all items: whose an answer was is read from the name it was given under.
    """
    owners = alias_owners_as_of(connection, project_id, moment.through)
    withdrawn = _withdrawn_then(connection, project_id, moment.through)
    contested = select(_past.c.question_id, _past.c.item_id).where(_past.c.project_id == project_id)
    if items is not None:
        contested = contested.where(_is_one_of(_past, project_id, items))

    def known(table: Table, like: Table, **instead: ColumnElement[Any]) -> Select[Any]:
        """Return the records of a table that were known, with the columns of another."""
        if owners:
            given_as = table.c.given_as
            instead["annotator_id"] = case(owners, value=given_as, else_=given_as)
        columns = (
            instead[c.name].label(c.name) if c.name in instead else table.c[c.name]
            for c in like.columns
        )
        records = select(*columns).where(table.c.project_id == project_id)
        if moment.through is not None:
            records = records.where(table.c.change_id <= moment.through)
        if moment.as_of is not None:
            records = records.where(table.c.labeled_at <= moment.as_of)
        return records if items is None else records.where(_is_one_of(table, project_id, items))

    if (moment.as_of, moment.through) == (None, None):
        return {LABELS: [known(LABELS, LABELS)], _past: [known(_past, _past)]}
    taken_back: ColumnElement[bool] = _past.c.taken_back_by.is_not(None)
    if moment.through is not None:
        taken_back = and_(taken_back, _past.c.taken_back_by <= moment.through)
    not_taken = sql_cast(null(), _past.c.taken_back_by.type)
    stood = known(LABELS, _past, taken_back_by=not_taken)
    standing = []
    if not owners and withdrawn is None:
        stood = stood.where(tuple_(LABELS.c.question_id, LABELS.c.item_id).in_(contested))
        same_item = same_answer_key(("question_id", "item_id"), _past, LABELS)
        uncontested = ~contested.where(same_item).correlate(LABELS).exists()
        standing = [known(LABELS, LABELS).where(uncontested)]
    gone = []
    if withdrawn is not None:
        taken_back |= _is_withdrawn(_past, withdrawn)
        back = sql_cast(literal(moment.through), _past.c.taken_back_by.type)
        gone = [known(LABELS, _past, taken_back_by=back).where(_is_withdrawn(LABELS, withdrawn))]
        stood = stood.where(~_is_withdrawn(LABELS, withdrawn))
    records = union_all(
        stood, known(_past, _past, taken_back_by=not_taken).where(~taken_back)
    ).subquery("records")
    number = func.dense_rank().over(
        partition_by=[records.c[column] for column in ANSWER],
        order_by=[column.desc() for column in standing_order(records)],
    )
    ranked = select(records, number.label("number")).subquery("ranked")
    best = select(*(ranked.c[c.name] for c in LABELS.columns)).where(ranked.c.number == 1)
    others = select(*(ranked.c[c.name] for c in _past.columns)).where(ranked.c.number > 1)
    return {
        LABELS: [*standing, best],
        _past: [others, known(_past, _past).where(taken_back), *gone],
    }


def _withdrawn_then(
    connection: Connection, project_id: int, through: int | None
) -> ColumnElement[bool] | None:
    """Return which withdrawals held after a change and do not now; None if there are none."""
    if through is None:
        return None
    held = and_(
        _withdrawals.c.project_id == project_id,
        _withdrawals.c.from_change <= through,
        _withdrawals.c.to_change > through,
    )
    first = connection.scalar(select(_withdrawals.c.from_change).where(held).limit(1))
    return None if first is None else held


def _is_withdrawn(table: Table, which: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition that a label is of a record with one of some withdrawals."""
    withdrawn = select(_withdrawals.c.change_id).where(which, detail_of(_withdrawals, table))
    return withdrawn.correlate(table).exists()


def _is_one_of(table: Table, project_id: int, items: Select[Any]) -> ColumnElement[bool]:
    """Return the condition that a label is of one of some items, whichever the question."""
    questions = question_numbers(project_id)
    return and_(table.c.question_id.in_(questions), table.c.item_id.in_(items))
