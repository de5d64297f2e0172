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
    ledger.users.add("ada", "admin", password=PASSWORD)
    mlflow = MLflowServer(serve(MLflow([trace(1, 1)])), SECRET)
    app = create_app(ledger, access=Access(at_this_machine=False), mlflow=mlflow)
    with TestClient(app, base_url="http://tracker.example", client=("192.0.2.7", 5000)) as program:
        yield program


def job_of(program: TestClient, number: int) -> Any:
    job = program.app.state.jobs.get(number)  # type: ignore[attr-defined]
    job.wait(20)
    return job


def test_a_signed_event_or_a_token_begins_a_sync(elsewhere: TestClient, ledger: Ledger) -> None:
    begun = elsewhere.post(ADDRESS, **signed())
    assert begun.status_code == 202, begun.text
    job = job_of(elsewhere, begun.json()["job"])
    assert (job.state, job.by) == ("done", "MLflow")
    assert standing(ledger) == [("tr-1", "ada", "yes")]
    assert ledger.projects.changes("p").acts[0].by == "MLflow"
    again = elsewhere.post(ADDRESS, **signed()).json()["job"]
    assert job_of(elsewhere, again).outcome.told == "There is nothing new."
    shown = {"authorization": f"Bearer {ledger.tokens.add('nightly', 'manager', 'ada').secret}"}
    by_token = elsewhere.post(ADDRESS, headers=shown)
    job_of(elsewhere, by_token.json()["job"])
    job = elsewhere.get(by_token.headers["location"], headers=shown).json()
    assert (job["by"], job["state"], job["problem"]) == ("ada", "done", None)
    listed = elsewhere.get("/api/v1/jobs", headers=shown).json()["jobs"]
    assert [one["job"] for one in listed] == [3, 2, 1]
    assert listed[-1]["result"]["inserted"] == 1


def test_an_event_like_a_waiting_one_begins_no_other_sync(elsewhere: TestClient) -> None:
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


def test_a_wrong_signature_is_refused(elsewhere: TestClient) -> None:
    renamed, undated = signed(), signed()
    renamed["headers"]["X-MLflow-Delivery-Id"] = "two"
    undated["headers"]["X-MLflow-Timestamp"] = "1e9"
    changed = {**signed(), "content": BODY + b" "}
    for sent in (signed(late=400), signed(late=-400), signed(secret="another"), changed, renamed,
                 undated, {"content": BODY}):  # fmt: skip
        refused = elsewhere.post(ADDRESS, **sent)
        assert refused.status_code == 401
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.json()["mend"]
    assert elsewhere.post("/api/v1/projects", **signed()).status_code == 401
    assert elsewhere.post(ADDRESS, **signed(b" " * 1_000_001)).status_code == 413


def test_a_server_without_its_mlflow_says_what_it_needs(program: TestClient) -> None:
    unsigned, with_signature = program.post(ADDRESS), program.post(ADDRESS, **signed())
    assert (unsigned.status_code, with_signature.status_code) == (422, 401)
    assert "MLFLOW_TRACKING_URI" in unsigned.json()["mend"]
    assert "TRACKER_MLFLOW_WEBHOOK_SECRET" in with_signature.json()["mend"]
    program.app.state.mlflow = MLflowServer("http://127.0.0.1:9", SECRET)  # type: ignore[attr-defined]
    begun = program.post(ADDRESS)
    assert begun.json()["experiment"] == "manners"
    job_of(program, begun.json()["job"])
    job = program.get(begun.headers["location"]).json()
    assert (job["state"], job["result"]) == ("failed", None)
    assert job["problem"]["exit_code"] == 3
    assert "127.0.0.1:9" in job["problem"]["detail"]
