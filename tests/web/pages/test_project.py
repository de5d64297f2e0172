"""A project, its questions and their categories, and the search for them."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient

from tests.helpers import give
from tests.web.reading import read
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

OPENED = {"sec-fetch-mode": "navigate"}


def test_a_number_of_items_leads_to_as_many(client: TestClient, ledger: Ledger) -> None:
    give(ledger, [(str(n), who, "x" if n % 3 or who == "a" else "y")
                  for n in range(9) for who in "ab"] + [("9", "a", "alone")])  # fmt: skip
    rows = read(client, "/projects/p").rows
    shown = [row[0] for row in rows if row[0] in {"x", "y", "alone"} and len(row) == 5]
    assert shown == ["y", "x", "alone"], "the weakest first, one without a figure last"
    page = read(client, "/projects/p/questions/label")
    (row,) = [row for row in page.rows if row[0] == "x / y"]
    assert row[1] == row[-1] == "3"
    (address,) = {href for text, href in page.links if text == "3" and "category" in href
                  and "differ" in href}  # fmt: skip
    assert len(read(client, address).rows) == 1 + 3


def test_many_numbers_are_not_shown_one_by_one(client: TestClient, ledger: Ledger) -> None:
    rows = [(str(n), who, 7.25 * n + (who == "b") * 0.5) for n in range(8) for who in "ab"]
    give(ledger, rows, options=QuestionOptions(scale="interval"))
    ledger.snapshot("p")
    for address in ("", "questions/label", "annotators/a", "snapshots/1"):
        text = client.get(f"/projects/p/{address}").text
        assert not re.search(r"\b(43\.5|29\.5)\b", text), address
        assert not re.search(">0.0%<|>With the others<|>Agreement<", text), address


def test_an_opened_page_does_not_wait_for_its_figures(client: TestClient, flagged: Ledger) -> None:
    client.app.state.patience = 0  # type: ignore[attr-defined]
    assert client.get("/projects/p/settings", headers=OPENED).status_code == 200
    page = client.get("/projects/p?as_of=2026-01-01&x=1", headers=OPENED)
    assert page.status_code == 202
    assert 'content="0; url=?as_of=2026-01-01&amp;x=1&amp;wait=yes"' in page.text
    assert client.get("/projects/none", headers=OPENED).status_code == 404
    assert client.get("/api/v1/projects/p/status", headers=OPENED).status_code == 200
    counting = client.get("/", headers=OPENED).text
    assert "counting …" in counting
    assert 'hx-get="/projects/p/row"' in counting
    assert "(needs 0.667)" in client.get("/projects/p/row").text
    before = client.get("/projects/p?wait=yes", headers=OPENED)
    assert before.status_code == 200
    assert client.get("/projects/p", headers=OPENED).status_code == 200, "cached"
    page = client.get("/projects/p/report", headers=OPENED)
    assert page.status_code == 202
    assert 'content="0; url=?wait=yes"' in page.text
    report = client.get("/projects/p/report?wait=yes", headers=OPENED)
    assert report.headers["content-disposition"].startswith("attachment")
    assert "script-src" not in report.headers["content-security-policy"]
    assert "<style>" in report.text
    assert "constant 1" in report.text
    # Figures of before a change are shown until there are new ones.
    give(flagged, [(f"new {n}", who, "x") for n in range(40) for who in ("ada", "bo")])
    for headers in (OPENED, {"hx-request": "true", "hx-target": "live"}):
        shown = client.get("/projects/p?x=1", headers=headers)
        assert shown.status_code == 200
        assert "New answers are being counted" in shown.text
        assert 'hx-get="?x=1&amp;wait=yes"' in shown.text
        assert "counting …" in client.get("/", headers=headers).text
    new = client.get("/projects/p?wait=yes", headers=OPENED).text
    assert "are being counted" not in new
    assert new != before.text
    assert "are being counted" not in client.get("/projects/p", headers=OPENED).text


def test_names_and_texts_are_found_with_their_places(client: TestClient, ledger: Ledger) -> None:
    rows = [("i1", "Ada", "x", "the Grün leaf", "2026-01-01"),
            ("i2", "bo", "y", "100% sure", "2026-02-01")]  # fmt: skip
    give(ledger, rows, "leaves", "text", "labeled_at")
    ledger.projects.create("other")
    for query, link in (("ada", "Ada"), ("LEAF", "i1"), ("100%25", "i2"), ("oth", "other")):
        page = read(client, f"/search?q={query}")
        assert read(client, page.to(link)).text
    assert "other" not in {text for text, _ in read(client, "/search?q=leaf").links}
    assert "No name or text contains this" in read(client, "/search?q=none").text
    assert "No name or text contains this" not in read(client, "/search?q=+").text
