"""Checks before all routes: other sites' pages, foreign host names, tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.web.people import AT, PASSWORD, browser_at, signed_in
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.web.app import create_app
from tracker.web.sign_in import checked_access


@pytest.fixture
def local(ledger: Ledger) -> Iterator[TestClient]:
    """A browser at a server without users, at the same machine."""
    app = create_app(ledger)
    with TestClient(app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 5000)) as browser:
        yield browser


@pytest.fixture
def ada(ledger: Ledger) -> Iterator[TestClient]:
    """A browser in which an administrator has signed in."""
    ledger.users.add("ada", "admin", password=PASSWORD)
    with browser_at(ledger) as browser:
        yield signed_in(browser, "ada")


def test_without_users_this_machine_alone_may_ask(local: TestClient, ledger: Ledger) -> None:
    """A page of a foreign name may ask for all that is of its own name (DNS rebinding)."""
    for host in ("127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000",
                 "tracker.localhost:1", "127.1.2.3"):  # fmt: skip
        assert local.get("/", headers={"host": host}).status_code == 200, host
    for host in ("evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example",
                 "10.0.0.1", "", "localhost@evil.example", "0.0.0.0:8000",
                 "2130706433"):  # fmt: skip
        for path in ("/", "/api/v1/projects", "/events"):
            assert local.get(path, headers={"host": host}).status_code == 403, host
    for path in ("/api/v1/imports/", "/api/v1/projects/", "/search/", "/static"):
        answer = local.get(path, headers={"host": "localhost"}, follow_redirects=False)
        assert answer.status_code == 404
        assert "location" not in answer.headers, "a slash too many leads to no other host"
    for address, status in (("192.0.2.7", 403), ("::1", 200), ("2001:db8::1", 403)):
        with TestClient(local.app, base_url="http://127.0.0.1", client=(address, 1)) as browser:
            assert browser.get("/").status_code == status, "through a proxy"
    assert local.get("/api/v1/projects").status_code == 200
    ledger.users.add("ada", "admin", password=PASSWORD)
    assert local.get("/api/v1/projects").status_code == 401, "the first user closes it"


def test_only_pages_of_our_own_change_anything(local: TestClient, ledger: Ledger) -> None:
    ledger.projects.create("p")
    for headers in (
        {"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"}, {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://localhost:8000", "sec-fetch-site": "cross-site"},
    ):  # fmt: skip
        for path in ("/projects/p/findings/record", "/api/v1/projects/p/gate"):
            assert local.post(path, headers=headers).status_code == 403, headers
    for headers in ({}, {"origin": "http://127.0.0.1:8000"}, {"sec-fetch-site": "same-origin"}):
        answer = local.post("/projects/p/findings/record", headers=headers, follow_redirects=False)
        assert answer.status_code not in {401, 403}, headers


def test_an_unreadable_address_is_refused(ledger: Ledger) -> None:
    ledger.users.add("ada", "admin", password=PASSWORD)
    unfit = {"origin": ["http://["], "hx-current-url": ["http://["],
             "host": ["[", "[::1", "a:b", "a/b?c", "[x]"]}  # fmt: skip
    status = {"origin": 403, "hx-current-url": 401, "host": 400}
    with browser_at(ledger) as browser:
        for name, value in ((name, value) for name, values in unfit.items() for value in values):
            method = "POST" if name == "origin" else "GET"
            headers = {"hx-request": "true", name: value}
            answer = browser.request(method, "/projects/p", headers=headers)
            assert answer.status_code == status[name], value


def test_a_failing_database_is_named_in_the_log_alone(caplog: pytest.LogCaptureFixture) -> None:
    ledger = Ledger("postgresql://keeper:s3cret@127.0.0.1:1/answers")
    with TestClient(create_app(ledger), base_url="http://127.0.0.1") as browser:
        answers = [browser.get(path) for path in ("/", "/api/v1/projects", "/healthz")]
    for answer in answers:
        assert answer.status_code == 503
        for word in ("keeper", "127.0.0.1:1", "answers", "s3cret", "no server"):
            assert word not in answer.text
    assert "the database cannot be used" in answers[1].json()["detail"]
    assert "keeper:***@127.0.0.1:1/answers: no server answers there; check" in caplog.text
    assert "s3cret" not in caplog.text


def test_outside_this_machine_a_server_needs_users(ledger: Ledger) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "tracker.example"):  # noqa: S104
        with pytest.raises(InvalidOption, match="tracker user add"):
            checked_access(ledger, host, secret_key=None)
    assert checked_access(ledger, "localhost", secret_key=None).at_this_machine
    ledger.users.add("ada", "admin", password=PASSWORD)
    assert not checked_access(ledger, "::", secret_key="k" * 32).at_this_machine
    with pytest.raises(InvalidOption, match="TRACKER_SECRET_KEY has 5"):
        checked_access(ledger, "::", secret_key="short")
    with browser_at(ledger, "http://127.0.0.1", address="127.0.0.1") as browser:
        signed_in(browser, "ada")
        ledger.users.remove("ada")  # without users nobody is let in
        assert browser.get("/").status_code == 303
        assert browser.get("/api/v1/projects").status_code == 401


def test_a_token_is_enough_until_it_is_revoked(ledger: Ledger) -> None:
    ledger.projects.create("p")
    ledger.users.add("ada", "admin", password=None)
    secret = ledger.tokens.add("t", "manager", "ada").secret
    headers = {"authorization": f"Bearer {secret}"}
    with browser_at(ledger) as program:
        for way in (f"Bearer {secret}", f"bearer  {secret} "):
            answer = program.get("/api/v1/projects", headers={"authorization": way})
            assert answer.status_code == 200
        recorded = program.post("/projects/p/findings/record", headers=headers)
        assert recorded.status_code not in {401, 403}
        ledger.tokens.revoke("t")
        assert program.get("/api/v1/projects", headers=headers).status_code == 401


def test_a_token_of_a_low_role_is_refused(ledger: Ledger) -> None:
    ledger.projects.create("p")
    for role, mend in (
        ("admin", "make another token: tracker token add NAME --role manager --user admin"),
        ("viewer", "an admin can give it: tracker user set viewer --role manager; then make an"),
    ):
        ledger.users.add(role, role, password=None)
        headers = {"authorization": f"Bearer {ledger.tokens.add(role, 'viewer', role).secret}"}
        with browser_at(ledger) as program:
            refused = program.post("/api/v1/projects/p/archive", headers=headers).json()
        assert refused["detail"] == "this needs the role manager, and the token has viewer"
        assert refused["mend"].startswith(mend)


def test_a_session_does_not_help_a_wrong_token(ada: TestClient) -> None:
    for way in ("Basic YWRhOng=", "Bearer", "Bearer ", "Bearer trk_x", "trk_x", ""):
        answer = ada.get("/api/v1/projects", headers={"authorization": way})
        assert (answer.status_code, answer.json()["status"]) == (401, 401), way
        assert "trk_x" not in answer.text


def test_a_form_with_files_is_taken_from_our_own_page_alone(ada: TestClient) -> None:
    form: dict[str, Any] = {"files": {"file": ("a.csv", b"item,annotator,category\n1,a,x\n")},
                            "data": {"project": "p"}}  # fmt: skip
    for headers in ({}, {"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert ada.post("/imports", headers=headers, **form).status_code == 403
    assert ada.post("/imports", headers={"origin": AT}, **form).status_code == 303
