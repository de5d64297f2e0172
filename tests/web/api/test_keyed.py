"""A request that is sent again with its key is not done again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.helpers import stored
from tests.web.api.conftest import P
from tracker.ledger import Ledger

CSV = b"item,annotator,category\n1,A,x\n1,B,x\n"
NEW = "/api/v1/projects/new/imports"


def key(name: str) -> Mapping[str, str]:
    return {"idempotency-key": name}


@pytest.mark.parametrize(
    ("method", "path", "sent"),
    [("DELETE", f"{P}/notes/1", None), ("POST", f"{P}/gate", "[[check]]\nitems_at_least = 1"),
     ("POST", "/api/v1/webhooks", {"url": "http://192.0.2.1", "events": ["gate_failed"],
                                   "allow_private": True}),
     ("POST", f"{P}/snapshots", {"name": "n"}), ("POST", f"{NEW}?filename=a.csv", CSV.decode()),
     ("POST", f"{NEW}?filename=a.csv&dry_run=true", CSV.decode())],
    ids=["note-gone", "gate", "webhook", "snapshot", "file", "preview"],
)  # fmt: skip
def test_what_is_changed_is_changed_once_for_a_key(
    program: TestClient, furnished_ledger: Ledger, method: str, path: str, sent: Any
) -> None:
    furnished_ledger.notes.add("reviews", "to be removed")
    content = {"content": sent} if isinstance(sent, str) else {"json": sent}
    before = stored(furnished_ledger)
    first = program.request(method, path, headers=key("a"), **content)
    then = stored(furnished_ledger)
    again = program.request(method, path, headers=key("a"), **content)
    assert first.status_code in {200, 201}
    assert (again.status_code, again.text) == (first.status_code, first.text)
    assert again.headers.get("location") == first.headers.get("location")
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    assert stored(furnished_ledger) == then
    if "dry_run" in path:
        assert then == {**before, "keyed_requests": 1}
    other = program.request(method, f"{path}x", headers=key("a"), **content)
    assert other.status_code in {404, 405, 422}


def test_a_key_is_of_one_request_and_its_content(program: TestClient) -> None:
    address = f"{NEW}?filename=a.csv"
    for form in ({"content": CSV}, {"files": {"file": ("a.csv", CSV)}}):
        name = str([*form])
        assert program.post(address, headers=key(name), **form).status_code == 201
        # Each time a form has another boundary.
        assert program.post(address, headers=key(name), **form).headers["idempotent-replayed"]
    other = program.post(address, content=CSV + b"2,A,x\n", headers=key("['content']"))
    assert other.status_code == 422
    assert "another request" in other.json()["detail"]
    assert program.post(address, content=CSV, headers=key(" " * 300)).status_code == 422
    absent = NEW.replace("new", "absent") + "?filename=a.csv&create=false"
    for status in (404, 201):  # what was refused may be sent again
        assert program.post(absent, content=CSV, headers=key("c")).status_code == status
        program.post("/api/v1/projects", json={"project": "absent"})


@pytest.mark.parametrize("kind", ["snapshots", "imports?filename=a.csv"])
def test_a_change_and_its_answer_are_stored_together_or_not_at_all(
    program: TestClient, furnished_ledger: Ledger, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    address, content = (f"{P}/{kind}", b"{}" if kind == "snapshots" else CSV)
    headers = {**key("a"), "content-type": "application/json"}

    def dies(*_: object, **__: object) -> None:
        raise RuntimeError("the server dies")

    with monkeypatch.context() as patched:
        # The change is made by then, and nothing can be tidied up.
        patched.setattr("tracker.sync.idempotency.end_request", dies)
        patched.setattr("tracker.sync.idempotency.forget_request", lambda *_: None)
        before = stored(furnished_ledger)
        with pytest.raises(RuntimeError, match="dies"):
            program.post(address, content=content, headers=headers)
    assert stored(furnished_ledger) == {**before, "keyed_requests": 1}
    assert program.post(address, content=content, headers=headers).status_code == 409
    furnished_ledger.requests.forget("local", "a")
    assert program.post(address, content=content, headers=headers).status_code == 201
    furnished_ledger.requests.forget("local", "a")  # an answer is not forgotten
    again = program.post(address, content=content, headers=headers)
    assert again.headers["idempotent-replayed"] == "true"
