"""Answers that a source had and has no longer: withdrawn by a sync, given back by its undo."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    CompoundSelect,
    Connection,
    MetaData,
    Select,
    Table,
    Text,
    and_,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    union_all,
    update,
)

from tracker.projects.questions import QuestionOptions
from tracker.projects.supersede import restore_superseded_labels, supersede_labels
from tracker.storage import backends
from tracker.storage.schema import Import, Item, ItemAlias, Label, PastLabel, Sync, Withdrawal
from tracker.storage.schema.labels import ANSWER, DETAIL, detail_of, own_name_key, same_answer_key

_labels = Label.__table__
_past = PastLabel.__table__
_withdrawals = Withdrawal.__table__
_listed = Table(
    "listed_items",
    MetaData(),
    Column("name", Text, primary_key=True),
    Column("was_read", Boolean, nullable=False),
    prefixes=["TEMPORARY"],
    info={"clustered": True},
)


@dataclass
class Absences:
    """What a sync knows of its source beside the answers it read."""

    changes: Select[int]  # those of earlier syncs of the source
    listed: Mapping[str, bool]
    """The keys of all items of the source; whether the answers to each were read now."""
    asked: Mapping[str, QuestionOptions]
    """The questions of the source that earlier syncs met, by its names."""
    alone: bool = False  # whether nothing is said of items that are not listed
    newer: Collection[str] = ()  # the keys of items of which more is known than was read
    withdrawn: int = field(default=0, init=False)  # standing answers, once that is done
    any_record: bool = field(default=False, init=False)
    """Whether any record was withdrawn, perhaps one that did not stand."""

    def keep(self, items: Iterable[str]) -> None:
        """Withdraw no answer to these items, by their keys: the source has some not read."""
        self.listed = {**self.listed, **dict.fromkeys([*items, *self.newer], False)}

    def number_passes(self, connection: Connection, incoming: Table, project_id: int) -> None:
        """Number the passes of staged answers anew, if their source does not show them all."""

    def withdraw(
        self, connection: Connection, incoming: Table, project_id: int, change: int
    ) -> Select[int, int]:
        """Withdraw what earlier syncs recorded and the source has no longer.

        Those are the records on items that are not listed and, on items that were read, those that
        ``incoming`` does not repeat. Returns the items whose answers that changed.
        """
        _listed.create(connection)
        backend = backends.backend_of(connection)
        columns = {"name": [*self.listed], "was_read": [*self.listed.values()]}
        if self.listed:
            backend.bulk_insert(connection, _listed, columns)
        backend.refresh_statistics(connection, _listed)
        gone = self._gone(_labels, incoming, project_id)
        answers = select(*(_labels.c[column] for column in ANSWER)).where(gone).distinct()
        self.withdrawn = (
            connection.scalar(select(func.count()).select_from(answers.subquery())) or 0
        )
        past = connection.execute(
            update(_past)
            .where(self._gone(_past, incoming, project_id), _past.c.taken_back_by.is_(None))
            .values(taken_back_by=change)
        )
        self.any_record = bool(self.withdrawn or past.rowcount)
        if self.withdrawn:
            supersede_labels(connection, gone, taken_back_by=change)
        _listed.drop(connection)
        taken_back = and_(_past.c.project_id == project_id, _past.c.taken_back_by == change)
        restore_superseded_labels(connection, project_id, taken_back)
        return select(_past.c.question_id, _past.c.item_id).where(taken_back)

    def _gone(self, table: Table, incoming: Table, project_id: int) -> ColumnElement[bool]:
        def listed(*which: ColumnElement[bool]) -> CompoundSelect[Any]:
            # What came under another key is that item's, also when the key is so no more.
            return union_all(
                *(
                    select(number)
                    .join(_listed, _listed.c.name == item.name)
                    .where(item.project_id == project_id, *which)
                    for item, number in ((Item, Item.id), (ItemAlias, ItemAlias.item_id))
                )
            )

        repeated = exists(select(literal(1)).select_from(incoming)).where(
            same_answer_key(("question_id", "item_id", "pass"), incoming, table),
            own_name_key(incoming) == table.c.given_as,
            or_(
                incoming.c.labeled_at == table.c.labeled_at,
                # Without a time of its own it has that of each recording.
                and_(incoming.c.has_own_time.is_(False), table.c.has_own_time.is_(False)),
            ),
        )
        unrepeated = ~repeated.correlate(table)
        if self.alone:
            gone = and_(table.c.item_id.in_(listed(_listed.c.was_read)), unrepeated)
        else:
            gone = or_(
                table.c.item_id.not_in(listed()),
                and_(table.c.item_id.not_in(listed(~_listed.c.was_read)), unrepeated),
            )
        return and_(table.c.project_id == project_id, table.c.change_id.in_(self.changes), gone)


def end_withdrawals(
    connection: Connection, project_id: int, withdrawn_by: int, change: int
) -> ColumnElement[bool]:
    """Give back what a change withdrew, unless it was of an import that is undone.

    Returns the condition on past labels that they are of a record that was given back; those of
    its answers are yet to be restored.
    """
    undone = select(Import.change_id).where(
        Import.project_id == project_id, Import.undone_by.is_not(None)
    )
    back = and_(
        _past.c.project_id == project_id,
        _past.c.taken_back_by == withdrawn_by,
        _past.c.change_id.not_in(undone),
    )
    record = [_past.c[column] for column in ("project_id", *DETAIL)]
    connection.execute(
        insert(_withdrawals).from_select(
            ["project_id", *DETAIL, "from_change", "to_change"],
            select(*record, literal(withdrawn_by), literal(change)).where(back).distinct(),
        )
    )
    connection.execute(update(_past).where(back).values(taken_back_by=None))
    ended = select(literal(1)).where(
        detail_of(_withdrawals, _past), _withdrawals.c.from_change == withdrawn_by
    )
    return ended.correlate(_past).exists()


def retire_answers(connection: Connection, project_id: int, of: ColumnElement[bool]) -> None:
    """Move what stands of answers to the past, for it to be decided anew what does.

    ``of`` is a condition on past labels of those answers.
    """
    rival = exists(select(literal(1)).select_from(_past)).where(
        _past.c.project_id == project_id, same_answer_key(ANSWER, _past, _labels), of
    )
    supersede_labels(connection, and_(_labels.c.project_id == project_id, rival.correlate(_labels)))


def is_sync(connection: Connection, project_id: int, change: int) -> bool:
    sync = select(Sync.until).where(Sync.project_id == project_id, Sync.change_id == change)
    return connection.scalar(sync) is not None
