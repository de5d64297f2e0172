"""Searching all projects, and showing one as it was."""

from __future__ import annotations

import pandas as pd
from fastapi.testclient import TestClient

from tests.web.reading import read
from tracker.ledger import Ledger

COLUMNS = ["item", "annotator", "category", "text", "labeled_at"]
ROWS = [("i1", "Ada", "x", "the Grün leaf", "2026-01-01"),
        ("i2", "bo", "y", "100% sure", "2026-02-01")]  # fmt: skip


def fill(ledger: Ledger) -> None:
    ledger.import_frame(pd.DataFrame(ROWS, columns=COLUMNS), "leaves")
    ledger.projects.create("other")


def test_names_and_texts_are_found_with_where_they_are(client: TestClient, ledger: Ledger) -> None:
    fill(ledger)
    for asked, link in (("ada", "Ada"), ("LEAF", "i1"), ("100%25", "i2"), ("oth", "other")):
        page = read(client, f"/search?q={asked}")
        assert read(client, page.to(link)).text
    assert "other" not in {text for text, _ in read(client, "/search?q=leaf").links}
    assert "No name or text contains this" in read(client, "/search?q=none").text
    assert "No name or text contains this" not in read(client, "/search?q=+").text


def test_a_project_as_it_was_keeps_what_was_chosen(client: TestClient, ledger: Ledger) -> None:
    fill(ledger)
    page = client.get("/projects/leaves/items?q=leaf&as_of=2026-01-15")
    assert "As of 2026-01-15" in page.text
    assert '<input type="hidden" name="q" value="leaf">' in page.text
    figures = read(client, "/projects/leaves?as_of=2026-01-15").text
    assert "1 annotator gave 1 answer" in figures
    assert read(client, "/projects/leaves?as_of=never", 422).text
