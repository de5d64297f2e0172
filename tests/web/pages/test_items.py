"""Items, listed and one by one."""

from __future__ import annotations

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from tests.profiles import both
from tests.web.reading import read
from tracker.ledger import Ledger

COLUMNS = ["item", "annotator", "category"]


def fill(ledger: Ledger, rows: list[tuple[str, str, str]]) -> None:
    ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")


def names(client: TestClient, address: str) -> list[str]:
    return [row[0] for row in read(client, address).rows[1:]]


@pytest.fixture
def answered(ledger: Ledger) -> Ledger:
    """Three items: agreed on, not agreed on, answered by one alone."""
    fill(ledger, [("same", "a", "x"), ("same", "b", "x"), ("two", "a", "x"), ("two", "b", "y"),
                  ("alone", "a", "y")])  # fmt: skip
    return ledger


@both
@pytest.mark.usefixtures("answered")
def test_the_items_asked_for_are_listed(client: TestClient) -> None:
    for asked, found in {
        "": ["same", "two", "alone"], "?differ=true": ["two"], "?category=y": ["two", "alone"],
        "?category=x&category=y": ["two"], "?fewer=2": ["alone"],
        "?annotator=a&annotator=b": ["same", "two"], "?q=ALO": ["alone"],
        "?q=ALO&category=&fewer=1000000": ["alone"],
    }.items():  # fmt: skip
        assert names(client, f"/projects/p/items{asked}") == found, asked


@both
def test_pages_of_items_lead_through_all_of_them(client: TestClient, ledger: Ledger) -> None:
    fill(ledger, [(f"item {n:03}", "a", "x") for n in range(120)])
    page = read(client, "/projects/p/items?q=item")
    assert "The first 50 items, in" in page.text
    found = [row[0] for row in page.rows[1:]]
    while "Next items" in page.text:
        page = read(client, page.to("Next items"))
        found += [row[0] for row in page.rows[1:]]
    assert "The last 20 items, in" in page.text
    assert found == [f"item {n:03}" for n in range(120)]
    assert "q=item" in page.to("First items")


@pytest.mark.usefixtures("answered")
def test_nothing_found_says_how_to_go_on(client: TestClient) -> None:
    page = read(client, "/projects/p/items?q=nothing")
    assert names(client, page.to("Show all items")) == ["same", "two", "alone"]


def test_a_name_of_any_signs_leads_to_its_item(client: TestClient, ledger: Ledger) -> None:
    odd = ["a/b", "..", ".", "50%2F", "a b?c#d", "é/items/x"]
    fill(ledger, [(name, "a", "x") for name in odd])
    for name in odd:
        page = read(client, read(client, "/projects/p/items").to(name))
        assert name in page.text.split("Answers")[0]


def test_an_item_shows_what_was_said_before(client: TestClient, ledger: Ledger) -> None:
    columns = [*COLUMNS, "labeled_at", "text", "comment"]
    for category, day, comment in (("x", "2026-01-01", "sure?"), ("y", "2026-01-02", "now <b>")):
        row = ("i", "a", category, day, "the text", comment)
        ledger.import_frame(pd.DataFrame([row], columns=columns), "p")
    page = read(client, "/projects/p/items/i")
    assert "the text" in page.text
    (_, now), (_, before) = page.rows[:2], page.rows[2:]
    assert [now[:3], now[-1]] == [["a", "y", "2026-01-02 00:00"], "now <b>"]
    assert [before[:4], before[-1]] == [["a", "x", "superseded", "2026-01-01 00:00"], "sure?"]


def test_the_moment_that_is_shown_stays_in_the_links(client: TestClient, ledger: Ledger) -> None:
    columns = [*COLUMNS, "labeled_at"]
    rows = [("old", "a", "x", "2026-01-01"), ("new", "a", "x", "2026-02-01"), ("old", "b", "x", "")]
    ledger.import_frame(pd.DataFrame(rows, columns=columns), "p")
    overview = read(client, "/projects/p?as_of=2026-01-15").text
    assert overview.count("no time of their own") == 1
    page = read(client, "/projects/p/items?as_of=2026-01-15&fewer=1000000")
    votes = {row[0]: row[1] for row in page.rows[1:]}
    assert votes["old"] == "x 1"
    assert votes.get("new", "") == ""
    assert page.to("old").endswith("as_of=2026-01-15")
    assert "as_of" not in page.to("Show the project as it is now")
    for moment in ("as_of=2026-01-15", "known_at=2026-01-15"):
        page = read(client, f"/projects/p/items/new?{moment}")
        assert "Nobody had answered it then" in page.text
        assert page.to("Items").endswith(moment)
    assert page.to("Show the project as it is now") == "?"


@both
def test_the_most_disputed_item_comes_first(client: TestClient, ledger: Ledger) -> None:
    answers = {"alike": "33", "near": "34", "far": "15", "alone": "2"}
    rows = [(item, who, given) for item, said in answers.items()
            for who, given in zip("ab", said, strict=False)]  # fmt: skip
    fill(ledger, rows)
    for scale, order in (
        ("nominal", ["near", "far", "alike", "alone"]),
        ("interval", ["far", "near", "alike", "alone"]),
    ):
        ledger.projects.set("p", scale=scale)
        page = read(client, "/projects/p/items?order=disagreement")
        assert [row[0] for row in page.rows[1:]] == order
    page = read(client, "/projects/p/items?order=answers")
    assert page.rows[1][0] == "alone"
    assert client.get("/projects/p/items?order=none").status_code == 422
