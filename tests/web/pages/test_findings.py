"""The queue of findings, worked through in a browser."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.testclient import TestClient

from tests.helpers import give
from tests.web.reading import read
from tracker.ledger import Ledger

AT = "/projects/p/findings"


def states(ledger: Ledger) -> dict[int, str]:
    rows = (one.to_dict() for one in ledger.flags.list("p", states=["all"]).flags)
    return {row["flag"]: row["state"] for row in rows}


def test_an_unfit_act_changes_nothing_and_says_why(browser: TestClient, flagged: Ledger) -> None:
    dismissed = {"flag": ["1"], "action": "dismiss", "note": " "}
    for form, words in (({"action": "resolve"}, "no finding is chosen"),
                        (dismissed, "with a reason")):  # fmt: skip
        refused = browser.post(AT, data=form)
        assert (refused.status_code, words in refused.text) == (422, True)
    assert states(flagged)[1] == "open"
    browser.post(AT, data=dismissed | {"note": " easy items "})
    refused = browser.post(AT, data={"flag": ["1"], "action": "acknowledge"})
    assert refused.status_code == 422
    assert "flag 1 is dismissed (by local" in refused.text
    assert browser.post(AT, data={"flag": ["1"], "action": "delete"}).status_code == 422
    assert states(flagged)[1] == "dismissed"
    assert "Finding 1 " not in read(browser, AT).text
    assert "easy items" in read(browser, f"{AT}?state=dismissed").text
    one = read(browser, f"{AT}/1")
    assert [row[1:3] + row[-1:] for row in one.rows if "dismissed" in row] == [
        ["dismissed", "local", "easy items"]
    ]
    browser.post(AT, data={"flag": ["1"], "action": "reopen"})
    assert states(flagged)[1] == "open"


def test_without_findings_the_page_records_an_audit(client: TestClient, flagged: Ledger) -> None:
    flagged.flags.resolve("p", list(states(flagged)), by="ann")
    assert "There is nothing to do" in read(client, AT).text
    client.post(f"{AT}/record")
    app = client.app
    assert isinstance(app, FastAPI)
    (job,) = app.state.jobs.list()
    job.wait(60)
    assert job.state == "done"
    assert "Finding 1" in read(client, AT).text


def test_advice_names_the_page_of_the_form(client: TestClient, ledger: Ledger) -> None:
    rows = [(f"{n}-{k}", who, "xy"[n % 2], f"text {n}")
            for n in range(30) for k in "ab" for who in ("ada", "bo")]  # fmt: skip
    give(ledger, rows, "p", "text")
    ledger.record_audit_by_question("p")
    for path, status, words in (
        ("findings", 200, "repeats the text unseen. To make them one item each: ask an admin"),
        ("rounds/v1", 404, "'p' has no roundstart one on the page Work"),
        ("snapshots/v1", 404, "'p' has no snapshot 'v1'take one on the page Snapshots"),
        ("items/none", 404, "see the page Items"),
    ):
        assert words in read(client, f"/projects/p/{path}", status).text


def test_after_an_act_the_next_finding_is_shown(browser: TestClient, flagged: Ledger) -> None:
    page = read(browser, AT)
    order = [int(href.rsplit("/", 1)[1]) for _, href in page.links if href.startswith(f"{AT}/")]
    first, second = [*dict.fromkeys(order)][:2]
    assert f"Finding {first} " in page.text, "the gravest is shown next to the list"
    form = {"flag": [str(first)], "next": str(second), "action": "resolve"}
    done = browser.post(AT, data=form)
    assert done.headers["location"].startswith(f"{AT}/{second}?")
    following = read(browser, done.headers["location"])
    assert f"Finding {second} " in following.text
    assert "1 finding: resolved" in following.text
    assert states(flagged)[first] == "resolved"
