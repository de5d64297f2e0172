"""Items, listed and one by one."""

from __future__ import annotations

import re
from html import unescape

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
    assert page.rows[1] == ["a", "y"]
    assert [[*row[:4], row[-1]] for row in page.rows[3:]] == [
        ["a", "x", "superseded", "2026-01-01 00:00", "sure?"],
        ["a", "y", "stands", "2026-01-02 00:00", "now <b>"],
    ]


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
    assert "as_of=2026-01-15" in page.to("old")
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


@both
def test_items_are_chosen_by_their_attributes(client: TestClient, ledger: Ledger) -> None:
    rows = [("i", "a", "x", "nl"), ("j", "a", "x", "de"), ("k", "a", "y", "nl")]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "language"])
    ledger.import_frame(frame, "p", keep=["language"])
    assert names(client, "/projects/p/items?where=language%3Dnl") == ["i", "k"]
    assert names(client, "/projects/p/items?where=language%3Dnl&category=y") == ["k"]
    page = read(client, "/projects/p/items/i")
    assert names(client, page.to("nl")) == ["i", "k"]
    assert "no item" in read(client, "/projects/p/items?where=language%3Dfr", 422).text


def test_an_item_leads_to_those_beside_it_in_the_list(client: TestClient, ledger: Ledger) -> None:
    fill(ledger, [(f"i{n:02}", who, category) for n in range(60)
                  for who, category in (("a", "x"), ("b", "xy"[n % 2]))])  # fmt: skip
    page = read(client, read(client, "/projects/p/items?differ=true").to("i01"))
    assert "Previous" not in page.text
    page = read(client, page.to("Next"))
    assert "i03" in page.text
    assert "/items/i01?" in page.to("Previous")
    assert page.to("Back to the list").endswith("?differ=True")
    page = read(client, read(client, "/projects/p/items").to("i49"))
    assert names(client, page.to("Next items"))[0] == "i50"
    assert "Previous" not in read(client, "/projects/p/items/i55").text


def test_an_item_tells_whose_answer_differs(client: TestClient, ledger: Ledger) -> None:
    fill(ledger, [("i", who, "x" if who != "c" else "y") for who in "abc"])
    ledger.import_frame(pd.DataFrame([("i", "gpt", "x")], columns=COLUMNS), "p")
    ledger.annotators.kind("p", "gpt", "model")
    page = read(client, "/projects/p/items/i")
    assert page.rows[1:6] == [
        ["a", "x"], ["b", "x"], ["c", "ydiffers"], ["gptmodel", "x"], ["People", "x2 of 3"],
    ]  # fmt: skip
    assert page.to("c").endswith("/annotators/c")


def test_media_are_shown_only_of_hosts_that_the_project_names(
    client: TestClient, ledger: Ledger
) -> None:
    frame = pd.DataFrame([("i", "a", "x", "https://m.test/i.png")], columns=[*COLUMNS, "text"])
    ledger.import_frame(frame, "p")
    page = client.get("/projects/p/items/i")
    assert "<img" not in page.text
    assert "is not shown" in page.text
    assert "m.test" not in page.headers["content-security-policy"]
    ledger.projects.set("p", media_hosts=["m.test"], item_link="https://l.test/{item}")
    page = client.get("/projects/p/items/i")
    assert '<img src="https://m.test/i.png"' in page.text
    policy = page.headers["content-security-policy"]
    assert "img-src 'self' data: https://m.test; media-src https://m.test;" in policy
    assert 'href="https://l.test/i"' in page.text


@both
def test_all_chosen_items_are_a_file(client: TestClient, ledger: Ledger) -> None:
    fill(ledger, [("i", "a", "x"), ("i", "b", "=y"), ("j", "a", "x")])
    answer = client.get("/projects/p/items.csv?differ=true")
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.text.splitlines() == ["item,text,answers,'=y,x,(none)", "i,,2,1,1,0"]
    assert len(client.get("/projects/p/items.csv?order=recent").text.splitlines()) == 3


@both
def test_a_list_is_saved_as_a_view_and_forgotten(client: TestClient, ledger: Ledger) -> None:
    fill(ledger, [("i", "ada", "x"), ("i", "bo", "y"), ("j", "ada", "x")])
    page = client.get("/projects/p/items?differ=true&category=x&annotator=&after=0").text
    query = unescape(re.findall(r'name="query" value="([^"]*)"', page)[0])
    form = {"name": "ada's <odd>", "query": query}
    assert client.post("/projects/p/items/views", data=form).status_code == 200
    listed = read(client, "/projects/p/items")
    assert names(client, listed.to("ada's <odd>")) == ["i"]
    assert "Forget the view" in read(client, listed.to("ada's <odd>")).text
    assert "Save the view" not in listed.text
    client.post("/projects/p/items/views", data={"name": "ada's <odd>", "forget": "true"})
    assert ledger.items.views("p") == {}
    assert (
        client.post("/projects/p/items/views", data={"name": "x", "query": "{"}).status_code == 422
    )


def test_a_view_of_somebody_who_is_erased_is_forgotten(ledger: Ledger) -> None:
    fill(ledger, [("i", "ada", "x"), ("i", "bo", "y")])
    ledger.items.save_view("p", "of one", {"annotator": ["ada"]})
    ledger.items.save_view("p", "all", {"differ": True})
    ledger.annotators.erase("p", "ada")
    assert {*ledger.items.views("p")} == {"all"}
