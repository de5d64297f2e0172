"""The webhooks of a project in a browser: added with a secret shown once, tried, removed."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from tests.filled import FillOnce
from tests.sync.listener import Listener, listening
from tests.web.people import PASSWORD, acting, browser_at
from tests.web.reading import read
from tracker.ledger import Ledger

AT = "/projects/p/webhooks"


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as server:
        yield server


def _fill(ledger: Ledger) -> None:
    ledger.projects.create("p")
    ledger.projects.create("q")
    for role in ("manager", "admin"):
        ledger.users.add(role, role, password=PASSWORD)


@pytest.fixture
def peopled(sqlite_ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """A ledger with two projects, a manager and an administrator."""
    return fill_once(sqlite_ledger, _fill)


def test_a_webhook_is_added_and_its_secret_shown_once(
    admin: TestClient, peopled: Ledger, listener: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    assert read(admin, "/projects/p/settings").to(
        "Webhooks: who is told of this project's events") == AT  # fmt: skip
    form = {"url": listener.url, "event": ["gate_failed", "snapshot_taken"],
            "allow_private": "true"}  # fmt: skip
    added = admin.post(AT, data=form)
    assert added.status_code == 200
    secret = added.text.partition("<code>")[2].partition("</code>")[0]
    assert secret.startswith("whsec_")
    assert added.text.count(secret) == 1
    assert secret not in admin.get(AT).text
    assert secret not in caplog.text
    (webhook,) = peopled.webhooks.list()
    assert (webhook.project, webhook.events) == ("p", ("gate_failed", "snapshot_taken"))
    row = read(admin, AT).rows[1]
    assert row[:5] == ["1", "p", listener.url, "gate_failed snapshot_taken", "-"]


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"url": "moon", "event": "gate_failed"}, "is no address of a webhook"),
        ({"url": "https://x.test", "event": "moon"}, "there is no event"),
        ({"url": "https://x.test"}, "no event is named"),
        ({"url": "http://127.0.0.1/<b>", "event": "gate_failed"}, "to allow it: allow private"),
    ],
)
def test_one_that_cannot_be_is_refused_where_the_form_is(
    admin: TestClient, peopled: Ledger, form: dict[str, str], words: str
) -> None:
    refused = admin.post(AT, data=form)
    assert refused.status_code == 422
    assert words in refused.text
    assert "<b>" not in refused.text
    assert "A new webhook" in refused.text
    assert peopled.webhooks.list() == []


def test_a_test_says_whether_it_arrived(
    admin: TestClient, peopled: Ledger, listener: Listener
) -> None:
    peopled.webhooks.add(listener.url, ["gate_failed"], project="p", allow_private=True)
    assert "Webhook 1 has got a message" in admin.post(f"{AT}/1/test").text
    listener.status = 500
    assert "Webhook 1: it answered 500" in admin.post(f"{AT}/1/test").text
    assert len(listener.got) == 2


def test_the_page_has_the_webhooks_that_are_told_of_the_project(
    admin: TestClient, peopled: Ledger
) -> None:
    for project in ("p", "q", None):
        peopled.webhooks.add("https://x.test", ["gate_failed"], project=project)
    assert [row[1] for row in read(admin, AT).rows[1:]] == ["p", "all"]
    for act in ("test", "remove"):
        assert admin.post(f"{AT}/2/{act}").status_code == 404
    assert admin.post(f"{AT}/1/remove").status_code == 303
    assert [webhook.project for webhook in peopled.webhooks.list()] == ["q", None]
    assert admin.get("/projects/none/webhooks").status_code == 404


def test_a_manager_is_not_shown_them(peopled: Ledger) -> None:
    with browser_at(peopled) as browser:
        acting(browser, "manager")
        assert "Webhooks" not in read(browser, "/projects/p/settings").text
        assert browser.get(AT).status_code == 403
        assert browser.post(AT, data={"url": "https://x.test"}).status_code == 403
