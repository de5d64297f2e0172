"""A project, its questions and their categories."""

from __future__ import annotations

import re

import pandas as pd
from fastapi.testclient import TestClient

from tests.agreement.test_recent import collapse, year
from tests.profiles import both
from tests.web.reading import read
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

COLUMNS = ["item", "annotator", "category"]


def test_a_project_says_what_to_do_and_leads_to_its_figures(
    client: TestClient, flagged: Ledger
) -> None:
    page = read(client, "/projects/p")
    for words in ("Can these labels be trusted?", "What to do first", "Whom to talk to"):
        assert words in page.text
    assert "Review constant 1" in page.text
    figures = flagged.agreement("p").to_dict()
    first = figures["categories"][0]
    (row,) = [row for row in page.rows if row[0] == first["category"] and len(row) == 5]
    assert row[1] == f"{first['rate']:.3f}"
    question = read(client, page.to("All figures"))
    (row,) = [row for row in question.rows if row[0].startswith("Krippendorff's alpha")]
    alpha = next(m for m in figures["measures"] if m["measure"] == "krippendorff_alpha")
    assert row[1] == f"{alpha['value']:.3f}"
    assert row[3] == f"{alpha['ci_low']:.3f} to {alpha['ci_high']:.3f}"


@both
def test_a_number_of_items_leads_to_as_many(client: TestClient, ledger: Ledger) -> None:
    rows = [(str(n), who, "x" if n % 3 or who == "a" else "y") for n in range(9) for who in "ab"]
    ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")
    page = read(client, "/projects/p/questions/label")
    (row,) = [row for row in page.rows if row[0] == "x / y"]
    assert row[1] == row[-1] == "3"
    (address,) = {href for text, href in page.links if text == "3" and "category" in href
                  and "differ" in href}  # fmt: skip
    assert len(read(client, address).rows) == 1 + 3


def test_a_category_shows_what_it_is_confused_with(client: TestClient, ledger: Ledger) -> None:
    rows = [("1", "a", "x"), ("1", "b", "y"), ("2", "a", "x"), ("2", "b", "x"), ("3", "a", "w"),
            ("3", "b", "y")]  # fmt: skip
    ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")
    page = read(client, "/projects/p/questions/label/categories/x")
    assert [row[:2] for row in page.rows[1:]] == [["x / y", "1"]]
    assert ("1", "/projects/p/items/1") in page.links
    assert ("3", "/projects/p/items/3") not in page.links
    assert "there is no category" in read(
        client, "/projects/p/questions/label/categories/z", 404).text  # fmt: skip


def test_the_weakest_question_comes_first(client: TestClient, ledger: Ledger) -> None:
    ledger.projects.create("p")
    ledger.questions.rename("p", "label", "good")
    ledger.questions.add("p", "bad")
    rows = [
        (str(n), who, question, "y" if question == "bad" and who == "b" and n % 2 else "xy"[n % 2])
        for n in range(8)
        for who in "ab"
        for question in ("good", "bad")
    ]
    rows = [(i, w, q, "x" if q == "bad" and w == "b" else c) for i, w, q, c in rows]
    ledger.import_frame(
        pd.DataFrame(rows, columns=["item", "annotator", "question", "category"]), "p"
    )
    page = read(client, "/projects/p")
    questions = [
        href.rsplit("/", 1)[1]
        for _, href in page.links
        if "/questions/" in href and "categories" not in href
    ]
    assert questions[:2] == ["bad", "good"]
    start = read(client, "/")
    assert "weakest: bad" in start.text
    (row,) = start.rows[1:]
    assert row[4].endswith("to 2 questions"), "the overview counts those to one"


def test_the_report_to_send_is_a_file(client: TestClient, flagged: Ledger) -> None:
    answer = client.get("/projects/p/report")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "script-src" not in answer.headers["content-security-policy"]
    assert "<style>" in answer.text
    assert "constant 1" in answer.text


def test_every_link_of_what_is_confused_leads_somewhere(client: TestClient, ledger: Ledger) -> None:
    ledger.projects.create("p", answers="several")
    rows = [("1", "a", "x"), ("1", "b", ""), ("2", "a", "x"), ("2", "b", "x"), ("2", "b", "y")]
    ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")
    for path in ("", "/categories/x"):
        page = read(client, f"/projects/p/questions/label{path}")
        assert any(row[0] in {"(none) / x", "x / (none)"} for row in page.rows)
        for _, address in page.links:
            if address.startswith("/projects"):
                assert client.get(address).status_code == 200, address


def test_the_weakest_category_comes_first(client: TestClient, ledger: Ledger) -> None:
    rows = [
        *((str(n), who, "a") for n in range(3) for who in "vw"),
        ("7", "v", "c"), ("7", "w", "a"), ("8", "v", "c"), ("8", "w", "b"), ("9", "v", "b"),
        ("9", "w", "b"), ("10", "v", "alone"),
    ]  # fmt: skip
    ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")
    page = read(client, "/projects/p")
    shown = [row[0] for row in page.rows if row[0] in {"a", "b", "c", "alone"} and len(row) == 5]
    assert shown == ["c", "b", "a", "alone"]
    assert "the weakest question" not in page.text


