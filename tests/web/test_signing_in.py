"""Who is let in: sessions, tokens, host names, and forms of other sites' pages."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.filled import FillOnce
from tests.web.people import AT, PAGE, PASSWORD, browser_at, filled_ledger, form_token, signed_in
from tests.web.reading import read
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.web.app import create_app
from tracker.web.identity import SECONDS, SPAN, Attempts
from tracker.web.sign_in import Access, checked_access, is_local_path

FORM = {"name": "ada", "password": PASSWORD}


def _ada(ledger: Ledger) -> None:
    ledger.projects.create("p")
    ledger.users.add("ada", "admin", password=PASSWORD)


@pytest.fixture
def served(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    return fill_once(ledger, _ada)


@pytest.fixture
def browser(served: Ledger) -> Iterator[TestClient]:
    with browser_at(served) as browser:
        yield browser


def test_signing_in_leads_to_the_page_and_signing_out_takes_a_form(browser: TestClient) -> None:
    part = browser.get("/projects/p", headers={"hx-request": "true", "accept": "*/*"})
    assert (part.status_code, part.headers["hx-redirect"]) == (401, "/sign-in")
    page = "/projects/p?as_of=2030-01-01"
    redirected = browser.get(page)
    assert redirected.status_code == 303
    assert f'value="{page}"' in browser.get(redirected.headers["location"]).text
    answer = browser.post("/sign-in", data=FORM | {"next": page})
    assert (answer.status_code, answer.headers["location"]) == (303, page)
    assert "No annotator is linked to your account yet" in browser.get("/me").text
    assert browser.post("/sign-out").status_code == 403
    assert browser.get("/").status_code == 200
    answer = browser.post("/sign-out", data={"csrf_token": form_token(browser)})
    assert answer.headers["location"] == "/sign-in"
    assert browser.get("/").status_code == 303


def test_signing_in_leads_to_no_other_site(browser: TestClient) -> None:
    for elsewhere in (
        "//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)",
        "/\t/evil", "\\\\evil", " //evil", "/ /evil", "///evil", "evil", "/%0a/evil\n", "",
        "http:evil",
    ):  # fmt: skip
        assert not is_local_path(elsewhere)
        answer = browser.post("/sign-in", data=FORM | {"next": elsewhere})
        assert answer.headers["location"] == "/", elsewhere
        answer = browser.get("/sign-in", params={"next": elsewhere})
        assert answer.headers["location"] == "/", elsewhere


def test_behind_a_proxy_all_addresses_lead_behind_it(served: Ledger) -> None:
    app = create_app(served, root_path="/labels", access=Access(at_this_machine=False))
    with TestClient(app, base_url=AT, headers=PAGE, follow_redirects=False) as browser:
        to = browser.get("/labels/projects/p").headers["location"]
        assert to == "/labels/sign-in?next=%2Flabels%2Fprojects%2Fp"
        answer = browser.post("/labels/sign-in", data=FORM | {"next": "/other"})
        assert answer.headers["location"] == "/labels/"
        assert "Archive the project" in browser.get("/labels/projects/p/settings").text
        described = browser.get("/labels/api/v1/openapi.json").json()
        assert [one["url"] for one in described["servers"]] == ["/labels"]


def test_a_session_is_hidden_from_other_sites(browser: TestClient, served: Ledger) -> None:
    cookie = browser.post("/sign-in", data=FORM).headers["set-cookie"]
    assert re.match(r"tracker_session_\w{8}=", cookie)
    for word in ("HttpOnly", "SameSite=lax", "Path=/", f"Max-Age={SECONDS}"):
        assert word in cookie
    assert "Secure" not in cookie
    with browser_at(served, "https://tracker.example") as safer:
        cookie = safer.post("/sign-in", data=FORM).headers["set-cookie"]
        assert re.match(r"__Host-tracker_session_\w{8}=", cookie)
        assert "Secure" in cookie
        assert "Domain" not in cookie
        assert safer.get("/").status_code == 200


def test_a_cookie_is_worthless_after_the_session(browser: TestClient, served: Ledger) -> None:
    for end in (
        lambda: browser.post("/sign-out", headers={"x-csrf-token": form_token(browser)}),
        lambda: served.users.set_password("ada", PASSWORD * 2),
    ):
        signed_in(browser, "ada")
        copied = dict(browser.cookies)
        assert browser.get("/").status_code == 200
        end()
        with browser_at(served) as other:
            other.cookies.update(copied)
            assert other.get("/").status_code == 303


def test_a_forged_or_old_cookie_is_refused(
    browser: TestClient, served: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in(browser, "ada")
    ((name, cookie),) = browser.cookies.items()
    user = served.users.show("ada").id
    sign = browser.app.state.sessions.signer  # type: ignore[attr-defined]
    for forged in (
        cookie[:-2], cookie[::-1], "", "x.y.z", "é", sign("other").dumps([user, 1, "n"]),
        sign("session").dumps({"user": user}), sign("session").dumps([1]),
    ):  # fmt: skip
        browser.cookies.clear()
        answer = browser.get("/", headers={"cookie": f"{name}={forged}".encode()})
        assert answer.status_code == 303, forged
    now = time.time()
    monkeypatch.setattr("itsdangerous.timed.time.time", lambda: now + SECONDS + 1)
    assert browser.get("/", headers={"cookie": f"{name}={cookie}"}).status_code == 303


def test_a_failure_tells_nothing_and_the_log_has_no_secret(
    browser: TestClient, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    for content in (b"name=" + b"a" * 1_000_000, iter([b"name=", b"a" * 500_000, b"a" * 500_000])):
        kind = {"content-type": "application/x-www-form-urlencoded"}
        large = browser.post("/sign-in", content=content, headers=kind)
        assert large.status_code == 413
        assert "more than 1,000,000 bytes" in large.text
    with caplog.at_level(logging.INFO):
        known, unknown = (browser.post("/sign-in", data={"name": name, "password": "a secret"})
                          for name in ("ada", "bob"))  # fmt: skip
        browser.post("/sign-in", data={"name": "my secret typed here", "password": "x"})
        signed_in(browser, "ada")
    assert (known.status_code, unknown.status_code) == (403, 403)
    assert known.text.replace("ada", "bob") == unknown.text
    assert "'ada'" in caplog.text
    assert "192.0.2.7 failed" in caplog.text
    assert "secret" not in caplog.text
    assert PASSWORD not in caplog.text
    assert capsys.readouterr().out == ""


def test_guessing_is_slow(browser: TestClient) -> None:
    for spaces in range(5):  # with spaces it is the same name
        wrong = {"name": "ada" + " " * spaces, "password": "x"}
        assert browser.post("/sign-in", data=wrong).status_code == 403
    late = browser.post("/sign-in", data=FORM)
    assert late.status_code == 429
    assert 0 < int(late.headers["retry-after"]) <= SPAN
    assert "Too many attempts" in late.text
    address = ("192.0.2.8", 1)
    elsewhere = TestClient(browser.app, base_url=AT, follow_redirects=False, client=address)
    assert elsewhere.post("/sign-in", data=FORM).status_code == 303


def test_failures_are_counted_by_name_and_address_for_a_time() -> None:
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    for second in range(5):
        now[0] = float(second)
        assert attempts.begin("ada", "a") == 0
    assert attempts.begin("ada", "a") == SPAN - 4
    assert attempts.begin("bob", "a") == 0
    now[0] = float(SPAN)
    assert attempts.begin("ada", "a") == 0
    attempts.succeed("ada", "a")
    assert [attempts.begin("ada", "a") for _ in range(6)][:5] == [0] * 5
    attempts = Attempts(lambda: 0.0)
    waits = [attempts.begin(f"name {n}", "2001:db8::1") for n in range(40)]
    assert waits[:30] == [0] * 30
    assert min(waits[30:]) > 0
    assert attempts.begin("other", "2001:db8::2") > 0, "of the same network"
    assert attempts.begin("other", "2001:db9::2") == 0
    for n in range(11_000):
        attempts.begin("x" * 10_000, f"address {n}")
    assert len(attempts._failures) <= 10_000
    assert max(len(str(key)) for key in attempts._failures) < 500


def test_annotators_come_to_their_own_page_which_links_to_nothing_else(tmp_path: Path) -> None:
    with browser_at(filled_ledger(tmp_path)) as browser:
        for onward in ("", "/", "/projects/p"):
            form = {"name": "annotator", "password": PASSWORD, "next": onward}
            assert browser.post("/sign-in", data=form).headers["location"] == "/me"
        shown = read(browser, "/me")
        assert "honest" not in shown.text
        assert shown.to("tracker") == "/me"


def test_annotators_object_to_findings_about_their_own_answers_alone(tmp_path: Path) -> None:
    ledger = filled_ledger(tmp_path)
    rows = [one.to_dict() for one in ledger.flags.list("p", states=["all"]).flags]
    own = next(row["flag"] for row in rows if row["annotator"] == "constant 1")
    ledger.flags.acknowledge("p", [own], by="mia")
    with signed_in(browser_at(ledger), "annotator") as browser:
        assert "Somebody is looking into it." in browser.get("/me").text
        form = {"csrf_token": form_token(browser), "project": "p", "note": "as the guideline says"}
        for flag in (own + 999, own):
            sent = browser.post("/me/appeal", data=form | {"flag": str(flag)})
            assert sent.status_code == (303 if flag == own else 404)
        shown = browser.get("/me").text
        assert "“as the guideline says”. It has not been answered yet." in shown
        ledger.flags.reject("p", [own], by="mia", note="see section 2")
        shown = browser.get("/me").text
        assert "It was not accepted. The answer: “see section 2”." in shown
        assert "mia" not in shown
    (row,) = [one.to_dict() for one in ledger.flags.list("p", states=["all"]).flags
              if one.flag == own]  # fmt: skip
    assert (row["appeal"]["by"], row["state"]) == ("annotator", "acknowledged")


def test_without_users_this_machine_alone_may_ask(client: TestClient, ledger: Ledger) -> None:
    """A page of a foreign name may ask for all that is of its own name (DNS rebinding)."""
    for host in ("127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000",
                 "tracker.localhost:1", "127.1.2.3"):  # fmt: skip
        assert client.get("/", headers={"host": host}).status_code == 200, host
    for host in ("evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example",
                 "10.0.0.1", "", "localhost@evil.example", "0.0.0.0:8000",
                 "2130706433"):  # fmt: skip
        for path in ("/", "/api/v1/projects", "/events"):
            assert client.get(path, headers={"host": host}).status_code == 403, host
    for path in ("/api/v1/imports/", "/api/v1/projects/", "/search/", "/static"):
        answer = client.get(path, headers={"host": "localhost"}, follow_redirects=False)
        assert answer.status_code == 404
        assert "location" not in answer.headers, "a slash too many leads to no other host"
    for address, status in (("192.0.2.7", 403), ("::1", 200), ("2001:db8::1", 403)):
        with TestClient(client.app, base_url="http://127.0.0.1", client=(address, 1)) as browser:
            assert browser.get("/").status_code == status, "through a proxy"
    assert client.get("/api/v1/projects").status_code == 200
    ledger.users.add("ada", "admin", password=PASSWORD)
    assert client.get("/api/v1/projects").status_code == 401, "the first user closes it"


def test_only_pages_of_our_own_change_anything(client: TestClient, ledger: Ledger) -> None:
    ledger.projects.create("p")
    for headers in (
        {"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"}, {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://localhost:8000", "sec-fetch-site": "cross-site"},
    ):  # fmt: skip
        for path in ("/projects/p/findings/record", "/api/v1/projects/p/gate"):
            assert client.post(path, headers=headers).status_code == 403, headers
    for headers in ({}, {"origin": "http://127.0.0.1:8000"}, {"sec-fetch-site": "same-origin"}):
        answer = client.post("/projects/p/findings/record", headers=headers, follow_redirects=False)
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


def test_a_session_does_not_help_a_wrong_token(browser: TestClient) -> None:
    signed_in(browser, "ada")
    for way in ("Basic YWRhOng=", "Bearer", "Bearer ", "Bearer trk_x", "trk_x", ""):
        answer = browser.get("/api/v1/projects", headers={"authorization": way})
        assert (answer.status_code, answer.json()["status"]) == (401, 401), way
        assert "trk_x" not in answer.text


def test_a_form_with_files_is_taken_from_our_own_page_alone(browser: TestClient) -> None:
    signed_in(browser, "ada")
    form: dict[str, Any] = {"files": {"file": ("a.csv", b"item,annotator,category\n1,a,x\n")},
                            "data": {"project": "p"}}  # fmt: skip
    for headers in ({}, {"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert browser.post("/imports", headers=headers, **form).status_code == 403
    assert browser.post("/imports", headers={"origin": AT}, **form).status_code == 303
