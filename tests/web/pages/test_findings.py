"""The queue of findings, worked through in a browser."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tests.web.reading import read
from tracker.ledger import Ledger

AT = "/projects/p/findings"


def states(ledger: Ledger) -> dict[int, str]:
    rows = (one.to_dict() for one in ledger.flags.list("p", states=["all"]).flags)
    return {row["flag"]: row["state"] for row in rows}


@pytest.mark.parametrize(
    ("action", "state"),
    [("acknowledge", "acknowledged"), ("dismiss", "dismissed"), ("resolve", "resolved")],
)
def test_what_is_done_is_kept_with_who_and_why_and_can_be_undone(
    browser: TestClient, flagged: Ledger, action: str, state: str
) -> None:
    form = {"flag": ["1"], "action": action, "note": " will ask ", "state": "all"}
    done = browser.post(AT, data=form)
    assert done.status_code == 303
    assert states(flagged)[1] == state
    (*_, change) = flagged.flags.history("p", 1).to_dict()["changes"]
    assert (change["by"], change["note"]) == ("local", "will ask")
    page = read(browser, done.headers["location"])
    assert f"1 finding: {state}" in page.text
    assert "An audit of the answers as they are now" not in page.text
    browser.post(AT, data={"flag": ["1"], "action": "reopen"})
    assert states(flagged)[1] == "open"


def test_what_makes_no_sense_changes_nothing_and_says_why(
    browser: TestClient, flagged: Ledger
) -> None:
    browser.post(AT, data={"flag": ["1"], "action": "dismiss"})
    refused = browser.post(AT, data={"flag": ["1"], "action": "acknowledge"})
    assert refused.status_code == 422
    assert "flag 1 is dismissed (by local" in refused.text
    assert browser.post(AT, data={"flag": ["1"], "action": "delete"}).status_code == 422
    assert states(flagged)[1] == "dismissed"


def test_the_list_shows_a_state_and_a_finding_all_of_its_own(
    browser: TestClient, flagged: Ledger
) -> None:
    flagged.flags.dismiss("p", [1], by="ann", note="only had the easy batch")
    assert "Finding 1 " not in read(browser, AT).text
    page = read(browser, f"{AT}?state=dismissed")
    assert "only had the easy batch" in page.text
    one = read(browser, page.to("Finding 1"))
    assert [row[1:3] + row[-1:] for row in one.rows if "dismissed" in row] == [
        ["dismissed", "ann", "only had the easy batch"]
    ]
    assert "Expected: its value if nothing is amiss" in one.text
    assert "constant 1" in read(browser, one.to("constant 1")).text


def test_without_findings_the_page_records_an_audit(client: TestClient, flagged: Ledger) -> None:
    flagged.projects.rename("p", "old")
    flagged.projects.create("p")
    assert "No finding has been recorded yet" in read(client, AT).text
    flagged.projects.delete("p")
    flagged.projects.rename("old", "p")
    flagged.flags.resolve("p", list(states(flagged)), by="ann")
    assert "There is nothing to do" in read(client, AT).text
    client.post(f"{AT}/record")
    app = client.app
    assert isinstance(app, FastAPI)
    (job,) = app.state.jobs.list()
    job.wait(60)
    assert job.state == "done"
    assert "Finding 1" in read(client, AT).text
