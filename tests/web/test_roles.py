"""Each route by each role: who is let in, who is not, in a browser and with a token.

What is expected follows from the role that a route says it needs. A new route needs nothing here
but an example of a parameter that no other has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from httpx2 import Response

from tests.profiles import exhaustive
from tests.web.people import ROLES, browser_at, filled_ledger, form_token, signed_in
from tracker.web.app import ROUTERS
from tracker.web.identity import SAFE, Needs, Role

EXAMPLES = {
    "project": "p", "question": "label", "item": "item 0001", "annotator": "constant 1",
    "other": "honest 1", "number": "1", "finding": "1", "note": "1", "token": "x",
    "snapshot": "first", "round": "v1", "name": "v1", "category": "positive", "user": "nobody",
    "model": "gpt",
}  # fmt: skip
"""What stands in a path for each parameter; what is not there is as good: 404 is no refusal."""
OPEN = {"GET /sign-in", "POST /sign-in", "GET /style.css", "GET /api/v1/openapi.json",
        "GET /healthz", "GET /sign-in/oidc", "GET /sign-in/oidc/back"}  # fmt: skip
"""What everybody may ask for: what the page to sign in is made of, and what holds no data."""
QUEUE = "/me/queue/{project:name}/{annotator:name}"
CHANGING_NOTHING = {
    "POST /api/v1/projects/{project:segment}/gate", "POST /projects/{project:name}/gate",
    *(f"POST {QUEUE}{act}" for act in ("", "/undo", "/finish")),
    "POST /sign-out", "POST /me/appeal", "POST /tokens", "POST /tokens/{token:name}/revoke",
}  # fmt: skip
"""What less than a manager may post: a gate is only read; each user may sign out, and an annotator
answer what they were assigned, and object to findings about themselves; tokens are one's own."""
FORMS = {"annotator": 5, "viewer": 3, "manager": 23, "admin": 28}
"""How many forms the pages show to a role."""


class Asked(NamedTuple):
    method: str
    path: str
    needed: Role

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def example(self) -> str:
        return re.sub(r"{(\w+)(:\w+)?}", lambda hit: EXAMPLES[hit[1]], self.path)


def _routes() -> Iterator[Asked]:
    for router in ROUTERS:
        for route in router.routes:
            assert isinstance(route, APIRoute)
            (condition,) = (one.call for one in route.dependant.dependencies
                            if isinstance(one.call, Needs))  # fmt: skip
            for method in sorted(route.methods):
                yield Asked(method, route.path, condition.role)


ROUTES = sorted(_routes(), key=lambda one: (one.method not in SAFE, one.method == "DELETE"))


class Served(NamedTuple):
    """A browser, and what users of each role send: a session with a form's token, or a token."""

    browser: TestClient
    by_form: dict[str, dict[str, str]]
    by_token: dict[str, dict[str, str]]

    def ask(self, asked: Asked, headers: dict[str, str], **sent: Any) -> Response:
        self.browser.cookies.clear()
        return self.browser.request(asked.method, asked.example, headers=headers, **sent)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    ledger = filled_ledger(tmp_path_factory.mktemp("served"))
    with browser_at(ledger) as browser:
        # A listener for changes hears at once that the server stops, and so the test ends.
        browser.app.state.stopping.set()  # type: ignore[attr-defined]
        by_form, by_token = {}, {}
        for role in ROLES:
            secret = ledger.tokens.add(role, role, role).secret
            by_token[role] = {"authorization": f"Bearer {secret}"}
            browser.cookies.clear()
            signed_in(browser, role)
            ((name, session),) = browser.cookies.items()
            form = {"x-csrf-token": form_token(browser), "cookie": f"{name}={session}"}
            by_form[role] = form
        yield Served(browser, by_form, by_token)


def test_the_open_and_the_harmless_routes_are_those_listed() -> None:
    assert {str(one) for one in ROUTES if one.needed is Role.EVERYONE} == OPEN
    lower = {str(one) for one in ROUTES if one.method not in SAFE and one.needed < Role.MANAGER}
    assert lower - OPEN == CHANGING_NOTHING


