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


def test_a_project_is_made_set_renamed_and_archived(program: TestClient) -> None:
    made = program.post(
        "/api/v1/projects",
        json={"project": "new/one", "scale": "ordinal", "categories": ["a", "b"]},
    )
    assert (made.status_code, made.headers["location"]) == (201, NEW)
    assert program.get(NEW).json()["categories"] == ["a", "b"]
    assert program.patch(NEW, json={"wanted": 3}).json()["wanted"] == 3
    assert program.patch(NEW, json={"open": True}).json()["categories_closed"] is False
    assert program.patch(NEW, json={"wnated": 3}).status_code == 422
    assert program.post(f"{NEW}/rename", json={"name": "n"}).json()["project"] == "n"
    assert program.get(NEW).status_code == 404
    assert program.post("/api/v1/projects/n/archive").json()["archived_at"]
    assert program.post("/api/v1/projects/n/restore").json()["archived_at"] is None
    assert program.post("/api/v1/projects", json={"project": "n"}).status_code == 422


def test_a_question_is_added_set_and_renamed(program: TestClient) -> None:
    made = program.post(f"{P}/questions", json={"question": "how so?", "answers": "several"})
    assert made.headers["location"] == f"{P}/questions/how%20so%3F"
    address = made.headers["location"]
    assert program.patch(address, json={"wanted": 2}).json()["wanted"] == 2
    assert program.post(f"{address}/rename", json={"name": "why"}).json()["question"] == "why"
    assert program.get(f"{P}/questions/why").json()["wanted"] == 2


def test_a_note_is_added_and_removed(program: TestClient) -> None:
    text = "v3 " * 1000 + "."
    made = program.post(f"{P}/notes", json={"text": text, "guideline": "v3"})
    assert made.status_code == 201
    number = made.json()["note"]
    assert [one["note"] for one in program.get(f"{P}/notes").json()["notes"]][-1] == number
    assert program.delete(f"{P}/notes/{number}").json()["text"] == text
    assert program.delete(f"{P}/notes/{number}").status_code == 404


def test_annotators_are_renamed_merged_and_split(program: TestClient) -> None:
    one = f"{P}/annotators/annotator%2001"
    assert program.post(f"{one}/rename", json={"name": "ada"}).json()["annotator"] == "ada"
    assert program.post(f"{one}/aliases", json={"alias": "a/b"}).json()["aliases"] == [
        "a/b", "annotator 01",
    ]  # fmt: skip
    assert program.post(f"{one}/kind", json={"kind": "model"}).json()["kind"] == "model"
    assert program.post(f"{one}/kind", json={"kind": "human"}).json()["kind"] == "human"
    merged = program.post(f"{P}/annotators/annotator%2002/merge", json={"into": "ada"}).json()
    assert "annotator 02" in merged["aliases"]
    split = program.post(f"{P}/annotators/annotator%2002/split").json()
    assert (split["annotator"], split["aliases"]) == ("annotator 02", [])


def test_a_snapshot_is_taken(program: TestClient) -> None:
    made = program.post(f"{P}/snapshots?annotator=annotator%2001", json={"name": "second"})
    assert (made.status_code, made.json()["name"]) == (201, "second")
    shown = program.get(made.headers["location"]).json()
    assert shown["selection"]["annotators"] == ["annotator 01"]
    assert shown["digest"] == made.json()["digest"]


def test_a_finding_is_acted_on_by_the_one_who_asks(program: TestClient) -> None:
    done = program.post(f"{P}/findings/1/acknowledge", json={"note": "will see"}).json()
    assert (done["flags"][0]["state"], done["flags"][0]["changed"]) == ("acknowledged", True)
    program.post(f"{P}/findings/1/resolve", json={})
    program.post(f"{P}/findings/1/appeal", json={"note": "no"})
    for answer in ("reject", "uphold"):
        program.post(f"{P}/findings/1/{answer}", json={})
    changes = program.get(f"{P}/findings/1/changes").json()["changes"]
    assert [one["action"] for one in changes[1:]] == [
        *("acknowledged", "resolved", "appealed"), "rejected", "upheld",
    ]  # fmt: skip
    assert {one["by"] for one in changes[1:]} == {"local"}
    assert program.post(f"{P}/findings/99/dismiss", json={}).status_code == 404


