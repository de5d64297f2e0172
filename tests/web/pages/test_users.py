"""Users, tokens and webhooks in a browser: added, changed and removed by those who may."""

from __future__ import annotations

import logging

import pytest
from fastapi.testclient import TestClient

from tests.filled import FillOnce
from tests.helpers import give
from tests.sync.listener import listening
from tests.web.people import PAGE, PASSWORD, acting, browser_at, signed_in
from tests.web.reading import read
from tests.web.test_every_page import HOSTILE
from tracker.ledger import Ledger

NEW = "another long password"


def _fill(ledger: Ledger) -> None:
    give(ledger, [(str(n), who, "ab"[n % 2]) for n in range(4) for who in ("ada", "bob")])
    for name in ("viewer", "admin"):
        ledger.users.add(name, name, password=PASSWORD)
    ledger.users.add("mia", "manager", password=PASSWORD)
    ledger.users.add("ada", "annotator", password=PASSWORD, annotators=["p:ada"])
    ledger.tokens.add("nightly", "viewer", "mia")
    ledger.projects.create("q")


@pytest.fixture
def peopled(sqlite_ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """A ledger with two projects, a user of each role, and a manager's token."""
    return fill_once(sqlite_ledger, _fill)


def refused(browser: TestClient, address: str, form: dict[str, str], words: str) -> None:
    """Check that a form is refused where it stands, with what was filled in but a password."""
    answer = browser.post(address, data=form)
    assert answer.status_code in {404, 422}
    assert words in answer.text.replace("&#39;", "'")
    assert f'value="{form["name"]}"' in answer.text
    assert form.get("password", NEW) not in answer.text


def test_an_administrator_sees_and_adds_users(
    admin: TestClient, peopled: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    assert read(admin, "/").to("Users") == "/users"
    rows = {row[0]: row[1:4] for row in read(admin, "/users").rows[1:]}
    assert rows == {"ada": ["annotator", "yes", "p:ada"], "mia": ["manager", "yes", ""],
                    "admin": ["admin", "yes", ""], "viewer": ["viewer", "yes", ""]}  # fmt: skip
    form = {"name": "bob", "role": "annotator", "password": NEW, "annotators": "p:bob\r\n"}
    assert admin.post("/users", data=form).status_code == 303
    user = peopled.users.show("bob")
    assert (user.role, [*map(str, user.annotators)]) == ("annotator", ["p:bob"])
    assert admin.post("/users", data={"name": "eve", "role": "viewer"}).status_code == 303
    assert not peopled.users.show("eve").has_password
    assert peopled.users.log(1).changes[0].by == "admin"
    for secret in (caplog.text, admin.get("/users").text):
        assert NEW not in secret
    users = len(peopled.users.list())
    for more, words in (
        ({"name": "mia", "role": "viewer", "password": NEW}, "the user 'mia' exists"),
        ({"role": "king", "password": NEW}, "there is no role 'king'"),
        ({"password": "short"}, "the password has 5 characters"),
        ({"annotators": "p:nobody"}, "no annotator 'nobody'"), ({"name": " "}, "name"),
    ):  # fmt: skip
        refused(admin, "/users", {"name": "new", "role": "viewer"} | more, words)
    assert len(peopled.users.list()) == users


def test_users_are_set_and_removed(admin: TestClient, peopled: Ledger) -> None:
    form = {"role": "viewer", "annotators": "p:bob\np:ada"}
    assert admin.post("/users/ada/set", data=form).status_code == 303
    user = peopled.users.show("ada")
    assert (user.role, [*map(str, user.annotators)]) == ("viewer", ["p:ada", "p:bob"])
    admin.post("/users/ada/set", data={"role": "viewer"})
    assert peopled.users.show("ada").annotators == ()
    with browser_at(peopled) as other:
        signed_in(other, "mia")
        assert admin.post("/users/mia/password", data={"password": NEW}).status_code == 303
        assert other.get("/").status_code == 303, "the session is over"
        signed_in(other, "mia", NEW)
    admin.post("/users/mia/password", data={"password": "", "remove": "true"})
    assert not peopled.users.show("mia").has_password
    assert admin.post("/users/mia/remove").status_code == 303
    assert {user.name for user in peopled.users.list()} == {"ada", "admin", "viewer"}
    assert "Remove admin" not in read(admin, "/users").text
    for act, form in (("remove", {}), ("set", {"role": "viewer"})):
        answer = admin.post(f"/users/admin/{act}", data=form)
        assert (answer.status_code, "another administrator can" in answer.text) == (422, True)
    assert peopled.users.show("admin").role == "admin"


def test_names_are_texts(admin: TestClient, peopled: Ledger) -> None:
    for name in HOSTILE:
        for address in ("/users", "/tokens"):
            admin.post(address, data={"name": name, "role": "viewer", "user": "admin"})
    for address in ("/users", "/tokens"):
        text = admin.get(address).text
        assert not [name for name in HOSTILE if "<" in name and name in text]
        assert {*HOSTILE} <= {row[0] for row in read(admin, address).rows}
    assert len(peopled.tokens.list()) == 1 + len(HOSTILE)


def test_without_users_the_page_makes_the_first(client: TestClient, ledger: Ledger) -> None:
    assert "A new token" not in read(client, "/tokens").text
    assert "whoever uses this machine may do everything" in read(client, "/users").text
    form = {"name": "admin", "role": "admin", "password": PASSWORD}
    assert client.post("/users", data=form, headers=PAGE).url.path == "/sign-in"
    assert ledger.users.show("admin").role == "admin"


def test_the_secret_of_a_new_token_is_shown_once_and_works(
    peopled: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with browser_at(peopled) as browser:
        acting(browser, "mia")
        form = {"name": "ci", "role": "viewer", "user": "mia", "expires": "90d"}
        made = browser.post("/tokens", data=form)
        assert made.status_code == 200
        secret = made.text.partition("<code>")[2].partition("</code>")[0]
        use = peopled.tokens.use(secret)
        assert use is not None
        assert (use.user.name, use.role) == ("mia", "viewer")
        assert made.text.count(secret) == 1
        assert made.headers["cache-control"] == "no-store"
        assert secret not in browser.get("/tokens").text
        assert secret not in caplog.text


def test_a_token_does_no_more_than_its_user_may_and_makes_no_others(peopled: Ledger) -> None:
    with browser_at(peopled) as browser:
        acting(browser, "viewer")
        page = browser.get("/tokens").text
        assert "manager" not in page
        assert "nightly" not in page
        assert browser.post("/tokens/nightly/revoke").status_code == 404
        for more, words in (
            ({"role": "manager"}, "a token may do no more"), ({"name": "nightly"}, "exists"),
            ({"expires": "soon"}, "expires 'soon' is no time"),
        ):  # fmt: skip
            refused(browser, "/tokens", {"name": "ci", "role": "viewer"} | more, words)
        browser.post("/tokens", data={"name": "ci", "role": "viewer", "user": "admin"})
        owners = [["ci", "viewer"], ["nightly", "mia"]]
        assert sorted([token.name, token.user] for token in peopled.tokens.list()) == owners
        acting(browser, "admin")
        assert [row[:2] for row in read(browser, "/tokens").rows[1:]] == owners
        assert browser.post("/tokens/nightly/revoke").status_code == 303
        acting(browser, "viewer")
        assert browser.post("/tokens/ci/revoke").status_code == 303
    assert peopled.tokens.list() == []
    secret = peopled.tokens.add("weak", "viewer", "mia").secret
    with browser_at(peopled) as program:
        program.headers["authorization"] = f"Bearer {secret}"
        answer = program.post("/tokens", data={"name": "strong", "role": "manager"})
    assert answer.status_code == 422
    assert "a token makes no other tokens" in answer.text
    assert len(peopled.tokens.list()) == 1


HOOKS = "/projects/p/webhooks"


def test_a_webhook_is_added_and_tried(
    admin: TestClient, peopled: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for form, words in (
        ({"url": "moon", "event": "gate_failed"}, "is no address of a webhook"),
        ({"url": "https://x.test", "event": "moon"}, "there is no event"),
        ({"url": "https://x.test"}, "no event is named"),
        ({"url": "http://127.0.0.1/<b>", "event": "gate_failed"}, "to allow it: allow private"),
    ):
        refused = admin.post(HOOKS, data=form)
        assert (refused.status_code, words in refused.text) == (422, True)
        assert "<b>" not in refused.text
        assert "A new webhook" in refused.text
    assert peopled.webhooks.list() == []
    with listening() as listener:
        events = ["gate_failed", "snapshot_taken"]
        form = {"url": listener.url, "event": events, "allow_private": "true"}
        added = admin.post(HOOKS, data=form)
        assert added.status_code == 200
        secret = added.text.partition("<code>")[2].partition("</code>")[0]
        assert secret.startswith("whsec_")
        assert added.text.count(secret) == 1
        assert secret not in admin.get(HOOKS).text + caplog.text
        (webhook,) = peopled.webhooks.list()
        assert (webhook.project, webhook.events) == ("p", ("gate_failed", "snapshot_taken"))
        row = read(admin, HOOKS).rows[1]
        assert row[:5] == ["1", "p", listener.url, "gate_failed snapshot_taken", "-"]
        assert "Webhook 1 has got a message" in admin.post(f"{HOOKS}/1/test").text
        assert len(listener.got) == 1


def test_webhooks_of_the_project_are_removed(admin: TestClient, peopled: Ledger) -> None:
    for project in ("p", "q", None):
        peopled.webhooks.add("https://x.test", ["gate_failed"], project=project)
    assert [row[1] for row in read(admin, HOOKS).rows[1:]] == ["p", "all"]
    for act in ("test", "remove"):
        assert admin.post(f"{HOOKS}/2/{act}").status_code == 404
    assert admin.post(f"{HOOKS}/1/remove").status_code == 303
    assert [webhook.project for webhook in peopled.webhooks.list()] == ["q", None]
