"""Webhooks: addresses that receive events."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Response

from tracker.core.operations import LARGEST
from tracker.web.api.bodies.records import AddedWebhook, Webhook, Webhooks, WebhookTest
from tracker.web.api.bodies.requests import NewWebhook
from tracker.web.api.routing import Answer, reads, resource, stores_nothing, writes
from tracker.web.identity import Role

router = resource("hooks")

Number = Annotated[int, Path(description="The webhook's number.", ge=1, le=LARGEST)]


@router.get("/webhooks", **reads("listWebhooks", Webhooks, Role.ADMIN))
def list_webhooks(answer: Answer) -> Response:
    """Return the webhooks, with how many messages wait or were given up; `tracker webhook list`."""
    return answer.done({"webhooks": [one.to_dict() for one in answer.ledger.webhooks.list()]})


@router.post("/webhooks", status_code=201, **writes("addWebhook", AddedWebhook, Role.ADMIN))
def add_webhook(answer: Answer, sent: NewWebhook) -> Response:
    """Add a webhook; `tracker webhook add URL`.

    The secret that its messages are signed with is in this answer, and is not shown again.
    """
    return answer.done(answer.ledger.webhooks.add(**sent.model_dump()).to_dict(), 201)


@router.post("/webhooks/{number}/test", **writes("testWebhook", WebhookTest, Role.ADMIN))
@stores_nothing
def test_webhook(answer: Answer, number: Number) -> Response:
    """Send a webhook a message now, and say whether it arrived; `tracker webhook test N`."""
    fault = answer.ledger.webhooks.test(number)
    return answer.done({"webhook": number, "arrived": fault is None, "fault": fault})


@router.delete("/webhooks/{number}", **writes("removeWebhook", Webhook, Role.ADMIN))
def remove_webhook(answer: Answer, number: Number) -> Response:
    """Remove a webhook with the messages that wait for it; `tracker webhook remove N`."""
    return answer.done(answer.ledger.webhooks.remove(number).to_dict())
