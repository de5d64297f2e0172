"""What programs change by the interface, and what they send."""

from __future__ import annotations

import io
import json
import re
import shlex
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.helpers import stored
from tests.house import CHECKOUT
from tests.sync.serve import Serve, serve
from tests.sync.test_mlflow import MLflow, trace
from tests.web.api.conftest import P
from tracker.ledger import Ledger
from tracker.web.app import create_app
from tracker.web.mlflow import MLflowServer

CSV = b"item,annotator,category\n1,A,x\n1,B,x\n2,A,x\n2,B,y\n"
NEW = "/api/v1/projects/new%2Fone"
NAMED = f"{NEW}/imports?filename=a.csv"


def test_a_project_is_made_set_renamed_archived_and_deleted(program: TestClient) -> None:
    sent = {"project": "new/one", "scale": "ordinal", "categories": ["a", "b"]}
    made = program.post("/api/v1/projects", json=sent)
    assert (made.status_code, made.headers["location"]) == (201, NEW)
    assert program.get(NEW).json()["categories"] == ["a", "b"]
    assert program.patch(NEW, json={"wanted": 3}).json()["wanted"] == 3
    assert program.patch(NEW, json={"wnated": 3}).status_code == 422
    assert program.post(f"{NEW}/rename", json={"name": "n"}).json()["project"] == "n"
    assert program.get(NEW).status_code == 404
    assert program.post("/api/v1/projects/n/archive").json()["archived_at"]
    assert program.post("/api/v1/projects/n/restore").json()["archived_at"] is None
    for refused in (program.delete(P), program.delete(f"{P}?confirm=review")):
        assert (refused.status_code, "confirm=" in refused.json()["mend"]) == (422, True)
    assert program.delete(f"{P}?confirm=reviews").json() == {"project": "reviews", "deleted": True}
    assert program.delete(f"{P}?confirm=reviews").status_code == 404
    large = program.post("/api/v1/projects", json={"project": "a" * 20_000_000})
    assert (large.status_code, large.json()["detail"]) == (413, "more than 20,000,000 bytes")


def test_a_snapshot_and_a_question_are_made_where_they_say(program: TestClient) -> None:
    made = program.post(f"{P}/snapshots?annotator=annotator%2001", json={"name": "second"})
    assert (made.status_code, made.json()["name"]) == (201, "second")
    shown = program.get(made.headers["location"]).json()
    assert shown["selection"]["annotators"] == ["annotator 01"]
    assert shown["digest"] == made.json()["digest"]
    made = program.post(f"{P}/questions", json={"question": "how so?", "answers": "several"})
    assert made.headers["location"] == f"{P}/questions/how%20so%3F"
    assert program.patch(made.headers["location"], json={"wanted": 2}).json()["wanted"] == 2


def test_an_event_is_answered_by_what_came_of_it(program: TestClient) -> None:
    address = "/api/v1/hooks/label-studio/new"
    for sent, status, outcome in (
        (EVENT, 201, "imported"),
        (EVENT, 200, "known"),
        ({"action": "PROJECT_UPDATED", "project": {"id": 7}}, 200, "ignored"),
        ({"action": "ANNOTATIONS_DELETED", "project": {"id": 7}}, 202, "for_sync"),
    ):
        told = (answer := program.post(address, json=sent)).json()
        assert (answer.status_code, told["outcome"], told["odd"]) == (status, outcome, [])
    assert program.post(address, json={"action": "ANNOTATION_CREATED"}).status_code == 422


def test_files_are_imported_as_a_form_or_as_they_are(program: TestClient) -> None:
    options = {"scale": "ordinal", "categories": "x,y"}
    form = program.post(f"{NEW}/imports", files={"file": ("a/b.csv", CSV)}, data=options)
    assert form.status_code == 201, form.text
    assert (form.json()["inserted"], form.json()["project"]) == (4, "new/one")
    shown = program.get(form.headers["location"]).json()
    assert shown["sources"][0]["name"] == "a/b.csv"
    project = program.get(NEW).json()
    assert (project["scale"], project["categories"]) == ("ordinal", ["x", "y"])
    assert program.post(NAMED, content=CSV).json()["unchanged"] == 4
    assert program.post(f"/api/v1/imports/{form.json()['import']}/undo").json()["undone_at"]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("more.csv", "item,annotator,category\n3,A,x\n")
    files = [("file", ("a.csv", CSV)), ("file", ("b.zip", packed.getvalue()))]
    other = NEW.replace("new", "other")
    several = program.post(f"{other}/imports", files=files, data={"keep": [], "map": []})
    assert several.json()["inserted"] == 5
    items = program.post(f"{P}/items?filename=items.csv", content=b"item,text\nnew one,hello\n")
    assert items.json()["inserted"] == 1
    assert program.get(f"{P}/items/new%20one").json()["text"] == "hello"


