"""Signing in at a service: a provider on a port of this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient
from joserfc.jwk import RSAKey

from tests.web.people import AT, PAGE, PASSWORD
from tests.web.provider import CLIENT, SECRET, Provider, provided
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.web.app import create_app
from tracker.web.sign_in import Access, Oidc, checked_service, names_of

ADA = {"sub": "1", "preferred_username": "ada", "email": "ada@x.example", "email_verified": True}


@pytest.fixture(scope="module")
def serving() -> Iterator[Provider]:
    with provided() as provider:
        yield provider


@pytest.fixture
def provider(serving: Provider) -> Provider:
    serving.claims, serving.wrong, serving.signs_with = dict(ADA), {}, None
    return serving


@pytest.fixture
def browser(ledger: Ledger, provider: Provider) -> Iterator[TestClient]:
    """A browser at a server at which ada is a user."""
    ledger.projects.create("p")
    ledger.users.add("ada", "admin", password=None)
    service = Oidc(provider.issuer, CLIENT, SECRET)
    app = create_app(ledger, access=Access(at_this_machine=False, oidc=service))
    with TestClient(app, base_url=AT, headers=PAGE, follow_redirects=False) as browser:
        yield browser


def there_and_back(browser: TestClient, onward: str = "") -> str:
    """Where the service sends a browser back to, once somebody has signed in there."""
    sent = browser.get("/sign-in/oidc", params={"next": onward})
    assert sent.status_code == 302, sent.text
    back = httpx.get(sent.headers["location"]).headers["location"]
    assert back.startswith(f"{AT}/sign-in/oidc/back?")
    return str(back)


def test_a_user_signs_in_there_and_comes_to_the_requested_page(browser: TestClient) -> None:
    query = parse_qs(urlsplit(browser.get("/sign-in/oidc").headers["location"]).query)
    assert query["code_challenge_method"] == ["S256"]
    assert min(len(query[name][0]) for name in ("state", "nonce", "code_challenge")) >= 20
    assert SECRET not in str(query)
    assert "/sign-in/oidc?next=%2Fprojects%2Fp" in browser.get("/sign-in?next=/projects/p").text
    answer = browser.get(there_and_back(browser, "/projects/p"))
    assert (answer.status_code, answer.headers["location"]) == (303, "/projects/p")
    assert browser.get("/projects/p").status_code == 200


def test_a_stranger_becomes_a_user_only_if_the_server_has_a_role_for_new_ones(
    browser: TestClient, provider: Provider, ledger: Ledger
) -> None:
    provider.claims |= {"sub": "2", "preferred_username": "eve", "email": "eve@x.example"}
    answer = browser.get(there_and_back(browser))
    assert answer.status_code == 403
    assert "You are not a user here" in answer.text
    assert browser.get("/").status_code == 303
    state = browser.app.state  # type: ignore[attr-defined]
    state.oidc = replace(state.oidc, new_role="viewer")
    assert browser.get(there_and_back(browser)).status_code == 303
    assert ledger.users.show("eve").role == "viewer"


def test_a_user_with_a_password_signs_in_there_once_an_admin_removed_it(
    browser: TestClient, ledger: Ledger
) -> None:
    state = browser.app.state  # type: ignore[attr-defined]
    state.oidc = replace(state.oidc, new_role="viewer")
    for password, status in ((PASSWORD, 403), (None, 303), (PASSWORD, 303)):
        ledger.users.set_password("ada", password)
        assert browser.get(there_and_back(browser)).status_code == status
    kinds = [act.kind for act in ledger.users.log(4).changes]
    assert kinds == ["set password", "link user", "remove password", "set password"]


def test_tokens_for_others_or_of_another_key_are_refused(
    browser: TestClient, provider: Provider
) -> None:
    for wrong in ({"nonce": "of another"}, {"aud": "another"}, {"iss": "https://evil.example"},
                  {"exp": 1}):  # fmt: skip
        provider.wrong = wrong
        assert browser.get(there_and_back(browser)).status_code == 403, wrong
        assert browser.get("/").status_code == 303
    provider.wrong, provider.signs_with = {}, RSAKey.generate_key(2048, {"kid": "k"})
    assert browser.get(there_and_back(browser)).status_code == 403


def test_a_sign_in_that_did_not_begin_here_is_refused(
    browser: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        back = there_and_back(browser)
        assert browser.get(back.replace("state=", "state=x")).status_code == 403
        browser.cookies.clear()
        assert browser.get(back).status_code == 403
    assert "failed" in caplog.text
    assert SECRET not in caplog.text
    state = browser.app.state  # type: ignore[attr-defined]
    state.oidc = replace(state.oidc, issuer="http://127.0.0.1:1")
    answer = browser.get("/sign-in/oidc")
    assert answer.status_code == 502
    assert "did not work" in answer.text


def test_names_and_services_are_checked() -> None:
    assert names_of(ADA) == ["ada", "ada@x.example"]
    assert names_of(ADA | {"email_verified": "true"}) == ["ada"]
    assert names_of({"sub": "1", "preferred_username": 7, "email": " "}) == []
    assert checked_service(None, None, "s", None) is None
    for half in (("https://x", None, None, None), (None, "id", None, None),
                 ("http://x.example", "id", None, None), ("https://x", "id", None, "owner"),
                 (None, None, None, "viewer")):  # fmt: skip
        with pytest.raises(InvalidOption):
            checked_service(*half)
