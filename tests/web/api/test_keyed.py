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


def key(name: str) -> Mapping[str, str]:
    return {"idempotency-key": name}


def test_a_snapshot_is_taken_once(program: TestClient, furnished_ledger: Ledger) -> None:
    first = program.post(f"{P}/snapshots", json={"name": "n"}, headers=key("a"))
    again = program.post(f"{P}/snapshots", json={"name": "n"}, headers=key("a"))
    assert (again.status_code, again.text) == (201, first.text)
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    assert len(furnished_ledger.history("reviews").to_dict()["snapshots"]) == 2
    other = program.post(f"{P}/snapshots", json={"name": "m"}, headers=key("a"))
    assert other.status_code == 422
    assert "another request" in other.json()["detail"]


def test_a_file_is_imported_once(program: TestClient, furnished_ledger: Ledger) -> None:
    address = "/api/v1/projects/new/imports"
    first = program.post(f"{address}?filename=a.csv", content=CSV, headers=key("a"))
    again = program.post(f"{address}?filename=a.csv", content=CSV, headers=key("a"))
    assert (again.status_code, again.json()) == (201, first.json())
    assert len(furnished_ledger.imports.list("new")) == 1
    other = program.post(f"{address}?filename=a.csv", content=CSV + b"2,A,x\n", headers=key("a"))
    assert other.status_code == 422
    form = {"file": ("a.csv", CSV)}
    assert program.post(address, files=form, headers=key("b")).status_code == 201
    # Each time the form has another boundary.
    assert program.post(address, files=form, headers=key("b")).headers["idempotent-replayed"]


@pytest.mark.parametrize("what", ["snapshots", "imports?filename=a.csv"])
def test_what_is_done_and_its_answer_are_stored_together_or_not_at_all(
    program: TestClient, furnished_ledger: Ledger, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    address, content = (f"{P}/{what}", b"{}" if what == "snapshots" else CSV)
    headers = {**key("a"), "content-type": "application/json"}

    def dies(*_: object, **__: object) -> None:
        raise RuntimeError("the server dies")

    with monkeypatch.context() as patched:
        # What is done is done by then, and nothing can be tidied up.
        patched.setattr("tracker.sync.idempotency.end_request", dies)
        patched.setattr("tracker.sync.idempotency.forget_request", lambda *_: None)
        before = stored(furnished_ledger)
        with pytest.raises(RuntimeError, match="dies"):
            program.post(address, content=content, headers=headers)
    assert stored(furnished_ledger) == {**before, "keyed_requests": 1}
    assert program.post(address, content=content, headers=headers).status_code == 409
    furnished_ledger.requests.forget("local", "a")
    assert program.post(address, content=content, headers=headers).status_code == 201
    furnished_ledger.requests.forget("local", "a")  # what was answered is not forgotten
    again = program.post(address, content=content, headers=headers)
    assert again.headers["idempotent-replayed"] == "true"


def test_a_preview_has_a_key_too(program: TestClient) -> None:
    address = "/api/v1/projects/new/imports?filename=a.csv&dry_run=true"
    first, again = (program.post(address, content=CSV, headers=key("a")) for _ in range(2))
    assert (first.status_code, again.text) == (200, first.text)
    assert again.headers["idempotent-replayed"] == "true"
    assert program.get("/api/v1/projects/new").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "sent"),
    [("POST", f"{P}/notes", {"text": "v3"}), ("DELETE", f"{P}/notes/1", None),
     ("PATCH", P, {"wanted": 4}), ("POST", f"{P}/gate", "[[check]]\nitems_at_least = 1"),
     ("POST", f"{P}/audit", None), ("POST", f"{P}/annotators/annotator%2001/rename", {"name": "a"}),
     ("POST", "/api/v1/webhooks", {"url": "http://192.0.2.1", "events": ["gate_failed"],
                                   "allow_private": True})],
)  # fmt: skip
def test_whatever_is_changed_is_changed_once_for_a_key(
    program: TestClient, furnished_ledger: Ledger, method: str, path: str, sent: Any
) -> None:
    furnished_ledger.notes.add("reviews", "to be removed")
    content = {"content": sent} if isinstance(sent, str) else {"json": sent}
    first = program.request(method, path, headers=key("a"), **content)
    then = stored(furnished_ledger)
    again = program.request(method, path, headers=key("a"), **content)
    assert first.status_code in {200, 201}
    assert (again.status_code, again.text) == (first.status_code, first.text)
    assert again.headers["idempotent-replayed"] == "true"
    assert stored(furnished_ledger) == then
    other = program.request(method, f"{path}x", headers=key("a"), **content)
    assert other.status_code in {404, 405, 422}


def test_what_was_refused_may_be_sent_again(program: TestClient) -> None:
    address = "/api/v1/projects/new/imports?filename=a.csv&create=false"
    assert program.post(address, content=CSV, headers=key("a")).status_code == 404
    program.post("/api/v1/projects", json={"project": "new"})
    assert program.post(address, content=CSV, headers=key("a")).status_code == 201


def test_one_that_is_under_way_is_not_begun_again(
    program: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "/api/v1/projects/new/imports?filename=a.csv"
    importing, seen = Ledger.import_uploads, list[int]()

    def while_importing(*args: Any, **how: Any) -> Any:
        seen.append(program.post(address, content=CSV, headers=key("a")).status_code)
        return importing(*args, **how)

    monkeypatch.setattr(Ledger, "import_uploads", while_importing)
    assert program.post(address, content=CSV, headers=key("a")).status_code == 201
    assert seen == [409]
    assert program.post(address, content=CSV, headers=key(" " * 300)).status_code == 422
