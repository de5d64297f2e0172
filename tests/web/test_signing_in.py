"""Signing in and out, in a browser: who gets a session, for how long, and where it leads."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.filled import FillOnce
from tests.web.people import AT, PAGE, PASSWORD, browser_at, filled_ledger, form_token, signed_in
from tests.web.reading import read
from tracker.ledger import Ledger
from tracker.web.app import create_app
from tracker.web.identity import SECONDS, SPAN, Attempts
from tracker.web.sign_in import Access, is_local_path


def _ada(ledger: Ledger) -> None:
    ledger.projects.create("p")
    ledger.users.add("ada", "admin", password=PASSWORD)


@pytest.fixture
def served(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """A ledger with an admin."""
    return fill_once(ledger, _ada)


@pytest.fixture
def browser(served: Ledger) -> Iterator[TestClient]:
    with browser_at(served) as found:
        yield found


def test_who_signs_in_comes_to_the_page_they_asked_for(browser: TestClient) -> None:
    asked = browser.get("/projects/p?as_of=2030-01-01")
    assert asked.status_code == 303
    form = browser.get(asked.headers["location"]).text
    assert 'value="/projects/p?as_of=2030-01-01"' in form
    answer = browser.post(
        "/sign-in",
        data={"name": "ada", "password": PASSWORD, "next": "/projects/p?as_of=2030-01-01"},
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/projects/p?as_of=2030-01-01")
    assert browser.get("/").status_code == 200


@pytest.mark.parametrize(
    "elsewhere",
    ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", "/\t/evil",
     "\\\\evil", " //evil", "/ /evil", "///evil", "evil", "/%0a/evil\n", "", "http:evil"],
)  # fmt: skip
def test_nobody_is_led_to_another_site(browser: TestClient, elsewhere: str) -> None:
    assert not is_local_path(elsewhere)
    form = {"name": "ada", "password": PASSWORD, "next": elsewhere}
    assert browser.post("/sign-in", data=form).headers["location"] == "/"
    assert browser.get("/sign-in", params={"next": elsewhere}).headers["location"] == "/"


def test_behind_a_proxy_all_leads_behind_it(served: Ledger) -> None:
    app = create_app(served, root_path="/labels", access=Access(at_this_machine=False))
    with TestClient(app, base_url=AT, headers=PAGE, follow_redirects=False) as browser:
        to = browser.get("/labels/projects/p").headers["location"]
        assert to == "/labels/sign-in?next=%2Flabels%2Fprojects%2Fp"
        form = {"name": "ada", "password": PASSWORD, "next": "/other"}
        assert browser.post("/labels/sign-in", data=form).headers["location"] == "/labels/"
        assert "Archive the project" in browser.get("/labels/projects/p/settings").text


def test_a_session_is_no_scripts_and_no_other_sites(browser: TestClient, served: Ledger) -> None:
    form = {"name": "ada", "password": PASSWORD}
    cookie = browser.post("/sign-in", data=form).headers["set-cookie"]
    assert re.match(r"tracker_session_\w{8}=", cookie)
    for word in ("HttpOnly", "SameSite=lax", "Path=/", f"Max-Age={SECONDS}"):
        assert word in cookie
    assert "Secure" not in cookie
    with browser_at(served, "https://tracker.example") as safer:
        cookie = safer.post("/sign-in", data=form).headers["set-cookie"]
        assert re.match(r"__Host-tracker_session_\w{8}=", cookie)
        assert "Secure" in cookie
        assert "Domain" not in cookie
        assert safer.get("/").status_code == 200


def ended_by(what: str, ledger: Ledger, browser: TestClient) -> None:
    """Do what ends all sessions of ada."""
    if what == "password":
        ledger.users.set_password("ada", PASSWORD * 2)
    elif what == "removal":
        ledger.users.remove("ada")
        ledger.users.add("ada", "admin", password=PASSWORD)
    else:
        browser.post("/sign-out", headers={"x-csrf-token": form_token(browser)})


@pytest.mark.parametrize("what", ["password", "removal", "sign-out"])
def test_a_copied_cookie_is_worth_nothing_once_the_session_ended(
    browser: TestClient, served: Ledger, what: str
) -> None:
    signed_in(browser, "ada")
    copied = dict(browser.cookies)
    assert browser.get("/").status_code == 200
    ended_by(what, served, browser)
    with browser_at(served) as other:
        other.cookies.update(copied)
        assert other.get("/").status_code == 303


def test_a_part_of_a_page_has_the_whole_one_go_to_the_sign_in(browser: TestClient) -> None:
    answer = browser.get("/projects/p", headers={"hx-request": "true", "accept": "*/*"})
    assert (answer.status_code, answer.headers["hx-redirect"]) == (401, "/sign-in")


def test_signing_out_takes_a_form(browser: TestClient) -> None:
    signed_in(browser, "ada")
    assert browser.post("/sign-out").status_code == 403
    assert browser.get("/").status_code == 200
    answer = browser.post("/sign-out", data={"csrf_token": form_token(browser)})
    assert answer.headers["location"] == "/sign-in"
    assert browser.get("/").status_code == 303


def test_a_cookie_that_is_forged_or_old_is_none(
    browser: TestClient, served: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in(browser, "ada")
    ((name, kept),) = browser.cookies.items()
    ada = served.users.show("ada")
    sessions = browser.app.state.sessions  # type: ignore[attr-defined]
    for forged in (
        kept[:-2], kept[::-1], "", "x.y.z", "é", sessions.signer("other").dumps([ada.id, 1, "n"]),
        sessions.signer("session").dumps({"user": ada.id}), sessions.signer("session").dumps([1]),
    ):  # fmt: skip
        browser.cookies.clear()
        answer = browser.get("/", headers={"cookie": f"{name}={forged}".encode()})
        assert answer.status_code == 303, forged
    now = time.time()
    monkeypatch.setattr("itsdangerous.timed.time.time", lambda: now + SECONDS + 1)
    assert browser.get("/", headers={"cookie": f"{name}={kept}"}).status_code == 303


def test_a_name_that_nobody_has_is_told_like_a_wrong_password(browser: TestClient) -> None:
    told = [browser.post("/sign-in", data={"name": name, "password": "wrong wrong"})
            for name in ("ada", "bob")]  # fmt: skip
    assert [one.status_code for one in told] == [403, 403]
    assert told[0].text.replace("ada", "bob") == told[1].text


def test_somebody_unknown_sends_little(browser: TestClient) -> None:
    for content in (b"name=" + b"a" * 1_000_000, iter([b"name=", b"a" * 500_000, b"a" * 500_000])):
        kind = {"content-type": "application/x-www-form-urlencoded"}
        told = browser.post("/sign-in", content=content, headers=kind)
        assert told.status_code == 413
        assert "more than 1,000,000 bytes" in told.text


def test_guessing_is_made_slow_and_says_how_long(browser: TestClient, served: Ledger) -> None:
    for spaces in range(5):  # with spaces it is the same name
        wrong = {"name": "ada" + " " * spaces, "password": "x"}
        assert browser.post("/sign-in", data=wrong).status_code == 403
    right = {"name": "ada", "password": PASSWORD}
    late = browser.post("/sign-in", data=right)
    assert late.status_code == 429
    assert 0 < int(late.headers["retry-after"]) <= SPAN
    assert "Too many attempts" in late.text
    elsewhere = TestClient(
        browser.app, base_url=AT, follow_redirects=False, client=("192.0.2.8", 1)
    )
    assert elsewhere.post("/sign-in", data=right).status_code == 303


def test_failures_are_forgotten_in_time_and_by_success() -> None:
    at = [0.0]
    attempts = Attempts(lambda: at[0])
    for second in range(5):
        at[0] = float(second)
        assert attempts.begin("ada", "a") == 0
    assert attempts.begin("ada", "a") == SPAN - 4
    assert attempts.begin("bob", "a") == 0
    at[0] = float(SPAN)
    assert attempts.begin("ada", "a") == 0
    attempts.succeed("ada", "a")
    assert [attempts.begin("ada", "a") for _ in range(6)][:5] == [0] * 5


def test_one_address_tries_many_names_no_longer_than_one_does() -> None:
    attempts = Attempts(lambda: 0.0)
    tried = [attempts.begin(f"name {n}", "2001:db8::1") for n in range(40)]
    assert tried[:30] == [0] * 30
    assert min(tried[30:]) > 0
    assert attempts.begin("other", "2001:db8::2") > 0, "of the same network"
    assert attempts.begin("other", "2001:db9::2") == 0


def test_the_memory_of_failures_is_bounded() -> None:
    attempts = Attempts(lambda: 0.0)
    for n in range(20_000):
        attempts.begin("x" * 100_000, f"address {n}")
    assert len(attempts._failures) <= 10_000
    assert max(len(str(key)) for key in attempts._failures) < 500


def test_the_log_has_names_of_users_and_no_secret(
    browser: TestClient, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.INFO):
        browser.post("/sign-in", data={"name": "my secret typed here", "password": "x"})
        browser.post("/sign-in", data={"name": "ada", "password": "another secret"})
        signed_in(browser, "ada")
    assert "'ada'" in caplog.text
    assert "192.0.2.7 failed" in caplog.text
    assert "secret" not in caplog.text
    assert PASSWORD not in caplog.text
    assert capsys.readouterr().out == ""


def test_an_annotator_comes_to_their_own_page_which_names_nobody_else(tmp_path: Path) -> None:
    with browser_at(filled_ledger(tmp_path)) as browser:
        asked = browser.get("/").headers["location"]
        assert asked == "/sign-in?next=%2F"
        for onward in ("", "/", "/projects/p"):
            form = {"name": "annotator", "password": PASSWORD, "next": onward}
            assert browser.post("/sign-in", data=form).headers["location"] == "/me"
        first = browser.get("/")
        assert (first.status_code, first.headers["location"]) == (303, "/me")
        shown = browser.get("/me").text
        assert "constant 1" in shown
        assert "agrees with others" in shown
        assert "honest" not in shown
        assert " p = " not in shown
        assert 'data-events=""' in shown


def test_an_annotator_objects_to_a_finding_about_their_own_answers_alone(tmp_path: Path) -> None:
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


def test_who_is_bound_to_nobody_or_to_somebody_without_answers_is_told(
    browser: TestClient, served: Ledger
) -> None:
    signed_in(browser, "ada")
    assert "No annotator is linked to your account yet" in browser.get("/me").text


def test_no_link_leads_an_annotator_to_what_they_may_not_see(tmp_path: Path) -> None:
    with signed_in(browser_at(filled_ledger(tmp_path)), "annotator") as browser:
        assert read(browser, "/me").to("tracker") == "/me"
        refused = read(browser, "/projects/p", 403)
        assert refused.to("tracker") == refused.to("Your answers") == "/me"
        signed_in(browser, "viewer")
        assert read(browser, "/me").to("tracker") == "/"
