"""Signing in at a service, which is there: a provider on a port of this machine."""

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
    with provided() as found:
        yield found


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
    with TestClient(app, base_url=AT, headers=PAGE, follow_redirects=False) as found:
        yield found


def there_and_back(browser: TestClient, onward: str = "") -> str:
    """Where the service sends a browser back to, once somebody has signed in there."""
    sent = browser.get("/sign-in/oidc", params={"next": onward})
    assert sent.status_code == 302, sent.text
    back = httpx.get(sent.headers["location"]).headers["location"]
    assert back.startswith(f"{AT}/sign-in/oidc/back?")
    return str(back)


def test_a_user_signs_in_there_and_comes_to_the_page_they_asked_for(browser: TestClient) -> None:
    assert "/sign-in/oidc?next=%2Fprojects%2Fp" in browser.get("/sign-in?next=/projects/p").text
    answer = browser.get(there_and_back(browser, "/projects/p"))
    assert (answer.status_code, answer.headers["location"]) == (303, "/projects/p")
    assert browser.get("/projects/p").status_code == 200


def test_it_asks_with_a_challenge_a_state_and_a_nonce(browser: TestClient) -> None:
    asked = parse_qs(urlsplit(browser.get("/sign-in/oidc").headers["location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert min(len(asked[name][0]) for name in ("state", "nonce", "code_challenge")) >= 20
    assert SECRET not in str(asked)


def test_who_is_no_user_stays_outside(browser: TestClient, provider: Provider) -> None:
    provider.claims |= {"sub": "2", "preferred_username": "eve", "email": "eve@x.example"}
    answer = browser.get(there_and_back(browser))
    assert answer.status_code == 403
    assert "You are not a user here" in answer.text
    assert browser.get("/").status_code == 303


def test_a_user_is_made_of_who_is_none_if_the_server_was_told_so(
    browser: TestClient, provider: Provider, ledger: Ledger
) -> None:
    state = browser.app.state  # type: ignore[attr-defined]
    state.oidc = replace(state.oidc, new_role="viewer")
    provider.claims |= {"sub": "2", "preferred_username": "eve"}
    assert browser.get(there_and_back(browser)).status_code == 303
    assert ledger.users.show("eve").role == "viewer"


def test_a_user_with_a_password_is_nobody_from_elsewhere_until_an_admin_removes_it(
    browser: TestClient, ledger: Ledger
) -> None:
    state = browser.app.state  # type: ignore[attr-defined]
    state.oidc = replace(state.oidc, new_role="viewer")
    ledger.users.set_password("ada", PASSWORD)
    assert browser.get(there_and_back(browser)).status_code == 403
    ledger.users.set_password("ada", None)
    assert browser.get(there_and_back(browser)).status_code == 303
    ledger.users.set_password("ada", PASSWORD)
    assert browser.get(there_and_back(browser)).status_code == 303
    whats = [act.kind for act in ledger.users.log(4).changes]
    assert whats == ["set password", "link user", "remove password", "set password"]


WRONG = [{"nonce": "of another"}, {"aud": "another"}, {"iss": "https://evil.example"}, {"exp": 1}]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_token_for_somebody_else_is_refused(
    browser: TestClient, provider: Provider, wrong: dict[str, object]
) -> None:
    provider.wrong = wrong
    answer = browser.get(there_and_back(browser))
    assert answer.status_code == 403
    assert browser.get("/").status_code == 303


def test_a_token_that_another_key_signed_is_refused(
    browser: TestClient, provider: Provider
) -> None:
    provider.signs_with = RSAKey.generate_key(2048, {"kid": "k"})
    assert browser.get(there_and_back(browser)).status_code == 403


def test_who_did_not_begin_here_is_refused(
    browser: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        back = there_and_back(browser)
        assert browser.get(back.replace("state=", "state=x")).status_code == 403
        browser.cookies.clear()
        assert browser.get(back).status_code == 403
    assert "failed" in caplog.text
    assert SECRET not in caplog.text


def test_a_service_that_does_not_answer_is_told(browser: TestClient) -> None:
    state = browser.app.state  # type: ignore[attr-defined]
    state.oidc = replace(state.oidc, issuer="http://127.0.0.1:1")
    answer = browser.get("/sign-in/oidc")
    assert answer.status_code == 502
    assert "did not work" in answer.text


def test_an_address_counts_if_it_was_checked() -> None:
    assert names_of(ADA) == ["ada", "ada@x.example"]
    assert names_of(ADA | {"email_verified": "true"}) == ["ada"]
    assert names_of({"sub": "1", "preferred_username": 7, "email": " "}) == []


def test_half_a_service_is_none() -> None:
    assert checked_service(None, None, "s", None) is None
    for given in (("https://x", None, None, None), (None, "id", None, None),
                  ("http://x.example", "id", None, None), ("https://x", "id", None, "owner"),
                  (None, None, None, "viewer")):  # fmt: skip
        with pytest.raises(InvalidOption):
            checked_service(*given)
