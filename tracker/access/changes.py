"""The log of users, tokens and webhooks: who did what, and when."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select

from tracker.core import clock
from tracker.storage.database import CHANGED_BY
from tracker.storage.schema import AccessChange


class AccessAct(NamedTuple):
    """One thing that somebody did.

    Attributes:
        at: when, in microseconds since 1970.
        by: who; None for a command, which does not know.
        kind: what, as the log calls it.
        detail: of whom or what.
    """

    at: int
    by: str | None
    kind: str
    detail: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the act as JSON."""
        told = {"at": clock.iso(self.at), "by": self.by, "kind": self.kind}
        return told | {name: self.detail.get(name) for name in ("user", "token", "webhook")}


def record_access_change(connection: Connection, kind: str, **detail: Any) -> None:
    """Add what is done to the log; ``detail`` holds no secret, and no name of an annotator."""
    row = {"made_at": clock.now(), "made_by": connection.info.get(CHANGED_BY), "kind": kind}
    told = json.dumps(detail, ensure_ascii=False, sort_keys=True)
    connection.execute(insert(AccessChange).values(detail=told, **row))


def list_access_changes(connection: Connection, limit: int | None = None) -> list[AccessAct]:
    """Return what was done, the last first."""
    columns = (AccessChange.made_at, AccessChange.made_by, AccessChange.kind, AccessChange.detail)
    rows = connection.execute(select(*columns).order_by(AccessChange.id.desc()).limit(limit))
    return [AccessAct(at, by, kind, json.loads(detail)) for at, by, kind, detail in rows]
