"""The labels that stood, and the records that did not."""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    case,
    func,
    null,
    select,
    union_all,
)
from sqlalchemy import cast as sql_cast

from tracker.storage.answer_keys import ANSWER, ORDER
from tracker.storage.as_of.annotators import Rows, owners_then
from tracker.storage.as_of.moment import Moment
from tracker.storage.schema import Label, PastLabel

LABELS = cast("Table", Label.__table__)
_past = cast("Table", PastLabel.__table__)


def labels_then(
    connection: Connection, project_id: int, moment: Moment, items: Select[Any] | None = None
) -> Rows:
    """Return the rows of ``labels`` and ``past_labels`` as they were, of all items or of some.

    Where an item has no past record its labels stood as they stand, as many as were known;
    elsewhere the standing record is found anew. After a merge of annotators, or the end of
    one, that is everywhere: whose an answer was is read from the name it was given under.
    """
    owners = owners_then(connection, project_id, moment.through)
    contested = select(_past.c.item_id).where(_past.c.project_id == project_id)
    if items is not None:
        contested = contested.where(_past.c.item_id.in_(items))

    def known(table: Table, like: Table, **instead: ColumnElement[Any]) -> Select[Any]:
        """Return the records of a table that were known, with the columns of another."""
        if owners:
            given_as = table.c.given_as
            instead["annotator_id"] = case(owners, value=given_as, else_=given_as)
        columns = (
            instead[c.name].label(c.name) if c.name in instead else table.c[c.name]
            for c in like.columns
        )
        found = select(*columns).where(table.c.project_id == project_id)
        if moment.through is not None:
            found = found.where(table.c.change_id <= moment.through)
        if moment.as_of is not None:
            found = found.where(table.c.labelled_at <= moment.as_of)
        return found if items is None else found.where(table.c.item_id.in_(items))

    if (moment.as_of, moment.through) == (None, None):
        return {LABELS: [known(LABELS, LABELS)], _past: [known(_past, _past)]}
    taken_back: ColumnElement[bool] = _past.c.taken_back_by.is_not(None)
    if moment.through is not None:
        taken_back = and_(taken_back, _past.c.taken_back_by <= moment.through)
    not_taken = sql_cast(null(), _past.c.taken_back_by.type)
    stood = known(LABELS, _past, taken_back_by=not_taken)
    standing = []
    if not owners:
        stood = stood.where(LABELS.c.item_id.in_(contested))
        same_item = _past.c.item_id == LABELS.c.item_id
        uncontested = ~contested.where(same_item).correlate(LABELS).exists()
        standing = [known(LABELS, LABELS).where(uncontested)]
    records = union_all(
        stood, known(_past, _past, taken_back_by=not_taken).where(~taken_back)
    ).subquery("records")
    number = func.dense_rank().over(
        partition_by=[records.c[column] for column in ANSWER],
        order_by=[records.c[column].desc() for column in ORDER],
    )
    ranked = select(records, number.label("number")).subquery("ranked")
    best = select(*(ranked.c[c.name] for c in LABELS.columns)).where(ranked.c.number == 1)
    others = select(*(ranked.c[c.name] for c in _past.columns)).where(ranked.c.number > 1)
    return {
        LABELS: [*standing, best],
        _past: [others, known(_past, _past).where(taken_back)],
    }
