"""One sync: what to read, what the ledger makes of it, and until when it has read."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, exists, insert, literal, or_, select, union, update

from tracker.core import clock
from tracker.formats.answers import ToolLayout
from tracker.formats.source import SourceFile
from tracker.imports.loader import ImportResult
from tracker.imports.staging import FATES
from tracker.imports.withdrawal import Absences
from tracker.projects.projects import lock_project
from tracker.projects.questions import QuestionOptions
from tracker.storage.schema import Import, Item, ItemAlias, ItemFact, Label, Sync, Touched
from tracker.sync.http import Progress, Pulled, Remote

OVERLAP = 60_000_000
"""Microseconds that are read again: what was saved then may have been seen only afterwards."""

UNREAD = 0
"""The ``until`` of an event that a source sent by itself: nothing was read up to then."""

_syncs = Sync.__table__


class NothingNew(Exception):
    """The source holds nothing that the ledger does not."""


class Overtaken(Exception):
    """Since the source was read, another sync of it has ended, or it asks a new question."""


class Known(NamedTuple):
    """What the ledger has of a source; changes are 0 if there was none."""

    last: int  # the last change of a sync of it, undone or not
    through: int  # the change of the sync up to which all was read
    until: int | None  # the update up to which all was read
    gap: bool  # whether an undone sync has left a gap, and later ones hold
    asked: dict[str, QuestionOptions]  # the questions of the source that were met
    events: int = 0  # the last change by an event that the source sent by itself


def known_of_source(connection: Connection, project_id: int, tool: str, source: str) -> Known:
    """Return what earlier syncs read of a source.

    An undone one leaves a gap, after which nothing counts as read.
    """
    rows = connection.execute(
        select(_syncs, Import.undone_by)
        .join(
            Import,
            (Import.project_id == _syncs.c.project_id) & (Import.change_id == _syncs.c.change_id),
        )
        .where(syncs_of_source(project_id, tool, source))
        .order_by(_syncs.c.change_id)
    ).all()
    ends = {row.until == UNREAD: row.change_id for row in rows}
    known = Known(ends.get(False, 0), 0, None, False, {}, ends.get(True, 0))
    for row in rows:
        if row.undone_by is not None or row.until == UNREAD:
            continue
        known = known._replace(asked=known.asked | asked_of_json(row.asked), gap=True)
        if row.since is None or (known.until is not None and row.since <= known.until):
            newest = max(row.until, known.until or row.until)
            known = known._replace(through=row.change_id, until=newest, gap=False)
    return known


def syncs_of_source(project_id: int, tool: str, source: str) -> Any:
    return (
        (_syncs.c.project_id == project_id) & (_syncs.c.tool == tool) & (_syncs.c.source == source)
    )


@dataclass
class SyncRun:
    """A source that was read, on its way into the ledger."""

    remote: Remote
    known: Known
    pulled: Pulled
    file: SourceFile
    since: int | None = None
    absences: Absences | None = None
    asks_anew: bool = False  # whether it asks a new question, so that all must be read

    def begin(self, connection: Connection, project_id: int) -> Absences:
        """Return what the source has no longer; the project's lock is held.

        What events said meanwhile holds: the next sync reads those items again. Raises Overtaken
        if another sync has ended since it was read.
        """
        remote = self.remote
        now = known_of_source(connection, project_id, remote.tool, remote.source)
        if now._replace(events=self.known.events) != self.known:
            raise Overtaken
        of_source = syncs_of_source(project_id, remote.tool, remote.source)
        self.absences = Absences(
            select(_syncs.c.change_id).where(of_source),
            {key: unread <= 0 for key, unread in self.pulled.unread.items()},
            self.known.asked,
            newer=_touched_items(connection, project_id, of_source, self.known.events),
        )
        return self.absences

    def end(self, connection: Connection, project_id: int, result: ImportResult) -> None:
        """Record what was read, for the next sync to go on from.

        Raises Overtaken if everything must be read again, and NothingNew if nothing was new.
        """
        asked = questions_of_file(self.file)
        if self.since is not None and self.remote.asks_all and asked.keys() - self.known.asked:
            # Answers that were read before are answers to it, too: with nothing.
            self.asks_anew = True
            raise Overtaken
        change = connection.scalar(select(Import.change_id).where(Import.id == result.id))
        assert self.absences is not None
        # What fills a gap is recorded although it is known: another undo must not take it away.
        repeats = result.rows == 0 or (self.known.through > 0 and not self.known.gap)
        if repeats and not (
            self.absences.any_record or brought_news(connection, project_id, change)
        ):
            raise NothingNew
        record_sync(
            connection, project_id, change, (self.remote.tool, self.remote.source),
            since=self.since, until=self.until, asked=asked,
        )  # fmt: skip

    @property
    def until(self) -> int:
        """The newest update up to which all was read."""
        return max(self.pulled.until or 0, self.since or 0)

    def note_nothing_new(self, connection: Connection, project_id: int) -> None:
        """Let the next sync go on from here, unless another has ended meanwhile."""
        lock_project(connection, project_id)
        known = known_of_source(connection, project_id, self.remote.tool, self.remote.source)
        if known == self.known and not known.gap:
            last = (_syncs.c.project_id == project_id) & (_syncs.c.change_id == self.known.through)
            connection.execute(update(_syncs).where(last).values(until=self.until))


def _touched_items(
    connection: Connection, project_id: int, of_source: Any, after: int
) -> Collection[str]:
    """Return the keys of the items that events of a source named after a change."""
    events = select(_syncs.c.change_id).where(
        of_source, _syncs.c.until == UNREAD, _syncs.c.change_id > after
    )
    ranges = select(Touched.first_item, Touched.last_item).where(
        Touched.project_id == project_id, Touched.change_id.in_(events)
    )
    touched = ranges.distinct().subquery()
    ends = (touched.c.first_item, touched.c.last_item)
    keys = (
        select(named.name)
        .join(touched, number.between(*ends))
        .where(named.project_id == project_id)
        for named, number in ((Item, Item.id), (ItemAlias, ItemAlias.item_id))
    )
    return frozenset(connection.scalars(union(*keys)))


def record_sync(
    connection: Connection,
    project_id: int,
    change: int | None,
    source: tuple[str, str],
    *,
    since: int | None,
    until: int,
    asked: Mapping[str, QuestionOptions],
) -> None:
    """Record what a change read of a source, which is a tool and an address."""
    tool, address = source
    names = ("answers", "scale", "offsets")
    questions = {
        name: {key: getattr(options, key) for key in names} for name, options in asked.items()
    }
    connection.execute(
        insert(_syncs).values(
            project_id=project_id, change_id=change, tool=tool, source=address, since=since,
            until=until, asked=json.dumps(questions),
        )
    )  # fmt: skip


def asked_of_json(text: str) -> dict[str, QuestionOptions]:
    return {name: QuestionOptions(**options) for name, options in json.loads(text).items()}


def questions_of_file(file: SourceFile) -> Mapping[str, QuestionOptions]:
    """Return the questions that a file of a tool asks, once it was read."""
    layout = file.layout
    return layout.reading.asked if isinstance(layout, ToolLayout) else {}


def brought_news(connection: Connection, project_id: int, change: int | None) -> bool:
    """Return whether an import brought an answer that stands, or a fact about an item."""
    label, fact = Label.__table__.c, ItemFact.__table__.c
    stands = exists(select(literal(1)).select_from(Label)).where(
        label.project_id == project_id, label.change_id == change
    )
    says = exists(select(literal(1)).select_from(ItemFact)).where(
        fact.project_id == project_id, fact.change_id == change, fact.same_as.is_(None)
    )
    return bool(connection.scalar(select(or_(stands, says))))


@contextmanager
def pulled_source(
    remote: Remote, known: Known, progress: Progress, *, whole: bool
) -> Iterator[SyncRun]:
    """Read a source since the last time, or ``whole``; its records lie in a file until the end.

    Nothing holds the database meanwhile.
    """
    since = None if known.until is None or whole else known.until
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        pulled = remote.pull(None if since is None else since - OVERLAP, file, progress)
        file.flush()
        source = SourceFile(file.name, name=remote.source)
        try:
            yield SyncRun(remote, known, pulled, source, since=since)
        finally:
            source.close()


def import_as_json(project: str, imported: ImportResult | None) -> dict[str, Any]:
    """Return an import as JSON, also if there was nothing to import."""
    if imported is not None:
        return imported.to_dict()
    payload: dict[str, Any] = {"import": None, "project": project, "rows": 0}
    return payload | dict.fromkeys((*FATES, "rejected"), 0) | {"rejections": [], "odd": []}


@dataclass(frozen=True)
class SyncResult:
    project: str
    tool: str
    source: str
    imported: ImportResult | None  # None if there was nothing new
    withdrawn: int  # answers that the source has no longer
    read: int  # records
    since: int | None  # the updates between which it was read
    until: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON: that of an import, and what was synced."""
        return import_as_json(self.project, self.imported) | {
            "withdrawn": self.withdrawn,
            "tool": self.tool,
            "source": self.source,
            "read": self.read,
            "since": None if self.since is None else clock.iso(self.since),
            "until": None if self.until is None else clock.iso(self.until),
        }
