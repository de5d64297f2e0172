"""Items, listed and one by one."""

from __future__ import annotations

import re
from html import unescape

from fastapi.testclient import TestClient

from tests.helpers import give
from tests.profiles import both
from tests.web.reading import read
from tracker.ledger import Ledger

AT = "/projects/p/items"


def names(client: TestClient, address: str) -> list[str]:
    return [row[0] for row in read(client, address).rows[1:]]


def test_items_are_chosen_by_answers_and_attributes(client: TestClient, ledger: Ledger) -> None:
    rows = [("same", "a", "x", "nl"), ("same", "b", "x", "nl"), ("two", "a", "x", "de"),
            ("two", "b", "y", "de"), ("alone", "a", "y", "nl")]  # fmt: skip
    give(ledger, rows, "p", "language", keep=["language"])
    for query, expected in {
        "": ["same", "two", "alone"], "?differ=true": ["two"], "?category=y": ["two", "alone"],
        "?category=x&category=y": ["two"], "?fewer=2": ["alone"],
        "?annotator=a&annotator=b": ["same", "two"], "?q=ALO": ["alone"],
        "?q=ALO&category=&fewer=1000000": ["alone"], "?where=language%3Dnl": ["same", "alone"],
        "?where=language%3Dnl&category=y": ["alone"],
    }.items():  # fmt: skip
        assert names(client, f"{AT}{query}") == expected, query
    assert names(client, read(client, f"{AT}/same").to("nl")) == ["same", "alone"]


def test_pages_of_items_lead_through_all_of_them(client: TestClient, ledger: Ledger) -> None:
    give(ledger, [(f"item {n:03}", "a", "x") for n in range(120)])
    page = read(client, f"{AT}?q=item")
    assert "The first 50 items, in" in page.text
    items = [row[0] for row in page.rows[1:]]
    while "Next items" in page.text:
        page = read(client, page.to("Next items"))
        items += [row[0] for row in page.rows[1:]]
    assert "The last 20 items, in" in page.text
    assert items == [f"item {n:03}" for n in range(120)]
    assert "q=item" in page.to("First items")


def test_an_item_shows_its_past(client: TestClient, ledger: Ledger) -> None:
    for category, day in (("x", "2026-01-01"), ("y", "2026-01-02")):
        give(ledger, [("i", "a", category, day)], "p", "labeled_at")
    page = read(client, f"{AT}/i")
    assert page.rows[1] == ["a", "y"]
    assert [row[1:3] for row in page.rows[3:]] == [["x", "superseded"], ["y", "stands"]]


def test_the_chosen_moment_stays_in_the_links(client: TestClient, ledger: Ledger) -> None:
    rows = [("old", "a", "x", "2026-01-01"), ("new", "a", "x", "2026-02-01")]
    give(ledger, rows, "p", "labeled_at")
    page = read(client, f"{AT}?as_of=2026-01-15&fewer=1000000")
    assert "as_of=2026-01-15" in page.to("old")
    assert "as_of" not in page.to("Show the project as it is now")
    page = read(client, f"{AT}/new?known_at=2026-01-15")
    assert "Nobody had answered it then" in page.text
    assert page.to("Items").endswith("known_at=2026-01-15")


@both
def test_the_most_disputed_item_comes_first(client: TestClient, ledger: Ledger) -> None:
    answers = {"alike": "33", "near": "34", "far": "15", "alone": "2"}
    give(ledger, [(item, who, given) for item, pair in answers.items()
                  for who, given in zip("ab", pair, strict=False)])  # fmt: skip
    for scale, order in (
        ("nominal", ["near", "far", "alike", "alone"]),
        ("interval", ["far", "near", "alike", "alone"]),
    ):
        ledger.projects.set("p", scale=scale)
        assert names(client, f"{AT}?order=disagreement") == order


def test_an_item_leads_to_its_neighbors_in_the_list(client: TestClient, ledger: Ledger) -> None:
    odd = ["a/b", "..", ".", "50%2F", "a b?c#d", "é/items/x"]
    give(ledger, [(name, "a", "x") for name in odd], accept=["missing_words"])
    for name in odd:
        page = read(client, read(client, AT).to(name))
        assert name in page.text.split("Answers")[0]
    give(ledger, [(f"i{n:02}", who, category) for n in range(6)
                  for who, category in (("a", "x"), ("b", "xy"[n % 2]))])  # fmt: skip
    page = read(client, read(client, f"{AT}?differ=true").to("i01"))
    assert "Previous" not in page.text
    page = read(client, page.to("Next"))
    assert "i03" in page.text
    assert "/items/i01?" in page.to("Previous")
    assert page.to("Back to the list").endswith("?differ=True")


def test_media_are_shown_only_from_hosts_of_the_project(client: TestClient, ledger: Ledger) -> None:
    give(ledger, [("i", "a", "x", "https://m.test/i.png")], "p", "text")
    page = client.get(f"{AT}/i")
    assert "<img" not in page.text
    assert "is not shown" in page.text
    assert "m.test" not in page.headers["content-security-policy"]
    ledger.projects.set("p", media_hosts=["m.test"], item_link="https://l.test/{item}")
    page = client.get(f"{AT}/i")
    assert '<img src="https://m.test/i.png"' in page.text
    policy = page.headers["content-security-policy"]
    assert "img-src 'self' data: https://m.test; media-src https://m.test;" in policy
    assert 'href="https://l.test/i"' in page.text


def test_a_list_is_a_file_and_a_saved_view(client: TestClient, ledger: Ledger) -> None:
    give(ledger, [("i", "ada", "x"), ("i", "bo", "=y"), ("j", "ada", "x")])
    answer = client.get(f"{AT}.csv?differ=true")
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.text.splitlines() == ["item,text,answers,'=y,x,(none)", "i,,2,1,1,0"]
    assert len(client.get(f"{AT}.csv?order=recent").text.splitlines()) == 3
    page = client.get(f"{AT}?differ=true&category=x&annotator=&after=0").text
    query = unescape(re.findall(r'name="query" value="([^"]*)"', page)[0])
    form = {"name": "ada's <odd>", "query": query}
    assert client.post(f"{AT}/views", data=form).status_code == 200
    listed = read(client, AT)
    assert names(client, listed.to("ada's <odd>")) == ["i"]
    assert "Forget the view" in read(client, listed.to("ada's <odd>")).text
    assert "Save the view" not in listed.text
    client.post(f"{AT}/views", data={"name": "ada's <odd>", "forget": "true"})
    assert ledger.items.views("p") == {}
    assert client.post(f"{AT}/views", data={"name": "x", "query": "{"}).status_code == 422
    ledger.items.save_view("p", "of one", {"annotator": ["ada"]})
    ledger.items.save_view("p", "all", {"differ": True})
    ledger.annotators.erase("p", "ada")
    assert {*ledger.items.views("p")} == {"all"}
