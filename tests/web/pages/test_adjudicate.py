"""Items decided one after the other in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from tests.web.people import PASSWORD, browser_at, form_token, signed_in
from tests.web.reading import read
from tracker.ledger import Ledger
from tracker.web.app import create_app

AT = "/projects/p/adjudicate"


@pytest.fixture
def contested(sqlite_ledger: Ledger) -> Ledger:
    texts = {"i1": "one", "i2": "two", "i3": "three"}
    rows = [(item, who, "x" if who == "ada" or item == "i3" else "y", text)
            for item, text in texts.items() for who in ("ada", "bo")]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category", "text"])
    sqlite_ledger.import_frame(frame, "p")
    return sqlite_ledger


@pytest.fixture
def desk(contested: Ledger) -> Iterator[TestClient]:
    app = create_app(contested)
    with TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False) as browser:
        yield browser


def test_items_are_decided_in_turn_and_undone(desk: TestClient, contested: Ledger) -> None:
    page = read(desk, AT)
    assert all(text in page.text for text in ("i1", "one", "ada", "bo", "guideline gap"))
    form = {"item": "i1", "category": "", "reason": "guideline gap", "note": "say it"}
    refused = desk.post(AT, data=form)
    assert (refused.status_code, "needs a category" in refused.text) == (422, True)
    assert "say it" in refused.text
    assert contested.adjudication.show("p", "i1").decision is None
    answer = desk.post(AT, data=form | {"category": "x"})
    assert answer.status_code == 303
    following = read(desk, answer.headers["location"]).text
    assert "say it" in following
    assert "two" in following
    assert contested.adjudication.show("p", "i1").decision is not None
    desk.post(AT, data={"item": "i2", "category": "", "reason": "ambiguous"})
    assert "Nothing is left to decide" in read(desk, AT).text
    assert desk.post(AT, data={"item": "i1", "action": "undo"}).status_code == 303
    assert contested.adjudication.show("p", "i1").decision is None


def test_a_second_decision_sees_the_first(desk: TestClient, contested: Ledger) -> None:
    contested.adjudication.decide("p", "i1", ["y"], reason="ambiguous", note="I was first")
    form = {"item": "i1", "category": "x", "reason": "annotator error", "note": "mine"}
    answer = desk.post(AT, data=form)
    assert answer.status_code == 422
    assert "I was first" in answer.text
    assert 'value="mine"' in answer.text
    decision = contested.adjudication.show("p", "i1").decision
    assert decision is not None
    assert decision.categories == ("y",)
    assert f'name="replaces" value="{decision.id}"' in answer.text
    assert desk.post(AT, data=form | {"replaces": str(decision.id)}).status_code == 303
    decision = contested.adjudication.show("p", "i1").decision
    assert decision is not None
    assert decision.categories == ("x",)


def test_viewers_see_it_and_managers_decide_in_their_name(contested: Ledger) -> None:
    form = {"item": "i1", "category": "x", "reason": "ambiguous"}
    for role, statuses in (("viewer", {403}), ("manager", {200, 303})):
        contested.users.add(role, role, password=PASSWORD)
        with signed_in(browser_at(contested), role) as browser:
            assert ("Which answer is right" in browser.get(AT).text) == (role == "manager")
            headers = {"x-csrf-token": form_token(browser)}
            assert browser.post(AT, data=form, headers=headers).status_code in statuses
    decision = contested.adjudication.show("p", "i1").decision
    assert decision is not None
    assert decision.made_by == "manager"
