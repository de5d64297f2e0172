"""The webhooks of a project in a browser: added with a secret shown once, tried, removed."""

from __future__ import annotations

import logging

import pytest
from fastapi.testclient import TestClient

from tests.filled import FillOnce
from tests.sync.listener import listening
from tests.web.people import PASSWORD
from tests.web.reading import read
from tracker.ledger import Ledger

AT = "/projects/p/webhooks"


def _fill(ledger: Ledger) -> None:
    ledger.projects.create("p")
    ledger.projects.create("q")
    ledger.users.add("admin", "admin", password=PASSWORD)


@pytest.fixture
def peopled(sqlite_ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """A ledger with two projects and an administrator."""
    return fill_once(sqlite_ledger, _fill)


def test_a_webhook_is_added_and_tried(
    admin: TestClient, peopled: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    link = "Webhooks: who is told of this project's events"
    assert read(admin, "/projects/p/settings").to(link) == AT
    for form, words in (
        ({"url": "moon", "event": "gate_failed"}, "is no address of a webhook"),
        ({"url": "https://x.test", "event": "moon"}, "there is no event"),
        ({"url": "https://x.test"}, "no event is named"),
        ({"url": "http://127.0.0.1/<b>", "event": "gate_failed"}, "to allow it: allow private"),
    ):
        refused = admin.post(AT, data=form)
        assert (refused.status_code, words in refused.text) == (422, True)
        assert "<b>" not in refused.text
        assert "A new webhook" in refused.text
    assert peopled.webhooks.list() == []
    with listening() as listener:
        events = ["gate_failed", "snapshot_taken"]
        form = {"url": listener.url, "event": events, "allow_private": "true"}
        added = admin.post(AT, data=form)
        assert added.status_code == 200
        secret = added.text.partition("<code>")[2].partition("</code>")[0]
        assert secret.startswith("whsec_")
        assert added.text.count(secret) == 1
        assert secret not in admin.get(AT).text + caplog.text
        (webhook,) = peopled.webhooks.list()
        assert (webhook.project, webhook.events) == ("p", ("gate_failed", "snapshot_taken"))
        row = read(admin, AT).rows[1]
        assert row[:5] == ["1", "p", listener.url, "gate_failed snapshot_taken", "-"]
        assert "Webhook 1 has got a message" in admin.post(f"{AT}/1/test").text
        listener.status = 500
        assert "Webhook 1: it answered 500" in admin.post(f"{AT}/1/test").text
        assert len(listener.got) == 2


def test_webhooks_of_the_project_are_removed(admin: TestClient, peopled: Ledger) -> None:
    for project in ("p", "q", None):
        peopled.webhooks.add("https://x.test", ["gate_failed"], project=project)
    assert [row[1] for row in read(admin, AT).rows[1:]] == ["p", "all"]
    for act in ("test", "remove"):
        assert admin.post(f"{AT}/2/{act}").status_code == 404
    assert admin.post(f"{AT}/1/remove").status_code == 303
    assert [webhook.project for webhook in peopled.webhooks.list()] == ["q", None]