def test_an_audit_is_recorded(program: TestClient) -> None:
    program.post(f"{P}/findings/1/resolve", json={})
    assert program.post(f"{P}/audit").json()["annotators"]
    assert program.get(f"{P}/findings/1").json()["state"] == "open"  # it was found again


def test_an_event_is_answered_by_what_came_of_it(program: TestClient) -> None:
    address = "/api/v1/hooks/label-studio/new"
    for sent, status, outcome in (
        (EVENT, 201, "imported"),
        (EVENT, 200, "known"),
        ({"action": "PROJECT_UPDATED", "project": {"id": 7}}, 200, "ignored"),
        ({"action": "ANNOTATIONS_DELETED", "project": {"id": 7}}, 202, "for_sync"),
    ):
        told = program.post(address, json=sent)
        assert (told.status_code, told.json()["outcome"]) == (status, outcome)
    for wrong in ({"action": "ANNOTATION_CREATED"}, {}, []):
        told = program.post(address, json=wrong)
        assert told.status_code == 422
        assert told.headers["content-type"] == "application/problem+json"
    assert program.post(f"{address}?url=x", json=EVENT).status_code == 422
    assert program.post(f"{address}?urls=x", json=EVENT).status_code == 422


def test_a_webhook_is_added_and_removed_and_its_secret_shown_once(program: TestClient) -> None:
    address, sent = "/api/v1/webhooks", {"url": "https://example.org/x", "events": ["gate_failed"]}
    made = program.post(address, json={**sent, "project": "reviews"})
    assert made.status_code == 201
    told = made.json()
    assert told.pop("secret").startswith("whsec_")
    assert program.get(address).json()["webhooks"][-1] == told
    assert "etag" not in program.get(address).headers  # no change of a project
    for wrong in ({**sent, "events": []}, {**sent, "url": "x"}, {"url": sent["url"]}):
        assert program.post(address, json=wrong).status_code == 422
    assert program.post(address, json={**sent, "project": "none"}).status_code == 404
    assert program.delete(f"{address}/{told['webhook']}").json() == told
    assert program.delete(f"{address}/{told['webhook']}").status_code == 404


def test_a_webhook_is_tried(program: TestClient, furnished_ledger: Ledger) -> None:
    with listening() as listener:
        made = furnished_ledger.webhooks.add(listener.url, ["gate_failed"], allow_private=True)
        address = f"/api/v1/webhooks/{made.webhook.id}/test"
        told = program.post(address).json()
        assert told == {"webhook": made.webhook.id, "arrived": True, "fault": None}
        assert listener.told()[0]["type"] == "test"
        listener.status = 500
        assert program.post(address).json()["fault"] == "it answered 500"
    assert program.post("/api/v1/webhooks/99/test").status_code == 404


# -- files ---------------------------------------------------------------------------------


def test_a_file_is_imported_as_a_form_or_as_it_is(program: TestClient) -> None:
    form = program.post(
        f"{NEW}/imports",
        files={"file": ("a/b.csv", CSV)},
        data={"scale": "ordinal", "categories": "x,y"},
    )
    assert form.status_code == 201, form.text
    assert (form.json()["inserted"], form.json()["project"]) == (4, "new/one")
    shown = program.get(form.headers["location"]).json()
    assert shown["sources"][0]["name"] == "a/b.csv"
    assert (program.get(NEW).json()["scale"], program.get(NEW).json()["categories"]) == (
        "ordinal", ["x", "y"],
    )  # fmt: skip
    again = program.post(f"{NEW}/imports?filename=c.csv", content=CSV)
    assert again.json()["unchanged"] == 4
    undone = program.post(f"/api/v1/imports/{form.json()['import']}/undo").json()
    assert undone["undone_at"]


def test_several_files_and_archives_are_one_import(program: TestClient) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("more.csv", "item,annotator,category\n3,A,x\n")
    sent = [("file", ("a.csv", CSV)), ("file", ("b.zip", packed.getvalue()))]
    told = program.post(f"{NEW}/imports", files=sent, data={"keep": [], "map": []})
    assert told.json()["inserted"] == 5


