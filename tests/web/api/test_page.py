"""The page about the interface: its requests are answered as it says."""

from __future__ import annotations

import json
import re
import shlex

from fastapi.testclient import TestClient

from tests.house import CHECKOUT
from tests.sync.serve import Serve, serve
from tests.sync.test_mlflow import MLflow, trace
from tracker.web.mlflow import MLflowServer

__all__ = ["serve"]

PAGE = (CHECKOUT / "docs" / "api.md").read_text("utf-8")
CALLS = re.findall(r"^curl (.+)$", PAGE, re.MULTILINE)
READS = [call for call in CALLS if not call.startswith("-")]
WRITES = [call for call in CALLS if call.startswith("-")]
EVENT = {
    "action": "ANNOTATION_CREATED",
    "project": {"id": 7, "title": "parcels"},
    "task": {"id": 12, "data": {"text": "all good"}},
    "annotation": {
        "id": 5, "task": 12, "completed_by": 2, "lead_time": 2.5, "was_cancelled": False,
        "created_at": "2026-01-05T08:00:00.250000Z", "updated_at": "2026-01-05T08:00:00.250000Z",
        "result": [
            {"from_name": "label", "to_name": "text", "type": "choices",
             "value": {"choices": ["positive"]}}
        ],
    },
}  # fmt: skip
"""As Label Studio sends it."""


def test_the_examples_of_reading_are_answered(program: TestClient) -> None:
    assert len(READS) > 5
    for call in READS:
        (address,) = shlex.split(call)
        answer = program.get(address)
        assert answer.status_code == (404 if address.endswith("/nothing") else 200), answer.text
        if answer.status_code == 404:
            assert {"type", "title", "status", "detail", "exit_code"} <= answer.json().keys()


def test_the_examples_of_writing_are_answered(program: TestClient, serve: Serve) -> None:
    upload, snapshot, mapped, webhook, event, sync, traces = (shlex.split(call) for call in WRITES)
    content = b"item,annotator,category\nnew,ada,positive\nnew,bo,positive\n"
    file = upload[1].removeprefix("file=@")
    sent = program.post(upload[-1], files={"file": (file, content)})
    assert sent.is_success, sent.text
    assert sent.json()["inserted"] == 2
    assert [mapped[n] for n in (1, 3, 5)] == [
        "file=@answers.csv", "mapping=@reviews.toml", "keep=language",
    ]  # fmt: skip
    toml = ("reviews.toml", b'map = ["item=item"]\n')
    form = {"file": ("answers.csv", b"item,annotator,category,language\nnew,ada,positive,nl\n")}
    sent = program.post(mapped[-1], files={**form, "mapping": toml}, data={"keep": "language"})
    assert sent.json()["unchanged"] == 1, sent.text
    name, _, key = snapshot[snapshot.index("-H") + 1].partition(": ")
    said = {"content": snapshot[1], "headers": {name: key, "content-type": "application/json"}}
    first, again = (program.post(snapshot[-1], **said) for _ in range(2))
    assert first.is_success, first.text
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json() == first.json()
    assert "secret" in program.post(webhook[-1], json=json.loads(webhook[1])).json()
    assert event[1] == "@event.json"
    imported = program.post(event[-1], json=EVENT)
    assert (imported.status_code, imported.json()["outcome"]) == (201, "imported"), imported.text
    assert program.get(imported.headers["location"]).json()["inserted"] == 1
    program.app.state.mlflow = MLflowServer(serve(MLflow([trace(1, 1)])))  # type: ignore[attr-defined]
    begun = program.post(sync[-1])
    assert begun.status_code == 202, begun.text
    program.app.state.jobs.get(begun.json()["job"]).wait(20)  # type: ignore[attr-defined]
    assert program.get(begun.headers["location"]).json()["state"] == "done"
    form = {"file": ("traces.json", json.dumps([trace(1, 1)]).encode())}
    assert program.post(traces[-1], files=form).json()["unchanged"] == 1
