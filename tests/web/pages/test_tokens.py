"""Tokens in a browser: made with a secret that is shown once, revoked; one's own, or all."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from fastapi.testclient import TestClient

from tests.filled import FillOnce
from tests.web.hostile import HOSTILE
from tests.web.people import PASSWORD, ROLES, acting, browser_at
from tests.web.reading import read
from tracker.ledger import Ledger

Reader = Callable[[str], TestClient]


def _fill(ledger: Ledger) -> None:
    ledger.projects.create("p")
    for role in ROLES:
        ledger.users.add(role, role, password=PASSWORD)
    ledger.tokens.add("nightly", "viewer", "manager")


@pytest.fixture
def peopled(sqlite_ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """A ledger with a user of each role, and a manager's token."""
    return fill_once(sqlite_ledger, _fill)


@pytest.fixture
def reader(peopled: Ledger) -> Iterator[Reader]:
    """What gives a browser in which a user has signed in."""
    with browser_at(peopled) as browser:
        yield partial(acting, browser)


@pytest.mark.parametrize("role", ROLES)
def test_the_secret_of_a_new_token_is_shown_once_and_works(
    reader: Reader, peopled: Ledger, role: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    browser = reader(role)
    own = read(browser, browser.get("/").headers.get("location", "/")).to("Tokens")
    assert own == "/tokens"
    made = browser.post(own, data={"name": "ci", "role": role, "user": role, "expires": "90d"})
    assert made.status_code == 200
    secret = made.text.partition("<code>")[2].partition("</code>")[0]
    use = peopled.tokens.use(secret)
    assert use is not None
    assert (use.user.name, use.role) == (role, role)
    assert made.text.count(secret) == 1
    assert made.headers["cache-control"] == "no-store"
    assert secret not in browser.get(own).text
    assert secret not in caplog.text
    (row,) = (row for row in read(browser, own).rows if row[0] == "ci")
    assert row[1:3] == [role, role]


def test_a_token_does_no_more_than_its_user_may(reader: Reader, peopled: Ledger) -> None:
    browser = reader("viewer")
    assert "manager" not in browser.get("/tokens").text
    for form, words in (
        ({"name": "ci", "role": "manager"}, "a token may do no more"),
        ({"name": "nightly", "role": "viewer"}, "exists"),
        ({"name": "ci", "role": "viewer", "expires": "soon"}, "expires &#39;soon&#39; is no time"),
    ):
        refused = browser.post("/tokens", data=form)
        assert refused.status_code == 422
        assert words in refused.text
        assert f'value="{form["name"]}"' in refused.text
    browser.post("/tokens", data={"name": "ci", "role": "viewer", "user": "admin"})
    assert {(token.name, token.user) for token in peopled.tokens.list()} == {
        ("nightly", "manager"), ("ci", "viewer")}  # fmt: skip


def test_one_sees_and_revokes_ones_own_and_an_administrator_all(
    reader: Reader, peopled: Ledger
) -> None:
    browser = reader("viewer")
    assert "nightly" not in browser.get("/tokens").text
    refused = browser.post("/tokens/nightly/revoke")
    assert refused.status_code == 404
    assert len(peopled.tokens.list()) == 1
    browser = reader("admin")
    browser.post("/tokens", data={"name": "ci", "role": "viewer", "user": "viewer"})
    assert [row[:2] for row in read(browser, "/tokens").rows[1:]] == [
        ["ci", "viewer"], ["nightly", "manager"]]  # fmt: skip
    assert browser.post("/tokens/nightly/revoke").status_code == 303
    browser = reader("viewer")
    assert browser.post("/tokens/ci/revoke").status_code == 303
    assert peopled.tokens.list() == []


def test_a_token_makes_no_tokens(peopled: Ledger) -> None:
    secret = peopled.tokens.add("weak", "viewer", "manager").secret
    with browser_at(peopled) as program:
        program.headers["authorization"] = f"Bearer {secret}"
        refused = program.post("/tokens", data={"name": "strong", "role": "manager"})
    assert refused.status_code == 422
    assert "a token makes no other tokens" in refused.text
    assert len(peopled.tokens.list()) == 2


def test_names_are_texts_and_nothing_else(reader: Reader, peopled: Ledger) -> None:
    browser = reader("manager")
    for name in HOSTILE:
        browser.post("/tokens", data={"name": name, "role": "viewer"})
    text = browser.get("/tokens").text
    assert not [name for name in HOSTILE if "<" in name and name in text]
    assert {*HOSTILE} <= {row[0] for row in read(browser, "/tokens").rows}
    assert len(peopled.tokens.list()) == 1 + len(HOSTILE)


def test_without_users_there_is_nobody_to_act_for(client: TestClient) -> None:
    assert "A new token" not in read(client, "/tokens").text
