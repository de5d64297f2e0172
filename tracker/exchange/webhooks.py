"""Webhooks: addresses that receive events, and the messages that wait for them."""

from __future__ import annotations

import json
import secrets
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from sqlalchemy import Connection, Table, delete, func, insert, or_, select

from tracker.access.changes import record_access_change
from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.projects.lookup import near_names
from tracker.projects.project import ProjectInfo
from tracker.storage.schema import EVENTS, Delivery, Project, Webhook

_hooks = cast("Table", Webhook.__table__)
_messages = cast("Table", Delivery.__table__)
_PREFIX = "whsec_"
_LONGEST = 2000


@dataclass(frozen=True)
class WebhookInfo:
    """A webhook, and what became of its messages."""

    id: int
    project: str | None
    url: str
    events: tuple[str, ...]
    allow_private: bool
    created_at: int
    waiting: int = 0
    given_up: int = 0
    fault: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the webhook as JSON, without its secret."""
        return {
            "webhook": self.id, "project": self.project, "url": self.url,
            "events": list(self.events), "allow_private": self.allow_private,
            "created_at": clock.iso(self.created_at), "waiting": self.waiting,
            "given_up": self.given_up, "fault": self.fault,
        }  # fmt: skip


class NewWebhook(NamedTuple):
    """A webhook that was added, and its secret, which is shown once."""

    webhook: WebhookInfo
    secret: str

    def to_dict(self) -> dict[str, Any]:
        """Return the webhook as JSON, with its secret."""
        return self.webhook.to_dict() | {"secret": self.secret}


def add_webhook(
    connection: Connection,
    url: str,
    events: Sequence[str],
    project: ProjectInfo | None,
    *,
    allow_private: bool,
) -> NewWebhook:
    """Store a webhook whose address was checked; raises InvalidOption for an event that is none."""
    chosen = tuple(dict.fromkeys(events))
    if not chosen:
        raise InvalidOption("no event is named", f"one or more of: {', '.join(EVENTS)}")
    for one in chosen:
        if one not in EVENTS:
            mend = near_names(one, EVENTS) or f"one of: {', '.join(EVENTS)}"
            raise InvalidOption(f"there is no event {one!r}", mend)
    secret, now = b64encode(secrets.token_bytes(24)).decode(), clock.now()
    made = insert(_hooks).returning(_hooks.c.id)
    number = connection.execute(
        made.values(
            project_id=None if project is None else project.id, url=url,
            events=" ".join(chosen), secret=secret, allow_private=allow_private, created_at=now,
        )
    ).scalar_one()  # fmt: skip
    record_access_change(connection, "add webhook", webhook=number, host=_host(url))
    name = None if project is None else project.name
    return NewWebhook(WebhookInfo(number, name, url, chosen, allow_private, now), _PREFIX + secret)


def check_address(url: str, *, allow_private: bool) -> None:
    """Raise InvalidOption for an address that is none, and one that would not be asked."""
    from tracker.exchange.posting import leads_to_private

    try:
        parts = urlsplit(url)
        fit = parts.scheme in {"http", "https"} and parts.hostname and parts.username is None
        _ = parts.port
        private = bool(fit) and not allow_private and leads_to_private(url)
    except ValueError:
        fit = private = False
    if not fit or len(url) > _LONGEST or not url.isprintable() or " " in url:
        raise InvalidOption(
            f"{url!r} is no address of a webhook", "such as: https://example.org/hook"
        )
    if private:
        raise InvalidOption(
            f"{_host(url)} leads into a private network", "to allow it: --allow-private"
        )


def _host(url: str) -> str:
    """Return the part of an address that is in the log: the rest of it may be a secret."""
    return urlsplit(url).hostname or ""


def list_webhooks(connection: Connection) -> list[WebhookInfo]:
    """Return all webhooks in the order of their making."""
    counts = (
        select(
            _messages.c.webhook_id,
            func.count(_messages.c.next_at).label("waiting"),
            func.count().label("all"),
            func.count(_messages.c.delivered_at).label("delivered"),
            func.max(_messages.c.fault).label("fault"),
        )
        .group_by(_messages.c.webhook_id)
        .subquery("counts")
    )
    statement = (
        select(
            _hooks, Project.name.label("project"), counts.c.waiting,
            (counts.c.all - counts.c.delivered - counts.c.waiting).label("given_up"),
            counts.c.fault,
        )
        .outerjoin(Project, Project.id == _hooks.c.project_id)
        .outerjoin(counts, counts.c.webhook_id == _hooks.c.id)
        .order_by(_hooks.c.id)
    )  # fmt: skip
    return [
        WebhookInfo(
            row.id, row.project, row.url, tuple(row.events.split()), row.allow_private,
            row.created_at, row.waiting or 0, row.given_up or 0, row.fault,
        )
        for row in connection.execute(statement)
    ]  # fmt: skip


def remove_webhook(connection: Connection, number: int) -> WebhookInfo:
    """Remove a webhook with the messages that wait for it, and return it; raises NotFound."""
    found = next((one for one in list_webhooks(connection) if one.id == number), None)
    if found is None:
        raise NotFound(f"there is no webhook {number}", "see: tracker webhook list")
    connection.execute(delete(_messages).where(_messages.c.webhook_id == number))
    connection.execute(delete(_hooks).where(_hooks.c.id == number))
    record_access_change(connection, "remove webhook", webhook=number, host=_host(found.url))
    return found


def tell_webhooks(
    connection: Connection, project_id: int, event: str, data: Mapping[str, Any]
) -> None:
    """Store a message for each webhook that receives an event of a project."""
    concerned = or_(_hooks.c.project_id.is_(None), _hooks.c.project_id == project_id)
    hooks = connection.execute(select(_hooks.c.id, _hooks.c.events).where(concerned)).all()
    now = clock.now()
    body = {"type": event, "timestamp": clock.iso(now), "data": dict(data)}
    rows = [
        {
            "webhook_id": hook.id, "project_id": project_id, "event": event,
            "body": json.dumps(body, ensure_ascii=False), "made_at": now, "attempts": 0,
            "next_at": now,
        }
        for hook in hooks
        if event in hook.events.split()
    ]  # fmt: skip
    if rows:
        connection.execute(insert(_messages), rows)
