"""Annotators, and models as judges; names of people and categories mended in the browser."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from tests.filled import FillOnce
from tests.helpers import give
from tests.judge.faces import VERDICTS, fill_judges
from tests.web.reading import read
from tracker.ledger import Ledger


def test_of_many_annotators_the_weakest_are_drawn(client: TestClient, ledger: Ledger) -> None:
    people = [f"p{n:02}" for n in range(44)] + ["odd"]
    rows = [(f"i{n}", who, "xy"[(n % 2) ^ (who == "odd")]) for n in range(6) for who in people]
    give(ledger, rows)
    page = read(client, "/projects/p/pairs")
    assert "Of 45 annotators the 40 who agree least" in page.text
    assert "200 of 990 pairs" in page.text
    drawn = page.rows[0][1:]
    assert len(drawn) == 40
    assert "odd" in drawn
    assert page.rows[41 + 1][0] == "odd / p00"


def test_two_annotators_are_compared_on_a_question(client: TestClient, ledger: Ledger) -> None:
    rows = [("1", who, who, "y") for who in "ab"] + [("2", who, "x", "y") for who in "ab"]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "topic", "tone"])
    ledger.import_frame(frame, "p", questions=["topic=topic", "tone=tone"])
    for question, differ in (("topic", True), ("tone", False)):
        page = read(client, f"/projects/p/annotators/a/with/b?question={question}")
        assert (("1", "/projects/p/items/1") in page.links) == differ


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


def test_each_judge_has_its_verdict_and_the_items_it_confuses(
    client: TestClient, ledger: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ledger, fill_judges)
    listed = read(client, "/projects/judged/judges")
    assert {row[0]: row[1] for row in listed.rows if row[0] in VERDICTS} == VERDICTS
    advice = {"good": "surely no more than 0.05 below", "few": "Have people answer more",
              "poor": "See these items"}  # fmt: skip
    for name, verdict in VERDICTS.items():
        page = read(client, listed.to(name))
        for words in (verdict, advice[name]):
            assert words in page.text
    page = read(client, listed.to("poor"))
    (judge,) = ledger.judges.judge("judged", models=["poor"]).judges
    worst = judge.confusion[0]
    assert [worst.truth, worst.given, f"{worst.items:,}"] in page.rows
    items = read(client, page.to("See these items"))
    assert f"Answered by poor; somebody else gave {worst.truth}" in items.text
    votes = [row[1] for row in items.rows[1:]]
    assert votes
    assert all(name in vote for vote in votes for name in (worst.truth, worst.given))


AT = "/projects/m/questions/label"


@pytest.fixture
def muddled(ledger: Ledger) -> Ledger:
    """Two people who agree but for what one calls `pos`; one of them once had another name."""
    rows = [(str(n), who, "neg" if n % 2 else "pos" if who == "bo" else "positive")
            for n in range(20) for who in ("ada", "bo")]  # fmt: skip
    rows.append(("20", "Ada ", "neg"))
    give(ledger, rows, project="m")
    return ledger


def categories(ledger: Ledger) -> list[str]:
    return [row.category for row in ledger.categories.list("m").categories]


def test_categories_are_merged_split_and_renamed(browser: TestClient, muddled: Ledger) -> None:
    empty = r'required><option value="">choose</option>(?:<option>[^<]*</option>)+</select>'
    for path, forms in ((AT, 2), (f"{AT}/categories/neg", 1), ("/projects/m/settings", 2),
                        ("/projects/m/annotators/bo", 1)):  # fmt: skip
        assert len(re.findall(empty, browser.get(path).text)) == forms, path
    for into, words in (("none", "there is no category"), ("pos", "the two categories are one")):
        refused = browser.get(f"{AT}/merge?category=pos&into={into}")
        assert (refused.status_code, words in refused.text) == (422, True)
    preview = read(browser, f"{AT}/merge?category=pos&into=positive")
    assert "10 answers “pos” would count as “positive”" in preview.text
    now, merged = (row for row in preview.rows if row[0] in {"Now", "As one"})
    assert float(now[2]) < 0.5
    assert float(merged[2]) == 1.0
    assert (now[-1], merged[-1]) == ("3", "2")
    assert categories(muddled) == ["neg", "pos", "positive"]
    done = browser.post(f"{AT}/merge", data={"category": "pos", "into": "positive"})
    assert categories(muddled) == ["neg", "positive"]
    page = read(browser, done.headers["location"])
    assert "“pos” counts as “positive” now" in page.text
    browser.post(f"{AT}/categories/pos/split")
    assert categories(muddled) == ["neg", "pos", "positive"]
    done = browser.post(f"{AT}/categories/neg/rename", data={"name": " negative"})
    assert categories(muddled) == ["negative", "pos", "positive"]
    assert "Rename or merge it" in read(browser, done.headers["location"]).text


def test_two_names_of_one_person_are_merged(browser: TestClient, muddled: Ledger) -> None:
    give(muddled, [("21", "Ada", "neg")], project="m")
    assert "may be one person" in read(browser, "/projects/m/annotators").text
    (pair,) = muddled.annotators.duplicates("m")
    done = browser.post(f"/projects/m/annotators/{pair.name}/merge", data={"into": pair.into})
    shown = read(browser, done.headers["location"])
    assert f"“{pair.name}” counts as “{pair.into}” now" in shown.text
    assert "may be one person" not in read(browser, "/projects/m/annotators").text
    browser.post(f"/projects/m/annotators/{pair.name}/split")
    browser.post("/projects/m/annotators/bo/rename", data={"name": "bob"})
    names = {one.to_dict()["annotator"] for one in muddled.annotators.list("m")}
    assert {pair.name, pair.into, "bob"} <= names
