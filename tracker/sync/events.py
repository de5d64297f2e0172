"""Messages stored for the webhooks that receive an event; `tracker.sync.webhooks` sends them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, insert, or_, select

from tracker.core import clock
from tracker.storage.schema import Delivery, Webhook

_hooks = Webhook.__table__
_messages = Delivery.__table__
KEPT = 7 * clock.DAY
"""How long a message is kept that arrived or was given up; but that a goal is reached for ever."""
REACHED = "goal_reached"


def is_heard(connection: Connection, event: str, project_id: int | None = None) -> bool:
    """Return whether a webhook receives an event of a project, or of any."""
    return bool(_hearing(connection, event, project_id))


def _hearing(connection: Connection, event: str, project_id: int | None) -> list[int]:
    statement = select(_hooks.c.id, _hooks.c.events)
    if project_id is not None:
        concerned = or_(_hooks.c.project_id.is_(None), _hooks.c.project_id == project_id)
        statement = statement.where(concerned)
    return [hook for hook, events in connection.execute(statement) if event in events.split()]


def untold_webhooks(
    connection: Connection, project_id: int, event: str, about: Mapping[str, Any]
) -> list[int]:
    """Return the webhooks that receive an event and were not told of it; ``about`` says which."""
    hooks = _hearing(connection, event, project_id)
    told = select(_messages.c.webhook_id, _messages.c.body).where(
        _messages.c.webhook_id.in_(hooks), _messages.c.project_id == project_id,
        _messages.c.event == event,
    )  # fmt: skip
    for hook, body in connection.execute(told) if hooks else ():
        data = json.loads(body)["data"]
        if hook in hooks and about.items() <= {name: data.get(name) for name in about}.items():
            hooks.remove(hook)
    return hooks


def tell_webhooks(
    connection: Connection,
    project_id: int,
    event: str,
    data: Mapping[str, Any],
    once: Sequence[str] = (),
) -> None:
    """Store a message for each webhook that receives an event of a project.

    ``once`` are the fields that say which event it is: nobody is told of one again.
    """
    about = {name: data[name] for name in once}
    hooks = (
        untold_webhooks(connection, project_id, event, about)
        if once
        else _hearing(connection, event, project_id)
    )
    now = clock.now()
    body = {"type": event, "timestamp": clock.iso(now), "data": dict(data)}
    rows = [
        {
            "webhook_id": hook, "project_id": project_id, "event": event,
            "body": json.dumps(body, ensure_ascii=False), "made_at": now, "attempts": 0,
            "next_at": now,
        }
        for hook in hooks
    ]  # fmt: skip
    if rows:
        connection.execute(insert(_messages), rows)
