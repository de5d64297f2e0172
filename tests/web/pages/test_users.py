"""Users in a browser: added, changed and removed by an administrator, and by nobody else."""

from __future__ import annotations

import logging
import re
from urllib.parse import unquote

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from tests.filled import FillOnce
from tests.web.hostile import HOSTILE
from tests.web.people import PAGE, PASSWORD, browser_at, signed_in
from tests.web.reading import read
from tracker.ledger import Ledger

NEW = "another long password"


def _fill(ledger: Ledger) -> None:
    rows = [(str(n), who, "ab"[n % 2]) for n in range(4) for who in ("ada", "bob")]
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), "p")
    ledger.users.add("admin", "admin", password=PASSWORD)
    ledger.users.add("mia", "manager", password=PASSWORD)
    ledger.users.add("ada", "annotator", password=PASSWORD, annotators=["p:ada"])


@pytest.fixture
def peopled(sqlite_ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """A ledger with a project and three users."""
    return fill_once(sqlite_ledger, _fill)


def test_the_header_leads_an_administrator_to_the_users(admin: TestClient, peopled: Ledger) -> None:
    assert read(admin, "/").to("Users") == "/users"
    rows = {row[0]: row[1:4] for row in read(admin, "/users").rows[1:]}
    assert rows == {"ada": ["annotator", "yes", "p:ada"], "mia": ["manager", "yes", ""],
                    "admin": ["admin", "yes", ""]}  # fmt: skip
    with browser_at(peopled) as other:
        signed_in(other, "mia")
        assert "Users" not in [text for text, _ in read(other, "/").links]
        assert other.get("/users").status_code == 403


def test_a_user_is_added_and_signs_in(
    admin: TestClient, peopled: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    form = {"name": "bob", "role": "annotator", "password": NEW, "annotators": "p:bob\r\n"}
    assert admin.post("/users", data=form).status_code == 303
    user = peopled.users.show("bob")
    assert (user.role, [*map(str, user.annotators)]) == ("annotator", ["p:bob"])
    with browser_at(peopled) as other:
        assert "p: bob" in read(signed_in(other, "bob", NEW), "/me").text
    assert admin.post("/users", data={"name": "eve", "role": "viewer"}).status_code == 303
    assert not peopled.users.show("eve").has_password
    assert peopled.users.log(1).changes[0].by == "admin"
    assert NEW not in caplog.text
    assert NEW not in admin.get("/users").text


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"name": "mia", "role": "viewer", "password": NEW}, "the user 'mia' exists"),
        ({"name": "eve", "role": "king", "password": NEW}, "there is no role 'king'"),
        ({"name": "eve", "role": "viewer", "password": "short"}, "the password has 5 characters"),
        ({"name": "eve", "role": "viewer", "annotators": "p:nobody"}, "no annotator 'nobody'"),
        ({"name": " ", "role": "viewer"}, "name"),
    ],
)
def test_a_user_that_cannot_be_is_refused_where_the_form_is(
    admin: TestClient, peopled: Ledger, form: dict[str, str], words: str
) -> None:
    refused = admin.post("/users", data=form)
    assert refused.status_code in {404, 422}
    assert words in refused.text.replace("&#39;", "'")
    assert f'value="{form["name"]}"' in refused.text
    assert form.get("password", NEW) not in refused.text
    assert len(peopled.users.list()) == 3


def test_role_and_annotators_are_set(admin: TestClient, peopled: Ledger) -> None:
    form = {"role": "viewer", "annotators": "p:bob\np:ada"}
    assert admin.post("/users/ada/set", data=form).status_code == 303
    user = peopled.users.show("ada")
    assert (user.role, [*map(str, user.annotators)]) == ("viewer", ["p:ada", "p:bob"])
    log = len(peopled.users.log().changes)
    admin.post("/users/ada/set", data={"role": "viewer", "annotators": "p:ada\np:bob"})
    assert len(peopled.users.log().changes) == log, "what is as it was is no act"
    admin.post("/users/ada/set", data={"role": "viewer"})
    assert peopled.users.show("ada").annotators == ()
    refused = admin.post("/users/ada/set", data={"role": "viewer", "annotators": "nothing"})
    assert refused.status_code == 422
    assert "no annotator of a project" in refused.text


def test_a_password_is_set_and_taken_away(admin: TestClient, peopled: Ledger) -> None:
    with browser_at(peopled) as other:
        signed_in(other, "mia")
        assert admin.post("/users/mia/password", data={"password": NEW}).status_code == 303
        assert other.get("/").status_code == 303, "the session is over"
        signed_in(other, "mia", NEW)
    assert admin.post("/users/mia/password", data={"password": ""}).status_code == 422
    admin.post("/users/mia/password", data={"password": "", "remove": "true"})
    assert not peopled.users.show("mia").has_password


def test_a_user_is_removed(admin: TestClient, peopled: Ledger) -> None:
    assert admin.post("/users/mia/remove").status_code == 303
    assert [user.name for user in peopled.users.list()] == ["ada", "admin"]
    missing = admin.post("/users/mia/remove")
    assert missing.status_code == 404
    assert "there is no user" in missing.text


def test_an_administrator_is_always_left(admin: TestClient, peopled: Ledger) -> None:
    assert "Remove admin" not in read(admin, "/users").text
    for act, form in (("remove", {}), ("set", {"role": "viewer"})):
        refused = admin.post(f"/users/admin/{act}", data=form)
        assert refused.status_code == 422
        assert "another administrator can" in refused.text
    assert peopled.users.show("admin").role == "admin"


def test_names_are_texts_and_nothing_else(admin: TestClient, peopled: Ledger) -> None:
    for name in HOSTILE:
        admin.post("/users", data={"name": name, "role": "viewer"})
    text = admin.get("/users").text
    assert not [name for name in HOSTILE if "<" in name and name in text]
    assert {*HOSTILE} <= {row[0] for row in read(admin, "/users").rows}
    for name in HOSTILE:
        (action,) = {link for link in _actions(text, "/remove") if _names(link) == name}
        assert admin.post(action).status_code == 303
    assert len(peopled.users.list()) == 3


def test_without_users_the_page_makes_the_first(client: TestClient, ledger: Ledger) -> None:
    page = read(client, "/users")
    assert "whoever uses this machine may do everything" in page.text
    form = {"name": "admin", "role": "admin", "password": PASSWORD}
    answer = client.post("/users", data=form, headers=PAGE)
    assert answer.url.path == "/sign-in"
    assert ledger.users.show("admin").role == "admin"


def _actions(text: str, end: str) -> list[str]:
    """The addresses of the forms of a page that end so."""
    return re.findall(f'action="([^"]+{end})"', text)


def _names(link: str) -> str:
    """The name in an address, as its route has it."""
    return re.sub("~(..)", lambda hit: chr(int(hit[1], 16)), unquote(link.split("/")[2]))
