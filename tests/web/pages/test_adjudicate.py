"""Items decided one after the other in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from tests.web.people import PASSWORD, acting, browser_at
from tests.web.reading import read
from tracker.ledger import Ledger

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
    """A browser in which a manager has signed in."""
    contested.users.add("mia", "manager", password=PASSWORD)
    with browser_at(contested) as browser:
        yield acting(browser, "mia")


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
    decision = contested.adjudication.show("p", "i1").decision
    assert decision is not None
    assert decision.made_by == "mia"
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
