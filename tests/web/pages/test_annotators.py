"""Annotators: all, one, and two of them."""

from __future__ import annotations

import pandas as pd
from fastapi.testclient import TestClient

from tests.web.reading import read
from tracker.ledger import Ledger

COLUMNS = ["item", "annotator", "category"]


def test_of_many_annotators_the_weakest_are_drawn(client: TestClient, ledger: Ledger) -> None:
    people = [f"p{n:02}" for n in range(44)] + ["odd"]
    rows = [(f"i{n}", who, "xy"[(n % 2) ^ (who == "odd")]) for n in range(6) for who in people]
    ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")
    page = read(client, "/projects/p/pairs")
    assert "Of 45 annotators the 40 who agree least" in page.text
    assert "200 of 990 pairs" in page.text
    drawn = page.rows[0][1:]
    assert len(drawn) == 40
    assert "odd" in drawn
    assert page.rows[41 + 1][0] == "odd / p00"


def test_a_manager_pauses_and_resumes_an_annotator(browser: TestClient, flagged: Ledger) -> None:
    at = "/projects/p/annotators/constant%201"
    assert "Pause constant 1" in read(browser, at).text
    data = {"pause": "true", "note": "reads <b> again"}
    browser.post(f"{at}/presence", data=data)
    page = read(browser, at).text
    assert "reads <b> again" in page
    assert "constant 1 may go on" in page
    assert "Pause constant 1" not in page
    assert "paused" in read(browser, "/projects/p/annotators").text
    browser.post(f"{at}/presence", data={"resume": "true"})
    assert "Paused since" not in read(browser, at).text
    browser.post(f"{at}/presence", data={"on": "2026-01-01"})
    refused = browser.post(f"{at}/presence", data=data)
    assert (refused.status_code, "left" in refused.text) == (422, True)
    assert flagged.annotators.show("p", "constant 1").annotator.paused_since is None