def test_columns_are_named_in_the_query_or_in_the_form(program: TestClient) -> None:
    text = b"doc,who,what\n1,A,x\n1,B,y\n"
    roles = ["item=doc", "annotator=who", "category=what"]
    told = program.post(f"{NEW}/imports", files={"file": ("a.csv", text)}, data={"map": roles})
    assert told.json()["inserted"] == 2
    query = "&".join(f"map={role}" for role in roles)
    told = program.post(f"{NEW}/imports?filename=a.csv&{query}", content=text)
    assert told.json()["unchanged"] == 2


def test_a_mapping_and_values_are_sent_beside_the_file(program: TestClient) -> None:
    toml = b'map = ["item=doc", "annotator=who", "category=what"]\nvalues = "values.csv"\n'
    sent = {
        "file": ("a.csv", b"doc,who,what\n1,A,+\n1,B,-\n"), "mapping": ("m.toml", toml),
        "values": ("values.csv", b"old,new\n+,good\n"),
    }  # fmt: skip
    made = program.post(f"{NEW}/imports", files=sent, data={"value": "-=bad"})
    assert made.json()["inserted"] == 2, made.text
    assert program.get(NEW).json()["categories"] == ["bad", "good"]
    del sent["values"]
    for content, said in (
        (toml, "m.toml names a file of values that was not sent"),
        (b'map = ["item=doc"]\nvalues = "/etc/hostname"', "m.toml names a file of values"),
        (b'format = "csv"\nmaps = []', "m.toml, line 2: there is no option 'maps'"),
        (b"map", "m.toml, line 1: this is not TOML"),
    ):
        told = program.post(f"{NEW}/imports", files={**sent, "mapping": ("m.toml", content)})
        assert (told.status_code, said in told.json()["detail"]) == (422, True), told.text
        assert "tracker-" not in told.text  # where it lies here
    told = program.post(f"{NEW}/imports", files={**sent, "values": ("v.csv", b"old\nx\n")})
    assert told.json()["detail"] == "v.csv is no file of values"
    assert program.post(f"{NEW}/imports", files={**sent, "maps": ("m", toml)}).status_code == 422
    assert program.post(f"{NEW}/items", files=sent).status_code == 422  # it takes no mapping


def test_annotators_are_imported_with_their_attributes(program: TestClient) -> None:
    content = b"name,team\nannotator 01,red\nannotator 02,blue\n"
    address = f"{P}/annotators?filename=people.csv&map=annotator=name"
    told = program.post(f"{address}&dry_run=true", content=content)
    assert (told.status_code, told.json()["attributes"]) == (200, ["team"])
    told = program.post(address, content=content, headers={"idempotency-key": "a"})
    assert (told.status_code, told.json()["changed"]) == (201, 2)
    assert program.get(told.headers["location"]).json()["sources"][0]["name"] == "people.csv"
    known = program.get(f"{P}/annotators").json()["annotators"][0]
    assert known["attributes"] == {"team": "red"}
    bad = program.post(f"{P}/annotators?filename=a.csv", content=b"annotator,t\na,x\na,y\n")
    assert bad.status_code == 422
    assert bad.json()["rejections"][0]["line"] == 3
    assert program.post("/api/v1/projects/none/annotators?filename=a.csv", content=content).is_error


def test_categories_are_ordered_renamed_merged_and_split(program: TestClient) -> None:
    names = [one["category"] for one in program.get(f"{P}/categories").json()["categories"]]
    first, *_, last = names
    ordered = program.post(f"{P}/categories/order", json={"categories": names[::-1]})
    assert ordered.json() == {"project": "reviews", "categories": names[::-1]}
    assert program.post(f"{P}/categories/order", json={"categories": []}).status_code == 422
    merged = program.post(f"{P}/categories/{first}/merge", json={"into": last, "dry_run": True})
    assert merged.json()["labels"] > 0
    assert (
        program.post(f"{P}/categories/{first}/merge", json={"into": last}).json() == merged.json()
    )
    split = program.post(f"{P}/categories/{first}/split").json()
    assert split == {"project": "reviews", "category": first, "from": last}
    renamed = program.post(f"{P}/categories/{first}/rename", json={"name": "a/b"})
    assert renamed.json() == {"project": "reviews", "category": "a/b", "before": first}
    assert program.post(f"{P}/categories/{first}/split").status_code == 404


