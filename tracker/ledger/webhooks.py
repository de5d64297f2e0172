"""`ledger.webhooks`: addresses that receive events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from tracker.core.operations import Option, operation
from tracker.ledger.namespace import Namespace
from tracker.render.blocks import PAGE, Column, listing_table

if TYPE_CHECKING:
    from tracker.gate.evaluate import GateResult
    from tracker.sync.webhooks import NewWebhook, Sent, TriedWebhook, WebhookInfo

_ONE = "/webhooks/{number}"
_TOLD = ("check", "question", "measure", "category", "threshold", "value", "bound", "undefined")
"""What a message has of a check: its figures, and no annotator's name."""
EVENTS = (
    "snapshot_taken", "finding_raised", "gate_failed", "goal_reached", "annotator_paused",
    "assignments_late", "round_done",
)  # fmt: skip
COLUMNS = (
    Column("webhook", kind="name"), Column("project", none="all"),
    Column("url", "address", faces=PAGE), Column("events"),
    Column("delivered_at", "last delivery", "minute", none="-"),
    Column("waiting", kind="count"), Column("given_up", kind="count"),
    Column("fault", faces=PAGE, rare=True),
)  # fmt: skip
Number = Annotated[int, Option("The webhook's number.", metavar="WEBHOOK", least=1)]


def webhook_rows(webhooks: Sequence[WebhookInfo]) -> list[dict[str, Any]]:
    """Return a row each, the events in one cell."""
    return [webhook.to_dict() | {"events": " ".join(webhook.events)} for webhook in webhooks]


def _view(webhooks: Sequence[WebhookInfo]) -> Iterator[Any]:
    yield listing_table(COLUMNS, webhook_rows(webhooks))
    yield from (f"webhook {webhook.id} at {webhook.url}" for webhook in webhooks)
    yield from (f"webhook {webhook.id}: {webhook.fault}" for webhook in webhooks if webhook.fault)


class Webhooks(Namespace):
    """The webhooks of a database, each known by its number."""

    @operation("webhook add", "POST /webhooks", "addWebhook", role="admin", status=201)
    def add(
        self,
        url: Annotated[
            str,
            Option(
                "Where messages are sent.", longest=2000, examples=("https://example.org/hook",)
            ),
        ],
        events: Annotated[
            Sequence[str],
            Option(
                f"What it is told of: {', '.join(EVENTS)} (repeatable).",
                name="event",
                metavar="|".join(EVENTS), word=False,
                examples=("snapshot_taken",),
            ),
        ],
        *,
        project: Annotated[
            str | None, Option("Only of this project; else of all.", short="-p")
        ] = None,
        allow_private: Annotated[bool, Option("The address may be in a private network.")] = False,
    ) -> NewWebhook:  # fmt: skip
        """Add a webhook, and tell the secret that its messages are signed with, this once.

        `tracker serve` delivers the messages; without it, run `tracker webhook deliver` by cron.

        Raises InvalidOption for an address or an event that is none, and for an address that is
        not public.

        Examples:
        - `tracker webhook add https://example.org/hook --event snapshot_taken`
        - `tracker webhook add https://example.org/x --event gate_failed -p reviews`

        Next: `tracker webhook test 1`
        """
        from tracker.projects.projects import find_project
        from tracker.sync.webhooks import add_webhook, check_address

        check_address(url, allow_private=allow_private)
        with self._ledger.database.write() as connection:
            info = None if project is None else find_project(connection, project)
            return add_webhook(connection, url, events, info, allow_private=allow_private)

    @operation(
        "webhook list", "GET /webhooks", "listWebhooks", role="admin",
        listing="webhooks", rows=lambda webhooks, _: webhook_rows(webhooks),
        view=lambda webhooks, _: _view(webhooks), kept=False,
    )  # fmt: skip
    def list(self) -> Sequence[WebhookInfo]:
        """List the webhooks, with the messages that wait for each or were given up after a day.

        Example:
        - `tracker webhook list`

        Next: `tracker webhook remove 1`
        """
        from tracker.sync.webhooks import list_webhooks

        if self._ledger.is_missing:
            return []
        with self._ledger.database.read() as connection:
            return list_webhooks(connection)

    @operation(
        "webhook test", f"POST {_ONE}/test", "testWebhook", role="admin", stores=False,
    )  # fmt: skip
    def test(self, number: Number) -> TriedWebhook:
        """Send a webhook a message now, and say whether it arrived; exits with 1 if not.

        Example:
        - `tracker webhook test 1`

        Next: `tracker webhook list`
        """
        from tracker.sync.webhooks import try_webhook

        return try_webhook(self._ledger.database, number)

    @operation(
        "webhook remove", f"DELETE {_ONE}", "removeWebhook", role="admin",
        view=lambda webhook, _: [f"webhook {webhook.id} is removed: {webhook.url}"],
    )  # fmt: skip
    def remove(self, number: Number) -> WebhookInfo:
        """Remove a webhook; messages that wait for it are not sent.

        Example:
        - `tracker webhook remove 1`

        Next: `tracker webhook list`
        """
        from tracker.sync.webhooks import remove_webhook

        with self._ledger.database.write() as connection:
            return remove_webhook(connection, number)

    @staticmethod
    def is_signed(secret: str, name: str, sent_at: str, body: bytes, signature: str) -> bool:
        """Return whether a message that came was signed with a secret, some minutes ago at most.

        ``name`` is what the sender calls the message, ``sent_at`` seconds since 1970.
        """
        from tracker.sync.webhooks import is_signed

        return is_signed(secret.encode(), name, sent_at, body, signature)

    @operation("webhook deliver", None, "deliverMessages")
    def deliver(self) -> Sent:
        """Send the messages that are due, as `tracker serve` does by itself.

        Before that, it looks for assignments that became late, of which webhooks are to be told.
        One that does not arrive is sent again later, less and less often, for a day.

        Example:
        - `tracker webhook deliver`

        Next: `tracker webhook list`
        """
        from tracker.work.events import tell_of_late

        if not self._ledger.is_missing:
            tell_of_late(self._ledger.database)
        return self.send()

    def send(self) -> Sent:
        """Send the messages that are due."""
        from tracker.sync.webhooks import Sent, deliver_messages

        return Sent(0, 0, 0) if self._ledger.is_missing else deliver_messages(self._ledger.database)

    def tell_of_gate(self, gate_result: GateResult) -> None:
        """Tell the webhooks of a gate that failed; nothing of one that did not."""
        from tracker.sync.events import is_heard, tell_webhooks

        with self._ledger.reading(gate_result.project) as (connection, project):
            if not gate_result.failed or not is_heard(connection, "gate_failed", project.id):
                return
        payload = gate_result.to_dict()
        failed = [check for check in payload["checks"] if check["passed"] is False]
        data = {
            "project": gate_result.project, "config": payload["config"],
            "failed": [check["check"] for check in failed],
            "checks": [{name: check.get(name) for name in _TOLD} for check in failed],
        }  # fmt: skip
        with self._ledger.writing(gate_result.project) as (connection, project):
            tell_webhooks(connection, project.id, "gate_failed", data)
