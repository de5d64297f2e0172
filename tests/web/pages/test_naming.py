"""Categories and people mended in the browser: renamed, merged with the effect shown, split."""

from __future__ import annotations

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from tests.web.reading import read
from tracker.ledger import Ledger

AT = "/projects/m/questions/label"
COLUMNS = ["item", "annotator", "category"]


@pytest.fixture
def muddled(ledger: Ledger) -> Ledger:
    """Two people who agree but for what one calls `pos`; one of them once had another name."""
    rows = [(str(n), who, "neg" if n % 2 else "pos" if who == "bo" else "positive")
            for n in range(20) for who in ("ada", "bo")]  # fmt: skip
    rows.append(("20", "Ada ", "neg"))
    ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "m")
    return ledger


def categories(ledger: Ledger) -> list[str]:
    return [row.category for row in ledger.categories.list("m").categories]


def test_categories_are_merged_split_and_renamed(browser: TestClient, muddled: Ledger) -> None:
    assert "See what it does" in read(browser, AT).text
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
    muddled.import_frame(pd.DataFrame([("21", "Ada", "neg")], columns=COLUMNS), "m")
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
