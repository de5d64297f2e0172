"""Pages of work: items are assigned, withdrawn and decided by forms; rounds are started."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from tests.helpers import give
from tests.web.people import PASSWORD, acting, browser_at
from tests.web.reading import read
from tests.work.test_assignments import import_items, states
from tests.work.test_rounds import answer
from tracker.ledger import Ledger

AT = "/projects/p/assignments"
FORM = {"to": ["ada", "bo"], "answers": "2", "per_annotator": "10", "percent_gold": "0",
        "percent_repeated": "0", "prefer": "fewest", "overlap": "even"}  # fmt: skip


def test_items_are_assigned_listed_and_withdrawn(client: TestClient, ledger: Ledger) -> None:
    import_items(ledger, [f"i{n}" for n in range(12)])
    give(ledger, [("i0", "ada", "x"), ("i0", "bo", "x")])
    refused = client.post(AT, data=FORM | {"percent_gold": "20", "others": "Ada"})
    assert refused.status_code == 422
    assert "is spelt like &#39;ada&#39;" in refused.text
    assert 'value="Ada"' in refused.text
    assert 'name="percent_gold" min="0" max="50" step="any" value="20.0"' in refused.text
    assert states(ledger) == {}
    assigned = client.post(AT, data=FORM | {"others": "cleo, dora", "until": "2999-01-01"}).text
    assert "11 items assigned, for 22 answers" in assigned
    assert "New in p: cleo, dora" in assigned
    people = ["ada", "bo", "cleo", "dora"]
    assert [row[0] for row in read(client, AT).rows if row[0] in people] == people
    lines = list(csv.DictReader(io.StringIO(client.get(f"{AT}/lists?annotator=ada").text)))
    assert {line["annotator"] for line in lines} == {"ada"}
    assert lines[0].keys() == {"item", "annotator", "order", "text"}
    client.post(f"{AT}/withdraw", data={"annotator": "ada"})
    assert states(ledger)["ada", "withdrawn"] == len(lines)
    problem = client.post(f"{AT}/withdraw", data={"annotator": "ada"})
    assert "nothing of &#39;p&#39; is open" in problem.text
    again = client.post(AT, data=FORM | {"to": ["bo"], "withdraw": "true", "answers": "3"}).text
    assert "taken back first" in again.lower()


def test_annotators_are_chosen_with_their_findings(browser: TestClient, flagged: Ledger) -> None:
    page = read(browser, AT)
    boxes = [box for box in page.all("input") if box.get("name") == "to"]
    assert (len(boxes), any("checked" in box for box in boxes)) == (9, False)
    assert page.to("2 open findings") == "/projects/p/findings?annotator=constant+1"
    refused = browser.post(AT, data=FORM | {"to": [], "others": " ", "per_annotator": "7"})
    assert (refused.status_code, "choose at least one annotator" in refused.text) == (422, True)
    assert 'name="per_annotator" min="1" value="7"' in refused.text
    assert states(flagged) == {}


def test_rounds_are_started_and_compared(client: TestClient, ledger: Ledger) -> None:
    import_items(ledger, [f"i{n}" for n in range(12)])
    give(ledger, [("i0", "ada", "x"), ("i0", "bo", "x")])
    at = "/projects/p/rounds"
    client.post(at, data={"guideline": "v1", "items": "6"})
    assert "It is the first round" in client.get(f"{at}/v1").text
    answer(ledger, agreeing=2)
    client.post(at, data={"guideline": "v2", "items": "5"})
    answer(ledger, agreeing=5)
    page = read(client, f"{at}/v2")
    assert "10 of 10 answers are there" in page.text
    assert "this round, the round before (v1)" in page.text
    assert "every item of" in client.post(at, data={"guideline": "v3"}).text
    assert read(client, AT).to("v2") == f"{at}/v2"
    assert client.get(f"{at}/v9").status_code == 404


DESK = "/projects/p/adjudicate"


@pytest.fixture
def contested(sqlite_ledger: Ledger) -> Ledger:
    texts = {"i1": "one", "i2": "two", "i3": "three"}
    rows = [(item, who, "x" if who == "ada" or item == "i3" else "y", text)
            for item, text in texts.items() for who in ("ada", "bo")]  # fmt: skip
    give(sqlite_ledger, rows, "p", "text")
    return sqlite_ledger


@pytest.fixture
def desk(contested: Ledger) -> Iterator[TestClient]:
    contested.users.add("mia", "manager", password=PASSWORD)
    with browser_at(contested) as browser:
        yield acting(browser, "mia")


def test_items_are_decided_in_turn_and_undone(desk: TestClient, contested: Ledger) -> None:
    page = read(desk, DESK)
    assert all(text in page.text for text in ("i1", "one", "ada", "bo", "guideline gap"))
    form = {"item": "i1", "category": "", "reason": "guideline gap", "note": "say it"}
    refused = desk.post(DESK, data=form)
    assert (refused.status_code, "needs a category" in refused.text) == (422, True)
    assert "say it" in refused.text
    assert contested.adjudication.show("p", "i1").decision is None
    answer = desk.post(DESK, data=form | {"category": "x"})
    assert answer.status_code == 303
    following = read(desk, answer.headers["location"]).text
    assert "say it" in following
    assert "two" in following
    decision = contested.adjudication.show("p", "i1").decision
    assert decision is not None
    assert decision.made_by == "mia"
    desk.post(DESK, data={"item": "i2", "category": "", "reason": "ambiguous"})
    assert "Nothing is left to decide" in read(desk, DESK).text
    assert desk.post(DESK, data={"item": "i1", "action": "undo"}).status_code == 303
    assert contested.adjudication.show("p", "i1").decision is None


def test_a_second_decision_sees_the_first(desk: TestClient, contested: Ledger) -> None:
    contested.adjudication.decide("p", "i1", ["y"], reason="ambiguous", note="I was first")
    form = {"item": "i1", "category": "x", "reason": "annotator error", "note": "mine"}
    answer = desk.post(DESK, data=form)
    assert answer.status_code == 422
    assert "I was first" in answer.text
    assert 'value="mine"' in answer.text
    decision = contested.adjudication.show("p", "i1").decision
    assert decision is not None
    assert decision.categories == ("y",)
    assert f'name="replaces" value="{decision.id}"' in answer.text
    assert desk.post(DESK, data=form | {"replaces": str(decision.id)}).status_code == 303
    decision = contested.adjudication.show("p", "i1").decision
    assert decision is not None
    assert decision.categories == ("x",)
