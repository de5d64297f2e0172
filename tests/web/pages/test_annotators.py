"""Annotators: all, one, and two of them."""

from __future__ import annotations

import pandas as pd
from fastapi.testclient import TestClient

from tests.web.reading import read
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

COLUMNS = ["item", "annotator", "category"]


def test_two_annotators_are_compared_on_a_question(client: TestClient, ledger: Ledger) -> None:
    rows = [("1", "a", "x"), ("1", "b", "y"), ("2", "a", "x"), ("2", "b", "x"), ("3", "a", "y"),
            ("3", "b", "y")]  # fmt: skip
    ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")
    page = read(client, read(client, "/projects/p/annotators/a").to("b"))
    assert page.rows[1:] == [["x", "1", "1"], ["y", "", "1"]]
    assert ("1", "/projects/p/items/1") in page.links
    assert ("2", "/projects/p/items/2") not in page.links
    kappa = ledger.by_pair("p").to_dict()["pairs"][0]["cohen_kappa"]
    assert f"{kappa:.3f}" in page.text
    ledger.questions.rename("p", "label", "topic")
    ledger.questions.add("p", "tone")
    rows = [(item, who, "tone", "x") for item in "12" for who in "ab"]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "question", "category"])
    ledger.import_frame(frame, "p")
    assert "None: wherever both answered, they agree." in read(
        client, "/projects/p/annotators/a/with/b?question=tone").text  # fmt: skip
    page = read(client, "/projects/p/annotators/a/with/b?question=topic")
    assert ("1", "/projects/p/items/1") in page.links


def test_ordered_answers_and_spans_have_own_figures(client: TestClient, ledger: Ledger) -> None:
    rows = [(str(n), who, str(n % 4 + (who == "b") * (n % 3))) for n in range(12) for who in "ab"]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    ledger.import_frame(frame, "p", options=QuestionOptions(scale="ordinal"))
    (pair,) = ledger.by_pair("p", weights="quadratic").to_dict()["pairs"]
    for address in ("annotators/a", "annotators/a/with/b", "questions/label"):
        text = read(client, f"/projects/p/{address}").text
        assert f"{pair['cohen_kappa']:.3f}" in text
        assert "quadratic weights" in text
    ledger.projects.create("s", answers="spans")
    spans = [("1", "a", "x", 0, 3), ("1", "b", "x", 0, 3), ("1", "b", "y", 5, 6)]
    ledger.import_frame(pd.DataFrame(spans, columns=[*COLUMNS, "start", "end"]), "s")
    own = read(client, "/projects/s/annotators/a").text
    assert "Exact F1" in own
    assert not any(fact in own for fact in ("Against gold", "With themselves"))
    page = read(client, "/projects/s/annotators/a/with/b")
    assert "Answer against answer" not in page.text
    assert "0.667" in page.text


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