def test_many_numbers_are_not_shown_one_by_one(client: TestClient, sqlite_ledger: Ledger) -> None:
    rows = [(str(n), who, 7.25 * n + (who == "b") * 0.5) for n in range(30) for who in "ab"]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category"])
    sqlite_ledger.import_frame(frame, "p", options=QuestionOptions(scale="interval"))
    sqlite_ledger.snapshot("p")
    shown = ("", "questions/label", "annotators/a", "settings", "snapshots/1", "compare?a=1&b=1")
    for address in shown:
        text = client.get(f"/projects/p/{address}").text
        assert not re.search(r"\b(43\.5|72\.5)\b", text), address
        assert not re.search(">0.0%<|>With the others<|>Agreement<", text), address
    pair = read(client, "/projects/p/annotators/a/with/b").text
    assert "Answer against answer" not in pair
    assert "Same answer" not in pair
    assert "too many for a row each" in read(client, "/projects/p").text
    assert "60 different numbers" in read(client, "/projects/p/settings").text
    form = {"question": "label", "scale": "ratio"}
    assert client.post("/projects/p/settings", data=form).status_code == 200
    assert len(sqlite_ledger.projects.show("p").categories) == 60


def test_findings_that_nobody_recorded_are_not_counted_as_none(
    client: TestClient, ledger: Ledger
) -> None:
    rows = [(str(n), who, "x") for n in range(3) for who in "ab"]
    ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")
    start = read(client, "/")
    assert "none recorded" in start.text
    assert start.to("Record an audit") == "/projects/p/findings"
    assert read(client, "/projects/p").to("record an audit") == "/projects/p/findings"


def test_a_page_that_is_opened_does_not_wait_for_its_figures(
    client: TestClient, flagged: Ledger
) -> None:
    assert flagged
    client.app.state.patience = 0  # type: ignore[attr-defined]
    opened = {"sec-fetch-mode": "navigate"}
    assert client.get("/projects/p/settings", headers=opened).status_code == 200
    page = client.get("/projects/p?as_of=2026-01-01&x=1", headers=opened)
    assert page.status_code == 202
    assert 'content="0; url=?as_of=2026-01-01&amp;x=1&amp;wait=yes"' in page.text
    assert client.get("/projects/none", headers=opened).status_code == 404
    assert client.get("/api/v1/projects/p/status", headers=opened).status_code == 200
    assert "counting …" in client.get("/", headers=opened).text
    assert "(needs 0.667)" in client.get("/projects/p/row").text
    assert client.get("/projects/p?wait=yes", headers=opened).status_code == 200
    assert client.get("/projects/p", headers=opened).status_code == 200, "kept"
    page = client.get("/projects/p/report", headers=opened)
    assert page.status_code == 202
    assert 'content="0; url=?wait=yes"' in page.text
    report = client.get("/projects/p/report?wait=yes", headers=opened)
    assert report.headers["content-disposition"].startswith("attachment")


def test_figures_of_before_a_change_are_shown_until_there_are_new_ones(
    client: TestClient, flagged: Ledger
) -> None:
    before = read(client, "/projects/p").text
    client.app.state.patience = 0  # type: ignore[attr-defined]
    opened = {"sec-fetch-mode": "navigate"}
    rows = [(f"new {n}", who, "x") for n in range(40) for who in ("ada", "bo")]
    flagged.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")
    for headers in (opened, {"hx-request": "true", "hx-target": "live"}):
        shown = client.get("/projects/p?x=1", headers=headers)
        assert shown.status_code == 200
        assert "New answers are being counted" in shown.text
        assert 'hx-get="?x=1&amp;wait=yes"' in shown.text
        assert "counting …" in client.get("/", headers=headers).text
    new = read(client, "/projects/p?wait=yes").text
    assert "are being counted" not in new
    assert new != before
    assert "are being counted" not in client.get("/projects/p", headers=opened).text


def test_a_collapse_is_told_by_every_page_that_shows_the_figure(
    client: TestClient, sqlite_ledger: Ledger
) -> None:
    sqlite_ledger.import_frame(year(collapse), "p")
    sqlite_ledger.import_frame(year(lambda *_: 0.93), "steady")
    recent = sqlite_ledger.agreement("p").recent
    assert recent is not None
    told = f"{recent.now.value:.3f} since {recent.day}; before, {recent.before:.3f}"
    text = read(client, "/").text
    assert text.count(told) == text.count(" since ") == 1
    for address in ("/projects/p", "/projects/p/questions/label"):
        assert sqlite_ledger.agreement("p").recent_words in read(client, address).text
    for address in ("/projects/steady", "/projects/steady/questions/label"):
        assert "before, it was" not in read(client, address).text
