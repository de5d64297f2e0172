"""What a project asks of agreement, where its items are elsewhere, whose media are shown."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from tests.profiles import both
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.projects.item_links import item_address, media_of, origin_of


@both
def test_thresholds_of_a_project_decide_about_its_labels(ledger: Ledger) -> None:
    rows = [
        (f"i{n}", who, "xy"[n % 2 ^ (n < 2 and who == "b")]) for n in range(200) for who in "ab"
    ]
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), "p")

    def readiness() -> dict[str, Any]:
        return dict(ledger.agreement("p").to_dict()["readiness"])

    assert readiness()["thresholds"] == (0.667, 0.8)
    assert readiness()["state"] == "good_enough"
    ledger.projects.set("p", good_from=0.99)
    assert (readiness()["state"], readiness()["needs"]) == ("tentative", 0.99)
    assert ledger.agreement_by_question("p").questions[0].assessment.readiness.needs == 0.99
    with pytest.raises(InvalidOption, match=r"more than the 0\.99"):
        ledger.projects.set("p", tentative_from=0.995)
    ledger.projects.set("p", tentative_from=0.985)
    assert readiness()["state"] == "not_yet"
    with pytest.raises(InvalidOption, match="at most 1"):
        ledger.projects.set("p", good_from=1.5)
    assert readiness()["thresholds"] == (0.985, 0.99)
    assert ledger.verify("p").passed


def test_item_links_are_checked_and_filled_in(sqlite_ledger: Ledger) -> None:
    sqlite_ledger.projects.create("p")
    for link in (
        "javascript:alert({item})", "https://l.test/", "//l.test/{item}", "https://u:p@l.test/{item}",
        "https://l.test/{}", "https://l.test/{item!r}", "https://l.test/{item", "https://{item}/",
    ):  # fmt: skip
        with pytest.raises(InvalidOption, match="--item-link"):
            sqlite_ledger.projects.set("p", item_link=link)
        assert sqlite_ledger.projects.find("p").item_link is None
    query = "http://l.test:8080/?t={task id}&i={item}"
    for link, address in (
        ("https://l.test/{item}", "https://l.test/a%2Fb%20c"),
        (query, "http://l.test:8080/?t=7%26x%3D1&i=a%2Fb%20c"),
        ("https://l.test/{missing}", None),
    ):
        project = sqlite_ledger.projects.set("p", item_link=link).project
        assert item_address(project.item_link, "a/b c", {"task id": "7&x=1"}) == address
        project = sqlite_ledger.projects.set("p", item_link="").project
        assert item_address(project.item_link, "a/b c", {}) is None


def test_hosts_of_media_are_kept_as_origins(sqlite_ledger: Ledger) -> None:
    sqlite_ledger.projects.create("p")
    hosts = ["m.test", "http://localhost:9000/images", "https://m.test/"]
    made = sqlite_ledger.projects.set("p", media_hosts=hosts).to_dict()
    assert made["media_hosts"] == ["http://localhost:9000", "https://m.test"]
    for host in ("*", "a b", "m.test;script-src *", "ftp://m.test", "'self'"):
        with pytest.raises(InvalidOption, match="--media-hosts"):
            sqlite_ledger.projects.set("p", media_hosts=[host])
    assert origin_of("HTTPS://M.Test:443/x.png") == "https://m.test:443"
    assert "media_hosts" not in sqlite_ledger.projects.set("p", media_hosts=[]).to_dict()


def test_media_of_an_item_are_those_of_hosts_that_the_project_shows() -> None:
    texts = ["https://m.test/a.PNG?v=1", "https://n.test/b.mp3 ", "see https://m.test/a.png",
             "https://m.test/page.html", "https://u:p@m.test/a.png", "https://m.test/c.webm",
             "https://m.test/a.PNG?v=1"]  # fmt: skip
    media = [(medium.tag, medium.origin, medium.allowed)
             for medium in media_of(texts, ["https://m.test"])]  # fmt: skip
    assert media == [("img", "https://m.test", True), ("audio", "https://n.test", False),
                     ("video", "https://m.test", True)]  # fmt: skip
