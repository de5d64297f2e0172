"""The changes of a transaction that its seal must cover, kept with the connection."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from tracker.storage.schema import Seal
from tracker.storage.seals.digests import LETTERS, Sums, label_sums, state_of

_KEY = "tracker_sealing"


class LastSeal(NamedTuple):
    """The seal that the next one follows; before the first is number 0."""

    id: int
    through_change: int
    items: int
    state: dict[str, str]
    digest: str


@dataclass
class Pending:
    """A project that a transaction may change.

    Attributes:
        last: its last seal when the transaction began.
        found: the digests of the parts that were not as that seal left them.
        made: whether the project was made by this transaction.
        labels: what was added to the records of changes, and taken from them.
        attributes: whether attributes of items may have changed.
        named: how many items after the last seal's are in ``names``, the digest of their names.
    """

    last: LastSeal
    found: dict[str, str]
    made: bool
    labels: Sums = field(default_factory=dict)
    attributes: bool = False
    named: int = 0
    names: Any = field(default_factory=hashlib.sha256)

    def names_of(self, items: int) -> str | None:
        """Return the digest of the names up to that of an item, if just these were noted."""
        noted = self.last.items + self.named
        return self.names.hexdigest()[:LETTERS] if items == noted else None

    def add(self, sums: Sums, sign: int = 1) -> None:
        """Add to the sums of changes' records; a ``sign`` of -1 subtracts."""
        for change, (count, total) in sums.items():
            before = self.labels.get(change, (0, 0))
            self.labels[change] = (before[0] + sign * count, before[1] + sign * total)


def last_seal(connection: Connection, project_id: int) -> LastSeal:
    """Return the last seal of a project."""
    columns = (Seal.id, Seal.through_change, Seal.added, Seal.state, Seal.digest)
    statement = select(*columns).where(Seal.project_id == project_id)
    row = connection.execute(statement.order_by(Seal.id.desc()).limit(1)).one_or_none()
    if row is None:
        return LastSeal(0, 0, 0, {}, "")
    items = json.loads(row.added)["items"]
    return LastSeal(row.id, row.through_change, items, json.loads(row.state), row.digest)


def pending(connection: Connection) -> dict[int, Pending]:
    """Return the projects that the connection's transaction may change, by number."""
    found: dict[int, Pending] = connection.info.setdefault(_KEY, {})
    return found


def start(connection: Connection) -> None:
    """Forget an earlier transaction of the connection."""
    connection.info.pop(_KEY, None)


def begin(connection: Connection, project_id: int, *, made: bool = False) -> None:
    """Read the state of a project that the transaction is about to change; its lock is held."""
    known = pending(connection)
    if project_id in known:
        return
    last = LastSeal(0, 0, 0, {}, "") if made else last_seal(connection, project_id)
    now = state_of(connection, project_id) if last.state else {}
    found = {part: digest for part, digest in now.items() if last.state.get(part, digest) != digest}
    known[project_id] = Pending(last, found, made)


def forget(connection: Connection, project_id: int) -> None:
    """Seal nothing of a project, because it is deleted."""
    pending(connection).pop(project_id, None)


def new_labels(connection: Connection, project_id: int, change: int, sums: tuple[int, int]) -> None:
    """Note the labels of an import, which all belong to the record of its change."""
    pending(connection)[project_id].add({change: sums})


def new_items(connection: Connection, project_id: int, first: int, number: int, names: Any) -> None:
    """Note new items, numbered from ``first`` on; the names are bytes with NUL between them.

    They need not be read again then to be sealed, unless there are items that nothing noted.
    """
    noted = pending(connection)[project_id]
    if first == noted.last.items + noted.named + 1:
        noted.named += number
        noted.names.update(names)
        noted.names.update(b"\0")


def changed(connection: Connection, project_id: int) -> None:
    """Note that attributes of items may have changed."""
    pending(connection)[project_id].attributes = True


@contextmanager
def moved_labels(
    connection: Connection, project_id: int, column: str, values: Iterable[int]
) -> Iterator[None]:
    """Note the changes inside the block to labels with some values in a column."""
    values = list(values)
    noted = pending(connection)[project_id]
    noted.add(label_sums(connection, project_id, column, values), -1)
    yield
    noted.add(label_sums(connection, project_id, column, values))
