"""MLflow's webhooks begin a sync: signed by the secret that only both know, or with a token."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.helpers import standing
from tests.sync.serve import Serve, serve
from tests.sync.test_mlflow import MLflow, trace
from tests.web.people import PASSWORD
from tracker.core import clock
from tracker.ledger import Ledger
from tracker.sync.webhooks import message_signature
from tracker.web.app import create_app
from tracker.web.jobs import Outcome, Step
from tracker.web.mlflow import MLflowServer
from tracker.web.sign_in import Access

__all__ = ["serve"]

ADDRESS = "/api/v1/hooks/mlflow/p?experiment=manners"
SECRET = "what only both know"
BODY = b'{"entity": "prompt_version_tag", "action": "set", "data": {}}'


def signed(
    body: bytes = BODY, secret: str = SECRET, late: int = 0, name: str = "one"
) -> dict[str, Any]:
    """What MLflow sends, said to be sent so many seconds ago."""
    seconds = clock.now() // 1_000_000 - late
    headers = {
        "X-MLflow-Delivery-Id": name, "X-MLflow-Timestamp": str(seconds),
        "X-MLflow-Signature": message_signature(secret.encode(), name, seconds, body),
    }  # fmt: skip
    return {"content": body, "headers": headers}


@pytest.fixture
def elsewhere(ledger: Ledger, serve: Serve) -> Iterator[TestClient]:
    """A program on another machine, at a server that has users, and knows an MLflow."""
    ledger.users.add("ada", "admin", password=PASSWORD)
    mlflow = MLflowServer(serve(MLflow([trace(1, 1)])), SECRET)
    app = create_app(ledger, access=Access(at_this_machine=False), mlflow=mlflow)
    with TestClient(app, base_url="http://tracker.example", client=("192.0.2.7", 5000)) as found:
        yield found


def job_of(program: TestClient, number: int) -> Any:
    """A job at its end."""
    job = program.app.state.jobs.get(number)  # type: ignore[attr-defined]
    job.wait(20)
    return job


def test_an_event_that_is_signed_begins_a_sync(elsewhere: TestClient, ledger: Ledger) -> None:
    told = elsewhere.post(ADDRESS, **signed())
    assert told.status_code == 202, told.text
    job = job_of(elsewhere, told.json()["job"])
    assert (job.state, job.by) == ("done", "MLflow")
    assert standing(ledger) == [("tr-1", "ada", "yes")]
    assert ledger.projects.changes("p").acts[0].by == "MLflow"
    again = elsewhere.post(ADDRESS, **signed()).json()["job"]
    assert job_of(elsewhere, again).outcome.told == "There is nothing new."
    token = ledger.tokens.add("nightly", "manager", "ada").secret
    shown = {"authorization": f"Bearer {token}"}
    by_token = elsewhere.post(ADDRESS, headers=shown)
    job_of(elsewhere, by_token.json()["job"])
    assert by_token.headers["location"] == f"/api/v1/jobs/{by_token.json()['job']}"
    told = elsewhere.get(by_token.headers["location"], headers=shown).json()
    assert (told["by"], told["state"], told["problem"]) == ("ada", "done", None)
    assert (told["result"]["import"], told["result"]["project"]) == (None, "p")
    listed = elsewhere.get("/api/v1/jobs", headers=shown).json()["jobs"]
    assert [one["job"] for one in listed] == [3, 2, 1]
    assert listed[0] == told
    assert listed[-1]["result"]["inserted"] == 1


def test_an_event_like_one_that_waits_begins_no_other_sync(elsewhere: TestClient) -> None:
    jobs = elsewhere.app.state.jobs  # type: ignore[attr-defined]
    go_on = Event()

    def work(_: Step) -> Outcome:
        assert go_on.wait(20)
        return Outcome("", ())

    for _ in range(2):  # as many as run at once
        jobs.start("other work", "p", "ada", work)

    def job(more: str = "") -> int:
        return int(elsewhere.post(ADDRESS + more, **signed()).json()["job"])

    try:
        first = job("&item=tags.case")
        assert job("&item=tags.case") == first
        assert job("&keep=tags.case") != first
        jobs.get(first).cancelled.set()
        assert job("&item=tags.case") != first
    finally:
        for one in jobs.list():
            one.cancelled.set()
        go_on.set()


def test_an_event_that_is_signed_otherwise_is_refused(elsewhere: TestClient) -> None:
    late, early, other = signed(late=400), signed(late=-400), signed(secret="another")
    changed = {**signed(), "content": BODY + b" "}
    renamed = signed()
    renamed["headers"]["X-MLflow-Delivery-Id"] = "two"
    undated = signed()
    undated["headers"]["X-MLflow-Timestamp"] = "1e9"
    for sent in (late, early, other, changed, renamed, undated, {"content": BODY}):
        told = elsewhere.post(ADDRESS, **sent)
        assert told.status_code == 401
        assert told.headers["content-type"] == "application/problem+json"
        assert told.json()["mend"]
    assert elsewhere.post("/api/v1/projects", **signed()).status_code == 401
    assert elsewhere.post(ADDRESS, **signed(b" " * 1_000_001)).status_code == 413


def test_a_sync_that_fails_says_why(program: TestClient) -> None:
    program.app.state.mlflow = MLflowServer("http://127.0.0.1:9", SECRET)  # type: ignore[attr-defined]
    begun = program.post(ADDRESS)
    assert begun.json()["experiment"] == "manners"
    job_of(program, begun.json()["job"])
    told = program.get(begun.headers["location"]).json()
    assert (told["state"], told["result"]) == ("failed", None)
    assert told["problem"]["exit_code"] == 3
    assert "127.0.0.1:9" in told["problem"]["detail"]


def test_a_server_that_was_told_nothing_says_what_to_tell_it(program: TestClient) -> None:
    unsigned, with_signature = program.post(ADDRESS), program.post(ADDRESS, **signed())
    assert (unsigned.status_code, with_signature.status_code) == (422, 401)
    assert "MLFLOW_TRACKING_URI" in unsigned.json()["mend"]
    assert "TRACKER_MLFLOW_WEBHOOK_SECRET" in with_signature.json()["mend"]
