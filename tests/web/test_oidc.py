"""Signing in at a service: a provider on a port of this machine."""

from __future__ import annotations

import hashlib
import logging
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from fastapi import FastAPI, HTTPException, Request
from fastapi.testclient import TestClient
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.web.browsing import running
from tests.web.people import AT, PAGE, PASSWORD
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.web.app import create_app
from tracker.web.sign_in import Access, Oidc, checked_service, names_of

ADA = {"sub": "1", "preferred_username": "ada", "email": "ada@x.example", "email_verified": True}
CLIENT, SECRET = "tracker", "a secret of the client"


@dataclass
class Provider:
    """A small OpenID Connect provider: it describes itself, wants PKCE, and signs its tokens.

    `claims` tell who signs in, `wrong` is what its token gets wrong.
    """

    issuer: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    wrong: dict[str, Any] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "k"}))
    signs_with: RSAKey | None = None
    asked: dict[str, dict[str, str]] = field(default_factory=dict)

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.get("/.well-known/openid-configuration")
        def describe() -> dict[str, Any]:
            return {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/jwks",
                "id_token_signing_alg_values_supported": ["RS256"],
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
            }

        @app.get("/jwks")
        def keys() -> dict[str, Any]:
            return {"keys": [self.key.as_dict(private=False)]}

        app.add_api_route("/token", self._token, methods=["POST"], response_model=None)
        return app

    def sign_in(self, address: str) -> str:
        asked = {name: value for name, (value,) in parse_qs(urlsplit(address).query).items()}
        assert (asked["code_challenge_method"], asked["client_id"]) == ("S256", CLIENT)
        code = f"code {len(self.asked)}"
        self.asked[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    async def _token(self, request: Request) -> dict[str, Any]:
        form = await request.form()
        asked = self.asked.pop(str(form["code"]))
        proof = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
        if urlsafe_b64encode(proof).decode().rstrip("=") != asked["code_challenge"]:
            raise HTTPException(400)
        now = int(time.time())
        told = {
            "iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 60,
            "nonce": asked["nonce"], **self.claims, **self.wrong,
        }  # fmt: skip
        signed = jwt.encode({"alg": "RS256", "kid": "k"}, told, self.signs_with or self.key)
        return {"access_token": "x", "token_type": "Bearer", "expires_in": 60, "id_token": signed}


@pytest.fixture(scope="module")
def serving() -> Iterator[Provider]:
    provider = Provider()
    with running(provider.app()) as provider.issuer:
        yield provider


@pytest.fixture
def provider(serving: Provider) -> Provider:
    serving.claims, serving.wrong, serving.signs_with = dict(ADA), {}, None
    return serving


@pytest.fixture
def browser(ledger: Ledger, provider: Provider) -> Iterator[TestClient]:
    ledger.projects.create("p")
    ledger.users.add("ada", "admin", password=None)
    service = Oidc(provider.issuer, CLIENT, SECRET)
    app = create_app(ledger, access=Access(at_this_machine=False, oidc=service))
    with TestClient(app, base_url=AT, headers=PAGE, follow_redirects=False) as browser:
        yield browser


def there_and_back(browser: TestClient, provider: Provider, onward: str = "") -> str:
    """Where the service sends a browser back to, once somebody has signed in there."""
    sent = browser.get("/sign-in/oidc", params={"next": onward})
    assert sent.status_code == 302, sent.text
    return provider.sign_in(sent.headers["location"])


def test_a_user_signs_in_there_and_comes_to_the_requested_page(
    browser: TestClient, provider: Provider
) -> None:
    query = parse_qs(urlsplit(browser.get("/sign-in/oidc").headers["location"]).query)
    assert min(len(query[name][0]) for name in ("state", "nonce", "code_challenge")) >= 20
    assert SECRET not in str(query)
    assert "/sign-in/oidc?next=%2Fprojects%2Fp" in browser.get("/sign-in?next=/projects/p").text
    answer = browser.get(there_and_back(browser, provider, "/projects/p"))
    assert (answer.status_code, answer.headers["location"]) == (303, "/projects/p")
    assert browser.get("/projects/p").status_code == 200


def test_a_stranger_becomes_a_user_only_if_the_server_has_a_role_for_new_ones(
    browser: TestClient, provider: Provider, ledger: Ledger
) -> None:
    provider.claims |= {"sub": "2", "preferred_username": "eve", "email": "eve@x.example"}
    answer = browser.get(there_and_back(browser, provider))
    assert answer.status_code == 403
    assert "You are not a user here" in answer.text
    assert browser.get("/").status_code == 303
    state = browser.app.state  # type: ignore[attr-defined]
    state.oidc = replace(state.oidc, new_role="viewer")
    assert browser.get(there_and_back(browser, provider)).status_code == 303
    assert ledger.users.show("eve").role == "viewer"


def test_a_user_with_a_password_may_not_sign_in_there(
    browser: TestClient, provider: Provider, ledger: Ledger
) -> None:
    state = browser.app.state  # type: ignore[attr-defined]
    state.oidc = replace(state.oidc, new_role="viewer")
    for password, status in ((PASSWORD, 403), (None, 303), (PASSWORD, 303)):
        ledger.users.set_password("ada", password)
        assert browser.get(there_and_back(browser, provider)).status_code == status
    kinds = [act.kind for act in ledger.users.log(4).changes]
    assert kinds == ["set password", "link user", "remove password", "set password"]


def test_tokens_for_others_or_badly_signed_fail(browser: TestClient, provider: Provider) -> None:
    for wrong in ({"nonce": "of another"}, {"aud": "another"}, {"iss": "https://evil.example"},
                  {"exp": 1}):  # fmt: skip
        provider.wrong = wrong
        assert browser.get(there_and_back(browser, provider)).status_code == 403, wrong
        assert browser.get("/").status_code == 303
    provider.wrong, provider.signs_with = {}, RSAKey.generate_key(2048, {"kid": "k"})
    assert browser.get(there_and_back(browser, provider)).status_code == 403


def test_a_sign_in_that_did_not_begin_here_is_refused(
    browser: TestClient, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        back = there_and_back(browser, provider)
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