def test_a_project_is_deleted_if_its_name_is_repeated(program: TestClient) -> None:
    for query in ("", "?confirm=review"):
        told = program.delete(f"{P}{query}")
        assert (told.status_code, "confirm=" in told.json()["mend"]) == (422, True)
    assert program.delete(f"{P}?confirm=reviews").json() == {"project": "reviews", "deleted": True}
    assert program.delete(f"{P}?confirm=reviews").status_code == 404


def test_rows_that_are_refused_are_named_with_their_lines(program: TestClient) -> None:
    told = program.post(f"{NEW}/imports?filename=a.csv", content=CSV + b",A,x\n3,,x\n")
    assert told.status_code == 422
    problem = told.json()
    assert problem["type"].endswith(":refused")
    assert [(one["source"], one["line"]) for one in problem["rejections"]] == [
        ("a.csv", 6), ("a.csv", 7),
    ]  # fmt: skip
    assert program.get(NEW).status_code == 404  # nothing was stored
    kept = program.post(f"{NEW}/imports?filename=a.csv&skip_invalid=true", content=CSV + b",A,x\n")
    assert (kept.status_code, kept.json()["rejected"]) == (201, 1)


@pytest.mark.parametrize("how", ["dry_run", "preview"])
def test_a_preview_stores_nothing(program: TestClient, how: str) -> None:
    told = program.post(f"{NEW}/imports?filename=a.csv&{how}=true", content=CSV)
    assert (told.status_code, told.json()["inserted"]) == (200, 4)
    assert ("preview" in told.json()) is (how == "preview")
    assert program.get(NEW).status_code == 404


def test_items_are_registered(program: TestClient) -> None:
    told = program.post(f"{P}/items?filename=items.csv", content=b"item,text\nnew one,hello\n")
    assert told.json()["inserted"] == 1
    assert program.get(f"{P}/items/new%20one").json()["text"] == "hello"


@pytest.mark.parametrize(
    ("query", "form", "said"),
    [
        ("", None, "the file has no name"),
        ("?filename=a.csv&maps=x", None, "did you mean 'map'"),
        ("", {"wantd": "3"}, "wantd: there is no such field"),
        ("", {"wanted": "many"}, "wanted: "),
        ("?filename=a.csv&format=none", None, "there is no format 'none'"),
    ],
)
def test_what_is_sent_wrongly_is_refused(
    program: TestClient, query: str, form: dict[str, str] | None, said: str
) -> None:
    told = (
        program.post(f"{NEW}/imports{query}", content=CSV)
        if form is None
        else program.post(f"{NEW}/imports", files={"file": ("a.csv", CSV)}, data=form)
    )
    assert told.status_code == 422
    assert said in told.json()["detail"]


@pytest.mark.parametrize("kind", ["length", "chunks", "form"])
def test_a_file_that_is_too_large_is_refused(furnished_ledger: Ledger, kind: str) -> None:
    app = create_app(furnished_ledger, max_upload=2000)
    with TestClient(app, base_url="http://127.0.0.1:8000") as program:
        big = CSV + b"3,A,x\n" * 1000
        if kind == "form":
            told = program.post(f"{NEW}/imports", files={"file": ("a.csv", big)})
        else:
            content = big if kind == "length" else iter([big[:1500], big[1500:]])
            told = program.post(f"{NEW}/imports?filename=a.csv", content=content)
        assert told.status_code == 413
        assert told.json()["detail"].startswith("more than 2,000 bytes")
        assert program.post(f"{NEW}/imports?filename=a.csv", content=CSV).status_code == 201


def test_an_object_that_is_too_large_is_refused(program: TestClient) -> None:
    told = program.post("/api/v1/projects", json={"project": "a" * 20_000_000})
    assert (told.status_code, told.json()["detail"]) == (413, "more than 20,000,000 bytes")


def test_nothing_that_was_sent_stays(
    program: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    program.post(f"{NEW}/imports?filename=a.csv", content=CSV)
    program.post(f"{NEW}/imports?filename=../../x%00.csv", content=b"nonsense")
    program.post(f"{NEW}/imports", files={"file": ("..", CSV)})
    assert [one.name for one in tmp_path.rglob("tracker-*/**/*") if one.is_file()] == []
