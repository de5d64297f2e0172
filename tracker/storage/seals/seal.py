"""Seals made at the end of a transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, func, insert, select

from tracker.core import clock
from tracker.storage.schema import AnswerDetail, Item, Seal
from tracker.storage.seals.digests import (
    LETTERS,
    Sums,
    add_sums,
    digest_for_seal,
    seal_sums_of_details,
    seal_sums_of_labels,
    sealed_item_digest,
    sealed_item_names,
    sealed_rows,
    sealed_state,
)


def seal_digest(before: str, seal: Mapping[str, Any]) -> str:
    """Return the digest of a seal, in hexadecimal (SHA-256), chained to the one before."""
    names = ("id", "last_change_id", "sealed_at", "found", "added", "state")
    text = json.dumps([before, *(seal[name] for name in names)], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def seal_transaction(connection: Connection) -> None:
    """Seal every project that the transaction changed, as it is now."""
    for project_id, pending in pending_seals(connection).items():
        state = sealed_state(connection, project_id)
        if state:
            _seal(connection, project_id, pending, state)
    reset_seals(connection)


def _seal(
    connection: Connection, project_id: int, pending: Pending, state: Mapping[str, str]
) -> None:
    last = pending.last
    changes = sealed_rows(connection, "changes", project_id, last.last_change_id)
    if not changes and state == last.state:
        return
    through, moment = (changes[-1][0], changes[-1][2]) if changes else (last.last_change_id, 0)
    row = {
        "id": last.id + 1,
        "last_change_id": through,
        "sealed_at": max(moment, clock.now()),
        "found": _text(pending.found),
        "added": _text(_added(connection, project_id, pending, changes)),
        "state": _text(state),
    }
    row["digest"] = seal_digest(last.digest, row)
    connection.execute(insert(Seal).values(project_id=project_id, **row))


def _added(
    connection: Connection, project_id: int, pending: Pending, changes: list[list[Any]]
) -> dict[str, Any]:
    """Return the digests of what was added since the seal before, or of all if there was none."""
    last = pending.last
    first = last.id == 0 and not pending.made
    labels, details = pending.labels, pending.details
    if first:
        labels = seal_sums_of_labels(connection, project_id)
        details = seal_sums_of_details(connection, project_id)
    highest = select(func.max(Item.id)).where(Item.project_id == project_id)
    items = connection.scalar(highest) or 0
    added: dict[str, Any] = {"changes": digest_for_seal(changes), "items": items}
    if changes:
        for part in ("imports", "sources", "touched"):
            rows = sealed_rows(connection, part, project_id, last.last_change_id)
            added[part] = digest_for_seal(rows)
    if items > last.items:
        added["names"] = (
            pending.names.hexdigest()[:LETTERS]
            if items == last.items + pending.named
            else sealed_item_names(connection, project_id, [last.items, items])[0]
        )
    for part, sums in (("labels", labels), ("details", details)):
        if sums:
            added[part] = {str(change): list(sums[change]) for change in sorted(sums)}
    for part in ("attributes", "item_aliases"):
        if first or part in pending.changed:
            added[part] = sealed_item_digest(connection, part, project_id)
    return added


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


_KEY = "tracker_sealing"


class LastSeal(NamedTuple):
    """The seal that the next one follows; before the first is number 0."""

    id: int
    last_change_id: int
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
        details: the same for what is known of answers beside their labels.
        changed: the parts of `OF_ITEMS` that may have changed.
        named: how many items after the last seal's are in ``names``, the digest of their names.
    """

    last: LastSeal
    found: dict[str, str]
    made: bool
    labels: Sums = field(default_factory=dict)
    details: Sums = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    named: int = 0
    names: Any = field(default_factory=hashlib.sha256)


def last_seal(connection: Connection, project_id: int) -> LastSeal:
    columns = (Seal.id, Seal.last_change_id, Seal.added, Seal.state, Seal.digest)
    statement = select(*columns).where(Seal.project_id == project_id)
    row = connection.execute(statement.order_by(Seal.id.desc()).limit(1)).one_or_none()
    if row is None:
        return LastSeal(0, 0, 0, {}, "")
    items = json.loads(row.added)["items"]
    return LastSeal(row.id, row.last_change_id, items, json.loads(row.state), row.digest)


def pending_seals(connection: Connection) -> dict[int, Pending]:
    """Return the projects that the connection's transaction may change, by number."""
    pending: dict[int, Pending] = connection.info.setdefault(_KEY, {})
    return pending


def reset_seals(connection: Connection) -> None:
    """Forget an earlier transaction of the connection."""
    connection.info.pop(_KEY, None)


def begin_seal(connection: Connection, project_id: int, *, made: bool = False) -> None:
    """Read the state of a project that the transaction is about to change; its lock is held."""
    pending = pending_seals(connection)
    if project_id in pending:
        return
    last = LastSeal(0, 0, 0, {}, "") if made else last_seal(connection, project_id)
    now = sealed_state(connection, project_id) if last.state else {}
    differences = {
        part: digest for part, digest in now.items() if last.state.get(part, digest) != digest
    }
    pending[project_id] = Pending(last, differences, made)


def forget_seal(connection: Connection, project_id: int) -> None:
    """Seal nothing of a project, because it is deleted."""
    pending_seals(connection).pop(project_id, None)


def seal_new_labels(
    connection: Connection, project_id: int, change: int, sums: tuple[int, int]
) -> None:
    """Note the labels of an import, which all belong to the record of its change."""
    add_sums(pending_seals(connection)[project_id].labels, {change: sums})


def seal_new_details(connection: Connection, project_id: int, change: int) -> None:
    """Note the details of answers that an import has stored."""
    sums = seal_sums_of_details(connection, project_id, AnswerDetail.change_id == change)
    add_sums(pending_seals(connection)[project_id].details, sums)


def seal_erased_details(connection: Connection, project_id: int, names: Iterable[int]) -> None:
    """Note the details of answers under some names, which are about to be deleted."""
    of_names = AnswerDetail.given_as.in_(list(names))
    sums = seal_sums_of_details(connection, project_id, of_names)
    add_sums(pending_seals(connection)[project_id].details, sums, -1)


def seal_new_items(
    connection: Connection, project_id: int, first: int, number: int, names: Any
) -> None:
    """Note new items, numbered from ``first`` on; the names are bytes with NUL between them.

    They need not be read again to be sealed, unless there are items that were not noted.
    """
    pending = pending_seals(connection)[project_id]
    if first == pending.last.items + pending.named + 1:
        pending.named += number
        pending.names.update(names)
        pending.names.update(b"\0")


def seal_changed_items(
    connection: Connection, project_id: int, part: Literal["attributes", "item_aliases"]
) -> None:
    """Note that attributes of items, or their other keys, may have changed."""
    pending_seals(connection)[project_id].changed.add(part)


@contextmanager
def seal_moved_labels(
    connection: Connection, project_id: int, column: str, values: Iterable[int]
) -> Iterator[None]:
    """Note the changes inside the block to labels with some values in a column."""
    values = list(values)
    labels = pending_seals(connection)[project_id].labels
    add_sums(labels, seal_sums_of_labels(connection, project_id, column, values), -1)
    yield
    add_sums(labels, seal_sums_of_labels(connection, project_id, column, values))
