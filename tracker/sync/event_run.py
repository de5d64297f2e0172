"""An event of Label Studio's on its way into the ledger.

An event has an annotation, and not all of its task, as a sync has. What the annotator said before
of the same item is therefore looked up: another annotation is another pass, and one that was saved
before what is known is out of date.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from sqlalchemy import (
    Connection,
    Select,
    Table,
    bindparam,
    false,
    insert,
    select,
    union_all,
    update,
)

from tracker.core import clock
from tracker.imports.loader import ImportResult
from tracker.imports.readers.answers import ToolLayout
from tracker.imports.readers.label_studio import NAME
from tracker.imports.readers.source import SourceFile
from tracker.imports.withdrawal import Absences
from tracker.projects.question import QuestionOptions
from tracker.storage.answer_keys import question_numbers
from tracker.storage.schema import Annotator, Import, Label, PastLabel, Source, Sync
from tracker.sync.events import OF, Event
from tracker.sync.run import (
    OVERLAP,
    UNREAD,
    NothingNew,
    asked_as_json,
    asked_of_json,
    brought_news,
    known_of_source,
    syncs_of_source,
)

_syncs = cast("Table", Sync.__table__)


class _Known(NamedTuple):
    """A record of an annotator's answers to an item."""

    item: int
    annotator: int
    pass_: int
    labeled_at: int
    change: int


@dataclass
class _EventAbsences(Absences):
    """What an event says of answers that are known."""

    name: str = ""
    are_revisions: bool = False

    def withdraw(
        self, connection: Connection, incoming: Table, project_id: int, change: int
    ) -> Select[int, int]:
        """Do likewise; an event that takes nothing back reads no label."""
        if self.listed:
            return super().withdraw(connection, incoming, project_id, change)
        nothing = select(incoming.c.question_id, incoming.c.item_id).where(false())
        return cast("Select[int, int]", nothing)

    def number_passes(self, connection: Connection, incoming: Table, project_id: int) -> None:
        """Number the passes after those that are known; raises NothingNew if all is out of date."""
        known = _known_records(connection, incoming, project_id)
        if any(_saved_later(connection, project_id, self.name, known)):
            raise NothingNew
        if known and not self.are_revisions:
            _renumber(connection, incoming, project_id, known)


def _known_records(connection: Connection, incoming: Table, project_id: int) -> list[_Known]:
    """Return the records that hold of those who answered the same items now."""
    found = []
    for one in (Label.__table__.c, PastLabel.__table__.c):
        statement = (
            select(one.item_id, one.annotator_id, one["pass"], one.labeled_at, one.change_id)
            .join(
                incoming,
                (incoming.c.item_id == one.item_id) & (incoming.c.annotator_id == one.annotator_id),
            )
            .where(
                one.project_id == project_id,
                one.question_id.in_(question_numbers(project_id)),
                one.item_id.in_(select(incoming.c.item_id)),
            )
        )
        if "taken_back_by" in one:
            statement = statement.where(one.taken_back_by.is_(None))
        found.append(statement)
    rows = connection.execute(select(union_all(*found).subquery()).distinct())
    return [_Known(*row) for row in rows]


def _saved_later(
    connection: Connection, project_id: int, name: str, known: Iterable[_Known]
) -> Iterator[bool]:
    """Yield for each event of the same annotation whether it was saved later than this one."""
    address, of, saved_at = name.rpartition(OF)
    if not of:
        return
    statement = (
        select(Source.name)
        .join(Import, Import.id == Source.import_id)
        .where(
            Import.project_id == project_id,
            Import.change_id.in_({one.change for one in known}),
            Import.undone_by.is_(None),
        )
    )
    for other in connection.scalars(statement):
        whose, _, moment = other.rpartition(OF)
        if whose == address:
            yield clock.parse_timestamp(moment) > clock.parse_timestamp(saved_at)


def _renumber(
    connection: Connection, incoming: Table, project_id: int, known: Iterable[_Known]
) -> None:
    """Give each annotation the pass that it has, or the next one of its annotator on the item."""
    passes: dict[tuple[int, int], dict[int, int]] = {}
    for one in sorted(known, key=lambda one: -one.pass_):
        passes.setdefault((one.item, one.annotator), {})[one.labeled_at] = one.pass_
    rows = incoming.c
    people = select(Annotator.id).where(
        Annotator.project_id == project_id, Annotator.kind != "reference"
    )
    staged = (
        select(rows.item_id, rows.annotator_id, rows.labeled_at)
        .where(rows.annotator_id.in_(people))
        .distinct()
        .order_by(rows.labeled_at)
    )
    told = []
    for item, annotator, moment in connection.execute(staged).all():
        mine = passes.get((item, annotator))
        if mine is not None:
            number = mine.setdefault(moment, max(mine.values()) + 1)
            told.append({"of": item, "by": annotator, "at": moment, "number": number})
    if told:
        connection.execute(
            update(incoming)
            .where(
                rows.item_id == bindparam("of"),
                rows.annotator_id == bindparam("by"),
                rows.labeled_at == bindparam("at"),
            )
            .values({"pass": bindparam("number")}),
            told,
        )


@dataclass
class EventRun:
    """An event on its way into the ledger.

    Attributes:
        event: what happened.
        by_number: whether items are known by the numbers of tasks.
        repeat: what a second annotation of an annotator is: ``revision`` or ``pass``.
        absences: what it says of answers that are known.
        result: what became of it, also if that is not kept.
    """

    event: Event
    by_number: bool = True
    repeat: str | None = None
    absences: Absences | None = None
    result: ImportResult | None = None
    file: SourceFile = field(init=False)
    tool = NAME

    def __post_init__(self) -> None:
        """Lay the annotations out as a file of Label Studio's."""
        text = io.BytesIO(json.dumps(self.event.tasks).encode())
        self.file = SourceFile(self.event.name, text, name=self.event.name)

    def begin(self, connection: Connection, project_id: int) -> Absences:
        """Return what the source has no longer, as far as the event tells.

        Raises NothingNew for an event that is older than what a sync has read.
        """
        read = known_of_source(connection, project_id, NAME, self.event.source).until
        saved_at = self.event.saved_at
        if read is not None and saved_at is not None and saved_at < read - OVERLAP:
            raise NothingNew
        of_source = syncs_of_source(project_id, NAME, self.event.source)
        asked: dict[str, QuestionOptions] = {}
        for text in connection.scalars(select(_syncs.c.asked).where(of_source)):
            asked |= asked_of_json(text)
        self.absences = _EventAbsences(
            select(_syncs.c.change_id).where(of_source),
            dict.fromkeys(self.event.deleted if self.by_number else (), True),
            asked,
            alone=True,
            name=self.event.name,
            are_revisions=self.repeat == "revision",
        )
        return self.absences

    def end(self, connection: Connection, project_id: int, result: ImportResult) -> None:
        """Record that the source said so; raises NothingNew if all was known."""
        self.result = result
        change = connection.scalar(select(Import.change_id).where(Import.id == result.id))
        assert self.absences is not None
        news = self.absences.any_record or result.inserted or result.changed
        if not news and not brought_news(connection, project_id, change):
            raise NothingNew
        layout = self.file.layout
        asked = layout.reading.asked if isinstance(layout, ToolLayout) else {}
        connection.execute(
            insert(_syncs).values(
                project_id=project_id, change_id=change, tool=NAME, source=self.event.source,
                since=UNREAD, until=UNREAD, asked=asked_as_json(asked),
            )
        )  # fmt: skip
