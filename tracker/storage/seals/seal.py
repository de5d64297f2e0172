"""Seals made at the end of a transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, func, insert, select

from tracker.core import clock
from tracker.storage.schema import Item, Seal
from tracker.storage.seals.digests import (
    attribute_digest,
    change_rows,
    digest_of,
    import_rows,
    item_names,
    label_sums,
    source_rows,
    state_of,
    touched_rows,
)
from tracker.storage.seals.pending import Pending, pending, start


def seal_digest(before: str, seal: Mapping[str, Any]) -> str:
    """Return the digest of a seal, in hexadecimal (SHA-256), chained to the one before."""
    names = ("id", "through_change", "sealed_at", "found", "added", "state")
    text = json.dumps([before, *(seal[name] for name in names)], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def finish(connection: Connection) -> None:
    """Seal every project that the transaction changed, as it is now."""
    for project_id, noted in pending(connection).items():
        state = state_of(connection, project_id)
        if state:
            _seal(connection, project_id, noted, state)
    start(connection)


def _seal(
    connection: Connection, project_id: int, noted: Pending, state: Mapping[str, str]
) -> None:
    last = noted.last
    changes = change_rows(connection, project_id, last.through_change)
    if not changes and state == last.state:
        return
    through, moment = (changes[-1][0], changes[-1][2]) if changes else (last.through_change, 0)
    row = {
        "id": last.id + 1,
        "through_change": through,
        "sealed_at": max(moment, clock.now()),
        "found": _text(noted.found),
        "added": _text(_added(connection, project_id, noted, changes)),
        "state": _text(state),
    }
    row["digest"] = seal_digest(last.digest, row)
    connection.execute(insert(Seal).values(project_id=project_id, **row))


def _added(
    connection: Connection, project_id: int, noted: Pending, changes: list[list[Any]]
) -> dict[str, Any]:
    """Return the rows added since the seal before, or all rows if there was none."""
    last = noted.last
    first = last.id == 0 and not noted.made
    labels = label_sums(connection, project_id) if first else noted.labels
    highest = select(func.max(Item.id)).where(Item.project_id == project_id)
    items = connection.scalar(highest) or 0
    added: dict[str, Any] = {"changes": digest_of(changes), "items": items}
    if changes:
        for name, rows in _BY_CHANGE.items():
            added[name] = digest_of(rows(connection, project_id, last.through_change))
    if items > last.items:
        names = noted.names_of(items)
        added["names"] = names or item_names(connection, project_id, [last.items, items])[0]
    if labels:
        added["labels"] = {str(change): list(sums) for change, sums in sorted(labels.items())}
    if first or noted.attributes:
        added["attributes"] = attribute_digest(connection, project_id)
    return added


_BY_CHANGE = {"imports": import_rows, "sources": source_rows, "touched": touched_rows}


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