def test_strangers_are_sent_to_sign_in(served: Served) -> None:
    for asked in (one for one in ROUTES if one.needed > Role.EVERYONE):
        answer = served.ask(asked, {})
        if asked.path.startswith("/api/"):
            assert answer.status_code == 401, asked
            assert answer.headers["www-authenticate"].startswith("Bearer"), asked
            assert answer.json()["type"].endswith(":not-signed-in"), asked
            assert "tracker token add" in answer.json()["mend"], asked
            assert answer.headers["content-type"] == "application/problem+json", asked
        else:
            assert answer.status_code == 303, asked
            assert answer.headers["location"].startswith("/sign-in"), asked
            if asked.method not in SAFE:
                assert served.ask(asked, {"accept": "*/*"}).status_code == 401, asked


@pytest.mark.parametrize("safe", [True, False], ids=["reading", "changing"])
@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_do_what_its_routes_need(served: Served, role: str, safe: bool) -> None:
    """By a form or a token, in turn: the next role asks for the same in the other way."""
    ways = (served.by_form[role], served.by_token[role])
    for number, asked in enumerate(ROUTES, ROLES.index(role)):
        # Signing out would end the session; it has a test of its own.
        if (asked.method in SAFE) != safe or asked.path == "/sign-out":
            continue
        if asked.needed not in {Role[role.upper()], Role[role.upper()] + 1}:
            continue  # a higher role may do it as well, and a lower one may not either
        answer = served.ask(asked, ways[number % 2])
        status = answer.status_code
        if Role[role.upper()] < asked.needed:
            assert status == 403, asked
            if asked.path.startswith("/api/"):
                assert answer.json()["type"].endswith(":forbidden"), asked
                assert f"tracker user set {role} --role" in answer.json()["mend"], asked
        elif str(asked) != "POST /sign-in":  # it refuses an empty password
            assert status < 500, asked
            assert status not in {401, 403}, asked
    me = served.browser.get("/me", headers=served.by_form[role])
    assert me.status_code == 200, "the session is over"


@pytest.mark.parametrize(
    "role", ["annotator", "viewer", "manager", pytest.param("admin", marks=exhaustive)]
)
def test_no_page_shows_a_form_that_its_reader_may_not_send(tmp_path: Path, role: str) -> None:
    posted = [one for one in ROUTES if one.method == "POST"]
    shown = set[str]()
    with signed_in(browser_at(filled_ledger(tmp_path)), role) as browser:
        for page in (one for one in ROUTES if _is_page(one, role)):
            text = browser.get(page.example).text
            for form in re.findall(r'<form[^>]*method="post"[^>]*>', text):
                action = re.search(r'action="([^"]+)"', form)
                assert action is not None
                (to,) = (one for one in posted if _leads_to(one, action[1]))
                assert to.needed <= Role[role.upper()], f"{page} has a form for {to}"
                shown.add(to.path)
    assert len(shown) == FORMS[role], shown


def _is_page(asked: Asked, role: str) -> bool:
    own = "/api/", "/events", "/sign-in", "/report"
    may = asked.method == "GET" and asked.needed <= Role[role.upper()]
    return may and not any(part in asked.path for part in own)


def _leads_to(asked: Asked, action: str) -> bool:
    pattern = re.sub(r"{\w+(:\w+)?}", "[^/]+", asked.path)
    return re.fullmatch(pattern, action.partition("?")[0]) is not None


def test_a_form_without_what_only_our_pages_know_changes_nothing(served: Served) -> None:
    """Each route is asked with nothing, and in turn with what others know."""
    own, other = served.by_form["admin"], served.by_form["viewer"]["x-csrf-token"]
    session = {"cookie": own["cookie"]}
    tries: tuple[tuple[dict[str, str], dict[str, Any]], ...] = (
        ({"x-csrf-token": ""}, {}), ({"x-csrf-token": other}, {}),
        ({}, {"data": {"csrf_token": other}}), (own | {"sec-fetch-site": "cross-site"}, {}),
    )  # fmt: skip
    changing = [one for one in ROUTES if one.method not in SAFE and one.needed > 0]
    for number, asked in enumerate(changing):
        answer = served.ask(asked, session)
        assert answer.status_code == 403, asked
        assert "another session" in answer.text, asked
        headers, sent = tries[number % len(tries)]
        answer = served.ask(asked, session | headers, **sent)
        assert answer.status_code == 403, asked
        assert ("another session" in answer.text) == ("sec-fetch-site" not in headers), asked
