"""What programs change by the interface, and what they send."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.sync.listener import listening
from tests.web.api.conftest import P
from tests.web.api.test_page import EVENT
from tracker.ledger import Ledger
from tracker.web.app import create_app

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
    for query in ("", "?confirm=review"):
        refused = program.delete(f"{P}{query}")
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
        answer = program.post(address, json=sent)
        assert (answer.status_code, answer.json()["outcome"]) == (status, outcome)
    for wrong in ({"action": "ANNOTATION_CREATED"}, {}, []):
        refused = program.post(address, json=wrong)
        assert refused.status_code == 422
        assert refused.headers["content-type"] == "application/problem+json"
    assert program.post(f"{address}?url=x", json=EVENT).status_code == 422
    assert program.post(f"{address}?urls=x", json=EVENT).status_code == 422


def test_a_webhook_is_added_tried_removed(program: TestClient, furnished_ledger: Ledger) -> None:
    address, sent = "/api/v1/webhooks", {"url": "https://example.org/x", "events": ["gate_failed"]}
    made = program.post(address, json={**sent, "project": "reviews"})
    assert made.status_code == 201
    webhook = made.json()
    assert webhook.pop("secret").startswith("whsec_")
    assert program.get(address).json()["webhooks"][-1] == webhook
    assert "etag" not in program.get(address).headers  # no change of a project
    assert program.delete(f"{address}/{webhook['webhook']}").json() == webhook
    assert program.delete(f"{address}/{webhook['webhook']}").status_code == 404
    with listening() as listener:
        added = furnished_ledger.webhooks.add(listener.url, ["gate_failed"], allow_private=True)
        test = f"{address}/{added.webhook.id}/test"
        tried = program.post(test).json()
        assert tried == {"webhook": added.webhook.id, "arrived": True, "fault": None}
        assert listener.told()[0]["type"] == "test"


# -- Files ----------------------------------------------------------------------------------------


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
    query = "&".join(f"map={role}" for role in roles)
    named = program.post(f"{NAMED}&{query}".replace("new", "other"), content=text)
    assert named.json()["unchanged"] == 2
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
        (b'format = "csv"\nmaps = []', "m.toml, line 2: there is no option 'maps'"),
        (b"map", "m.toml, line 1: this is not TOML"),
    ):
        refused = program.post(f"{NEW}/imports", files={**sent, "mapping": ("m.toml", content)})
        assert (refused.status_code, problem in refused.json()["detail"]) == (422, True)
        assert "tracker-" not in refused.text  # where it lies here
    refused = program.post(f"{NEW}/imports", files={**sent, "values": ("v.csv", b"old\nx\n")})
    assert refused.json()["detail"] == "v.csv is no file of values"
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
    bad = program.post(f"{P}/annotators?filename=a.csv", content=b"annotator,t\na,x\na,y\n")
    assert bad.status_code == 422
    assert bad.json()["rejections"][0]["line"] == 3
    assert program.post("/api/v1/projects/none/annotators?filename=a.csv", content=content).is_error


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
    for query, form, words in (
        ("", None, "the file has no name"),
        ("?filename=a.csv&maps=x", None, "did you mean 'map'"),
        ("", {"wantd": "3"}, "wantd: there is no such field"),
        ("", {"wanted": "many"}, "wanted: "),
        ("?filename=a.csv&format=none", None, "there is no format 'none'"),
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
