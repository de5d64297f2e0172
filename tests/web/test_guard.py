"""What stands before all routes: other sites' pages, names that are not ours, tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import Request
from fastapi.testclient import TestClient
from sqlalchemy import select

from tests.web.people import AT, PASSWORD, browser_at, form_token, signed_in
from tests.web.test_app import ANSWERS
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.storage.schema import Change
from tracker.web.app import create_app
from tracker.web.request import asked_of
from tracker.web.sign_in import checked_access


@pytest.fixture
def local(ledger: Ledger) -> Iterator[TestClient]:
    """A browser at a server without users, at the same machine."""
    app = create_app(ledger)
    with TestClient(app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 5000)) as found:
        yield found


def test_without_users_this_machine_may_ask_by_its_own_names(local: TestClient) -> None:
    for host in ("127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000",
                 "tracker.localhost:1", "127.1.2.3"):  # fmt: skip
        assert local.get("/", headers={"host": host}).status_code == 200, host


def test_without_users_a_name_that_leads_here_reads_nothing(local: TestClient) -> None:
    """A page of such a name may ask for all that is of its own name (DNS rebinding)."""
    for host in ("evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example",
                 "10.0.0.1", "", "localhost@evil.example", "0.0.0.0:8000",
                 "2130706433"):  # fmt: skip
        for path in ("/", "/api/v1/projects", "/events"):
            assert local.get(path, headers={"host": host}).status_code == 403, host


def test_another_sites_page_changes_nothing_and_our_own_does(
    local: TestClient, ledger: Ledger
) -> None:
    ledger.projects.create("p")
    for told in (
        {"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"}, {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://localhost:8000", "sec-fetch-site": "cross-site"},
    ):  # fmt: skip
        for path in ("/projects/p/findings/record", "/api/v1/projects/p/gate"):
            assert local.post(path, headers=told).status_code == 403, told
    own = ({}, {"origin": "http://127.0.0.1:8000"}, {"sec-fetch-site": "same-origin"})
    for told in own:
        answer = local.post("/projects/p/findings/record", headers=told, follow_redirects=False)
        assert answer.status_code not in {401, 403}, told


@pytest.mark.parametrize(
    ("name", "unfit", "status"),
    [("origin", "http://[", 403), ("hx-current-url", "http://[", 401), ("host", "[", 400),
     ("host", "[::1", 400), ("host", "a:b", 400), ("host", "a/b?c", 400), ("host", "[x]", 400)],
)  # fmt: skip
def test_an_address_that_cannot_be_read_is_none_of_ours(
    ledger: Ledger, name: str, unfit: str, status: int
) -> None:
    ledger.users.add("ada", "admin", password=PASSWORD)
    with browser_at(ledger) as browser:
        method = "POST" if name == "origin" else "GET"
        answer = browser.request(method, "/projects/p", headers={"hx-request": "true", name: unfit})
        assert answer.status_code == status


def test_a_slash_too_many_leads_to_no_other_host(local: TestClient) -> None:
    for path in ("/api/v1/imports/", "/api/v1/projects/", "/search/", "/static"):
        answer = local.get(path, headers={"host": "localhost"}, follow_redirects=False)
        assert answer.status_code == 404
        assert "location" not in answer.headers


def test_where_a_database_is_that_fails_is_told_in_the_log_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
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


def test_without_users_nobody_comes_through_a_proxy(ledger: Ledger) -> None:
    app = create_app(ledger)
    for address, status in (("192.0.2.7", 403), ("::1", 200), ("2001:db8::1", 403)):
        with TestClient(app, base_url="http://127.0.0.1", client=(address, 1)) as browser:
            assert browser.get("/").status_code == status


def test_outside_this_machine_a_server_needs_users(ledger: Ledger) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "tracker.example"):  # noqa: S104
        with pytest.raises(InvalidOption) as told:
            checked_access(ledger, host, secret_key=None)
        assert "tracker user add" in str(told.value)
    assert checked_access(ledger, "localhost", secret_key=None).at_this_machine
    ledger.users.add("ada", "admin", password=PASSWORD)
    assert not checked_access(ledger, "::", secret_key="k" * 32).at_this_machine
    with pytest.raises(InvalidOption, match="TRACKER_SECRET_KEY has 5"):
        checked_access(ledger, "::", secret_key="short")


def test_a_server_whose_last_user_is_removed_lets_nobody_in(ledger: Ledger) -> None:
    ledger.users.add("ada", "admin", password=PASSWORD)
    with browser_at(ledger, "http://127.0.0.1", address="127.0.0.1") as browser:
        signed_in(browser, "ada")
        ledger.users.remove("ada")
        assert browser.get("/").status_code == 303
        assert browser.get("/api/v1/projects").status_code == 401


def test_the_first_user_closes_a_server_that_is_running(local: TestClient, ledger: Ledger) -> None:
    assert local.get("/api/v1/projects").status_code == 200
    ledger.users.add("ada", "admin", password=PASSWORD)
    assert local.get("/api/v1/projects").status_code == 401


def test_a_token_is_asked_for_nothing_else_until_it_is_revoked(ledger: Ledger) -> None:
    ledger.projects.create("p")
    ledger.users.add("ada", "admin", password=None)
    secret = ledger.tokens.add("t", "manager", "ada").secret
    with browser_at(ledger) as program:
        for way in (f"Bearer {secret}", f"bearer  {secret} "):
            answer = program.get("/api/v1/projects", headers={"authorization": way})
            assert answer.status_code == 200
        headers = {"authorization": f"Bearer {secret}"}
        recorded = program.post("/projects/p/findings/record", headers=headers)
        assert recorded.status_code not in {401, 403}
        ledger.tokens.revoke("t")
        assert program.get("/api/v1/projects", headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("of_user", "mend"),
    [("admin", "make another token: tracker token add NAME --role manager --user 'ada b'"),
     ("viewer", "an admin can give it: tracker user set 'ada b' --role manager; then make an")],
)  # fmt: skip
def test_a_token_that_may_not_is_told_its_own_role(ledger: Ledger, of_user: str, mend: str) -> None:
    ledger.projects.create("p")
    ledger.users.add("ada b", of_user, password=None)
    headers = {"authorization": f"Bearer {ledger.tokens.add('t', 'viewer', 'ada b').secret}"}
    with browser_at(ledger) as program:
        told = program.post("/api/v1/projects/p/archive", headers=headers).json()
    assert told["detail"] == "this needs the role manager, and the token has viewer"
    assert told["mend"].startswith(mend)


@pytest.mark.parametrize(
    "way", ["Basic YWRhOng=", "Bearer", "Bearer ", "Bearer trk_x", "trk_x", ""]
)
def test_what_is_no_token_is_refused_whoever_signed_in(ledger: Ledger, way: str) -> None:
    ledger.users.add("ada", "admin", password=PASSWORD)
    with browser_at(ledger) as browser:
        signed_in(browser, "ada")
        answer = browser.get("/api/v1/projects", headers={"authorization": way})
        assert answer.status_code == 401
        assert answer.json()["status"] == 401
        assert "trk_x" not in answer.text


def test_who_changed_what_through_the_web_is_in_the_log(ledger: Ledger) -> None:
    ledger.import_frame(ANSWERS, "p")
    ledger.users.add("ada", "admin", password=PASSWORD)
    ledger.acting_for("ada").projects.rename("p", "q")
    ledger.projects.rename("q", "r")
    with ledger.database.read() as connection:
        details = connection.scalars(select(Change.detail).order_by(Change.id)).all()
    assert [json.loads(one).get("by") for one in details[-2:]] == ["ada", None]
    assert ledger.verify("r").passed


def test_a_signed_in_reader_asks_as_themselves(ledger: Ledger) -> None:
    ledger.users.add("ada", "admin", password=PASSWORD)
    with browser_at(ledger, AT) as browser:
        app = browser.app

        def by(request: Request) -> str | None:
            return asked_of(request).ledger.database.by

        app.add_api_route("/who", by)  # type: ignore[attr-defined]
        signed_in(browser, "ada")
        assert browser.get("/who").json() == "ada"
        assert form_token(browser)


def test_a_form_with_files_is_taken_from_our_own_page_alone(ledger: Ledger) -> None:
    ledger.users.add("ada", "admin", password=PASSWORD)
    sent: dict[str, Any] = {"files": {"file": ("a.csv", b"item,annotator,category\n1,a,x\n")},
                            "data": {"project": "p"}}  # fmt: skip
    with browser_at(ledger) as browser:
        signed_in(browser, "ada")
        for told in ({}, {"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
            assert browser.post("/imports", headers=told, **sent).status_code == 403
        assert browser.post("/imports", headers={"origin": AT}, **sent).status_code == 303