def test_columns_mappings_and_values_come_with_the_file(program: TestClient) -> None:
    text = b"doc,who,what\n1,A,x\n1,B,y\n"
    roles = ["item=doc", "annotator=who", "category=what"]
    form = {"files": {"file": ("a.csv", text)}, "data": {"map": roles}}
    named = program.post(f"{NEW}/imports".replace("new", "other"), **form)
    assert named.json()["inserted"] == 2
    toml = b'map = ["item=doc", "annotator=who", "category=what"]\nvalues = "values.csv"\n'
    sent = {
        "file": ("a.csv", b"doc,who,what\n1,A,+\n1,B,-\n"), "mapping": ("m.toml", toml),
        "values": ("values.csv", b"old,new\n+,good\n"),
    }  # fmt: skip
    made = program.post(f"{NEW}/imports", files=sent, data={"value": "-=bad"})
    assert made.json()["inserted"] == 2, made.text
    assert program.get(NEW).json()["categories"] == ["bad", "good"]
    del sent["values"]
    for content, problem in (
        (toml, "m.toml names a file of values that was not sent"),
        (b'map = ["item=doc"]\nvalues = "/etc/hostname"', "m.toml names a file of values"),
        (b"map", "m.toml, line 1: this is not TOML"),
    ):
        refused = program.post(f"{NEW}/imports", files={**sent, "mapping": ("m.toml", content)})
        assert (refused.status_code, problem in refused.json()["detail"]) == (422, True)
        assert "tracker-" not in refused.text  # where it lies here
    assert program.post(f"{NEW}/imports", files={**sent, "maps": ("m", toml)}).status_code == 422
    assert program.post(f"{NEW}/items", files=sent).status_code == 422  # it takes no mapping


def test_annotators_are_imported_with_their_attributes(program: TestClient) -> None:
    content = b"name,team\nannotator 01,red\nannotator 02,blue\n"
    address = f"{P}/annotators?filename=people.csv&map=annotator=name"
    preview = program.post(f"{address}&dry_run=true", content=content)
    assert (preview.status_code, preview.json()["attributes"]) == (200, ["team"])
    made = program.post(address, content=content, headers={"idempotency-key": "a"})
    assert (made.status_code, made.json()["changed"]) == (201, 2)
    assert program.get(made.headers["location"]).json()["sources"][0]["name"] == "people.csv"
    first = program.get(f"{P}/annotators").json()["annotators"][0]
    assert first["attributes"] == {"team": "red"}


def test_a_preview_or_a_refused_file_stores_nothing(
    program: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for kind in ("dry_run", "preview"):
        preview = program.post(f"{NAMED}&{kind}=true", content=CSV)
        assert (preview.status_code, preview.json()["inserted"]) == (200, 4)
        assert ("preview" in preview.json()) is (kind == "preview")
    refused = program.post(NAMED, content=CSV + b",A,x\n3,,x\n")
    assert refused.status_code == 422
    problem = refused.json()
    assert problem["type"].endswith(":refused")
    assert [(one["source"], one["line"]) for one in problem["rejections"]] == [
        ("a.csv", 6), ("a.csv", 7),
    ]  # fmt: skip
    odd = program.post(NAMED, content=CSV + b"3,A,NA\n").json()["odd"]
    assert [(one["kind"], one["cells"]) for one in odd] == [("missing_words", 1)]
    for query, form, words in (
        ("", None, "the file has no name"),
        ("?filename=a.csv&maps=x", None, "did you mean 'map'"),
        ("", {"wantd": "3"}, "wantd: there is no such field"),
        ("", {"wanted": "many"}, "wanted: "),
    ):
        sent = {"files": {"file": ("a.csv", CSV)}, "data": form} if form else {"content": CSV}
        refused = program.post(f"{NEW}/imports{query}", **sent)
        assert (refused.status_code, words in refused.json()["detail"]) == (422, True), words
    program.post(f"{NEW}/imports?filename=../../x%00.csv", content=b"nonsense")
    assert program.get(NEW).status_code == 404
    made = program.post(f"{NAMED}&skip_invalid=true", content=CSV + b",A,x\n")
    assert (made.status_code, made.json()["rejected"]) == (201, 1)
    program.post(f"{NEW}/imports", files={"file": ("..", CSV)})
    assert [one.name for one in tmp_path.rglob("tracker-*/**/*") if one.is_file()] == []


def test_a_file_that_is_too_large_is_refused(furnished_ledger: Ledger) -> None:
    app = create_app(furnished_ledger, max_upload=2000)
    big = CSV + b"3,A,x\n" * 1000
    with TestClient(app, base_url="http://127.0.0.1:8000") as program:
        for refused in (
            program.post(f"{NEW}/imports", files={"file": ("a.csv", big)}),
            program.post(NAMED, content=big),
            program.post(NAMED, content=iter([big[:1500], big[1500:]])),
        ):
            assert refused.status_code == 413
            assert refused.json()["detail"].startswith("more than 2,000 bytes")
        assert program.post(NAMED, content=CSV).status_code == 201


KEYED = "/api/v1/projects/new/imports"


def key(name: str) -> Mapping[str, str]:
    return {"idempotency-key": name}


@pytest.mark.parametrize(
    ("method", "path", "sent"),
    [("DELETE", f"{P}/notes/1", None), ("POST", f"{P}/gate", "[[check]]\nitems_at_least = 1"),
     ("POST", "/api/v1/webhooks", {"url": "http://192.0.2.1", "events": ["gate_failed"],
                                   "allow_private": True}),
     ("POST", f"{P}/snapshots", {"name": "n"}), ("POST", f"{KEYED}?filename=a.csv", CSV.decode()),
     ("POST", f"{KEYED}?filename=a.csv&dry_run=true", CSV.decode())],
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
    address = f"{KEYED}?filename=a.csv"
    for form in ({"content": CSV}, {"files": {"file": ("a.csv", CSV)}}):
        name = str([*form])
        assert program.post(address, headers=key(name), **form).status_code == 201
        # Each time a form has another boundary.
        assert program.post(address, headers=key(name), **form).headers["idempotent-replayed"]
    other = program.post(address, content=CSV + b"2,A,x\n", headers=key("['content']"))
    assert other.status_code == 422
    assert "another request" in other.json()["detail"]
    assert program.post(address, content=CSV, headers=key(" " * 300)).status_code == 422
    absent = KEYED.replace("new", "absent") + "?filename=a.csv&create=false"
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
