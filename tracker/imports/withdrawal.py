"""Answers that a source had and has no longer: withdrawn by a sync, given back by its undo."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from tracker.projects.questions import QuestionOptions
from tracker.projects.supersede import restore_superseded_labels, supersede_labels
from tracker.storage import backends
from tracker.storage.schema import Import, Item, ItemAlias, Label, PastLabel, Withdrawal
from tracker.storage.schema.labels import ANSWER, DETAIL, detail_of, own_name_key, same_answer_key

_labels = Label.__table__
_past = PastLabel.__table__
_withdrawals = Withdrawal.__table__
_listed = sa.Table(
    "listed_items",
    sa.MetaData(),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("was_read", sa.Boolean, nullable=False),
    prefixes=["TEMPORARY"],
    info={"clustered": True},
)


@dataclass
class Absences:
    """What a sync knows of its source beside the answers it read."""

    changes: sa.Select[int]  # those of earlier syncs of the source
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

    def number_passes(self, connection: sa.Connection, incoming: sa.Table, project_id: int) -> None:
        """Number the passes of staged answers anew, if their source does not show them all."""

    def withdraw(
        self, connection: sa.Connection, incoming: sa.Table, project_id: int, change: int
    ) -> sa.Select[int, int]:
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
        answers = sa.select(*_labels.c[ANSWER]).where(gone).distinct().subquery()
        self.withdrawn = connection.scalar(sa.select(sa.func.count()).select_from(answers)) or 0
        past = connection.execute(
            sa.update(_past)
            .where(self._gone(_past, incoming, project_id), _past.c.taken_back_by.is_(None))
            .values(taken_back_by=change)
        )
        self.any_record = bool(self.withdrawn or past.rowcount)
        if self.withdrawn:
            supersede_labels(connection, gone, taken_back_by=change)
        _listed.drop(connection)
        taken_back = sa.and_(_past.c.project_id == project_id, _past.c.taken_back_by == change)
        restore_superseded_labels(connection, project_id, taken_back)
        return sa.select(_past.c.question_id, _past.c.item_id).where(taken_back)

    def _gone(self, table: sa.Table, incoming: sa.Table, project_id: int) -> sa.ColumnElement[bool]:
        def listed(*which: sa.ColumnElement[bool]) -> sa.CompoundSelect[Any]:
            # What came under another key is that item's, also when the key is so no more.
            keys = ((Item, Item.id), (ItemAlias, ItemAlias.item_id))
            items = (
                sa.select(number)
                .join(_listed, _listed.c.name == key.name)
                .where(key.project_id == project_id, *which)
                for key, number in keys
            )
            return sa.union_all(*items)

        # A record without a time of its own has that of each recording.
        untimed = incoming.c.has_own_time.is_(False) & table.c.has_own_time.is_(False)
        repeated = sa.exists().where(
            same_answer_key(("question_id", "item_id", "pass"), incoming, table),
            own_name_key(incoming) == table.c.given_as,
            (incoming.c.labeled_at == table.c.labeled_at) | untimed,
        )
        unrepeated = ~repeated.correlate(table)
        if self.alone:
            gone = sa.and_(table.c.item_id.in_(listed(_listed.c.was_read)), unrepeated)
        else:
            gone = sa.or_(
                table.c.item_id.not_in(listed()),
                sa.and_(table.c.item_id.not_in(listed(~_listed.c.was_read)), unrepeated),
            )
        return sa.and_(table.c.project_id == project_id, table.c.change_id.in_(self.changes), gone)


def end_withdrawals(
    connection: sa.Connection, project_id: int, withdrawn_by: int, change: int
) -> sa.ColumnElement[bool]:
    """Give back what a change withdrew, unless it was of an import that is undone.

    What stands of the answers moves to the past, for it to be decided anew what does. Returns the
    condition on past labels that they are of a record that was given back.
    """
    undone = sa.select(Import.change_id).where(
        Import.project_id == project_id, Import.undone_by.is_not(None)
    )
    of_project = _past.c.project_id == project_id
    withdrawn = _past.c.taken_back_by == withdrawn_by
    back = sa.and_(of_project, withdrawn, _past.c.change_id.not_in(undone))
    record = ("project_id", *DETAIL)
    changes = sa.literal(withdrawn_by), sa.literal(change)
    rows = sa.select(*_past.c[record], *changes).where(back).distinct()
    columns = [*record, "from_change", "to_change"]
    connection.execute(sa.insert(_withdrawals).from_select(columns, rows))
    connection.execute(sa.update(_past).where(back).values(taken_back_by=None))
    of_change = _withdrawals.c.from_change == withdrawn_by
    ended = sa.exists().where(detail_of(_withdrawals, _past), of_change).correlate(_past)
    rival = sa.exists().where(of_project, same_answer_key(ANSWER, _past, _labels), ended)
    standing = _labels.c.project_id == project_id
    supersede_labels(connection, standing & rival.correlate(_labels))
    return ended
