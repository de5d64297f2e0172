"""What the interface answers is what the commands print; who has it is not sent it again."""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from tests.cli.conftest import Run
from tests.web.api.conftest import P
from tracker.core import clock
from tracker.ledger import Ledger

# An address, and the command that prints the same with --json.
SAME = {
    "/api/v1/projects": "project list",
    "/api/v1/projects?all=true": "project list --all",
    "/api/v1/status": "status",
    "/api/v1/formats": "formats",
    "/api/v1/imports": "imports list",
    "/api/v1/imports?project=reviews": "imports list reviews",
    "/api/v1/imports/1": "imports show 1",
    P: "project show reviews",
    f"{P}/status": "status reviews",
    f"{P}/agreement": "agreement reviews",
    f"{P}/agreement?by=category": "agreement reviews --by category",
    f"{P}/agreement?by=pair": "agreement reviews --by pair",
    f"{P}/agreement?by=model": "agreement reviews --by model",
    f"{P}/agreement?by=confusion": "agreement reviews --by confusion",
    f"{P}/agreement?by=annotator": "agreement reviews --by annotator",
    f"{P}/agreement?by=item&limit=5": "agreement reviews --by item --limit 5",
    f"{P}/agreement?measure=alpha&measure=fleiss_kappa&confidence=.9&interval=t":
        "agreement reviews --measure alpha --measure fleiss_kappa --confidence .9 --interval t",
    f"{P}/agreement?bootstrap=20&seed=3&exclude_annotator=constant%201":
        "agreement reviews --bootstrap 20 --seed 3 --exclude-annotator constant_1",
    f"{P}/agreement?annotator=annotator%2001&annotator=constant%201&exclude_flagged=false":
        "agreement reviews --annotator annotator_01 --annotator constant_1",
    f"{P}/agreement?explain=alpha": "agreement reviews --explain alpha",
    f"{P}/agreement?influence=category": "agreement reviews --influence category",
    f"{P}/agreement?merge=negative%2Bpositive": "agreement reviews --merge negative+positive",
    f"{P}/agreement?best_merges=true": "agreement reviews --best-merges",
    f"{P}/agreement?against=sandwich": "agreement reviews --against sandwich",
    f"{P}/agreement?against=exclude-annotator%3Dgold":
        "agreement reviews --against exclude-annotator=gold",
    f"{P}/agreement?gold=true": "agreement reviews --gold",
    f"{P}/agreement?methods=true": "agreement reviews --methods",
    f"{P}/history": "history reviews",
    f"{P}/history?every=day&measure=gwet_ac1": "history reviews --every day --measure gwet_ac1",
    f"{P}/history?trend=true&watch_for=drop": "history reviews --trend --watch-for drop",
    f"{P}/compare?a=first&b=last": "compare reviews first last",
    f"{P}/compare?a=first&b=last&with=sandwich": "compare reviews first last --with sandwich",
    f"{P}/snapshots": "snapshots list reviews",
    f"{P}/snapshots/first": "snapshots show reviews first",
    f"{P}/audit": "audit reviews",
    f"{P}/audit?all=true&evidence=2&kind=copying":
        "audit reviews --all --evidence 2 --kind copying",
    f"{P}/findings": "flags list reviews",
    f"{P}/findings?state=all&kind=copying": "flags list reviews --state all --kind copying",
    f"{P}/findings/1": "flags show 1 -p reviews",
    f"{P}/findings/changes": "flags history -p reviews",
    f"{P}/findings/1/changes": "flags history 1 -p reviews",
    f"{P}/items?limit=5": "item list reviews --limit 5",
    f"{P}/items/item%200001": "item show reviews item_0001",
    f"{P}/annotators": "annotator list reviews",
    f"{P}/annotators/constant%201": "annotator show constant_1 -p reviews",
    f"{P}/annotators/constant%201?competence=true":
        "annotator show constant_1 -p reviews --competence",
    f"{P}/categories": "category list reviews",
    f"{P}/questions": "question list reviews",
    f"{P}/questions/label": "question show reviews label",
    f"{P}/items/item%200001?known_at=2020-01-01":
        "item show reviews item_0001 --known-at 2020-01-01",
    f"{P}/notes": "project notes reviews",
    f"{P}/changes": "project changes reviews",
    f"{P}/changes?limit=2": "project changes reviews --limit 2",
}  # fmt: skip
_NAMES = {"annotator_01": "annotator 01", "constant_1": "constant 1", "item_0001": "item 0001"}


@pytest.mark.parametrize(("address", "call"), SAME.items())
def test_it_is_what_the_command_prints(
    program: TestClient, run: Run, monkeypatch: pytest.MonkeyPatch, address: str, call: str
) -> None:
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now)  # the last point of a curve
    words = [_NAMES.get(word, word) for word in call.split()]
    told = program.get(address)
    printed = run(*words, "--json", code=None)
    if printed.code:
        assert told.status_code >= 400
        assert printed.err.startswith(f"tracker: {told.json()['detail']}"), (
            printed.err,
            told.json(),
        )
        return
    assert told.status_code == 200, told.text
    assert told.json() == printed.json()
    assert told.text == printed.out  # to the letter: what greps one greps the other


@pytest.mark.parametrize("address", [one for one in SAME if one != "/api/v1/formats"])
def test_who_has_it_is_not_sent_it_again(program: TestClient, address: str) -> None:
    first = program.get(address)
    if first.status_code != 200:
        return
    assert first.headers["cache-control"] == "private, no-cache"
    again = program.get(address, headers={"if-none-match": f'"x", {first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]


def test_a_tag_is_of_one_request_at_one_revision(
    program: TestClient, furnished_ledger: Ledger
) -> None:
    def tag(query: str = "") -> str:
        return program.get(f"{P}/agreement{query}").headers["etag"]

    before = tag()
    assert before == tag()
    assert before not in {tag("?confidence=.9"), tag("?measure=alpha")}
    furnished_ledger.notes.add("sandwich", "of another project")
    assert tag() == before
    furnished_ledger.notes.add("reviews", "of this one")
    assert tag() != before


def test_nothing_is_computed_for_who_has_it(
    program: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    tag = program.get(f"{P}/agreement").headers["etag"]
    monkeypatch.setattr(Ledger, "agreement", lambda *_, **__: pytest.fail("it was computed"))
    assert program.get(f"{P}/agreement", headers={"if-none-match": tag}).status_code == 304


def test_figures_follow_what_others_record(program: TestClient, furnished_ledger: Ledger) -> None:
    before = program.get(f"{P}/agreement").json()["counts"]["answers"]
    furnished_ledger.imports.undo(1)
    assert program.get(f"{P}/agreement").json()["counts"]["answers"] == 0 < before


def test_a_difference_to_another_project_follows_that_one(
    program: TestClient, furnished_ledger: Ledger
) -> None:
    address = f"{P}/agreement?against=sandwich"
    tag = program.get(address).headers["etag"]
    furnished_ledger.notes.add("sandwich", "something")
    assert program.get(address, headers={"if-none-match": tag}).status_code == 200


@pytest.mark.parametrize("name", ["a/b", "a/agreement", "50 %", "a%2Fb", "?#&", "ж/ж", "a b/"])
def test_any_name_is_one_segment(program: TestClient, furnished_ledger: Ledger, name: str) -> None:
    furnished_ledger.projects.create(name)
    address = f"/api/v1/projects/{quote(name.strip(), safe='')}"
    assert program.get(address).json()["project"] == name
    assert program.get(f"{address}/categories").json()["project"] == name


def test_rows_are_streamed_as_the_command_writes_them(program: TestClient, run: Run) -> None:
    run("export", "labels", "reviews", "-o", "labels.csv")
    told = program.get(f"{P}/export/labels")
    assert told.headers["content-type"].startswith("text/csv")
    with open("labels.csv", encoding="utf-8", newline="") as file:  # noqa: PTH123
        assert told.text == file.read()
    rows = list(csv.DictReader(io.StringIO(told.text)))
    lines = program.get(f"{P}/export/labels?format=jsonl").text.splitlines()
    assert [json.loads(line)["item"] for line in lines] == [row["item"] for row in rows]
    assert len(program.get(f"{P}/export/consensus").text.splitlines()) == 161


def test_a_gate_is_in_the_request(program: TestClient) -> None:
    none = program.get(f"{P}/gate")
    assert (none.status_code, none.json()["exit_code"]) == (404, 4)
    assert f"GET {P}/gate/sample" in none.json()["mend"]
    assert "no project" in program.get("/api/v1/projects/none/gate").json()["detail"]
    text = program.get(f"{P}/gate/sample").text
    assert program.post(f"{P}/gate", content=text, headers=_TOML).json()["passed"] is True
    failing = program.post(f"{P}/gate", content="[[check]]\nitems_at_least = 900", headers=_TOML)
    assert (failing.status_code, failing.json()["passed"]) == (200, False)
    broken = program.post(f"{P}/gate", content="[[check]]\nitems_at_leats = 900", headers=_TOML)
    assert broken.status_code == 422
    assert "gate.toml:2" in broken.json()["detail"]


_TOML = {"content-type": "application/toml"}


# -- pages ---------------------------------------------------------------------------------


def test_pages_of_items_are_all_items(program: TestClient, furnished_ledger: Ledger) -> None:
    found, address = list[str](), f"{P}/items?limit=60"
    while address:
        told = program.get(address)
        found += [one["item"] for one in told.json()["items"]]
        address = told.links["next"]["url"] if "link" in told.headers else ""
    assert found == [one.name for one in furnished_ledger.items.list("reviews")]


def test_the_last_page_has_no_next(program: TestClient) -> None:
    assert "link" not in program.get(f"{P}/items?limit=160").headers
    assert "link" in program.get(f"{P}/items?limit=159").headers


def test_items_are_found_by_a_part_of_their_key(program: TestClient) -> None:
    told = program.get(f"{P}/items?q=M%20000").json()["items"]
    assert [one["item"] for one in told] == [f"item 000{number}" for number in range(1, 10)]
    assert program.get(f"{P}/items?q=%25").json()["items"] == []


def test_imports_come_in_pages(program: TestClient) -> None:
    first = program.get("/api/v1/imports?limit=1")
    second = program.get(first.links["next"]["url"])
    assert [one["import"] for told in (first, second) for one in told.json()["imports"]] == [1, 2]
    assert "link" not in second.headers


def test_pages_of_changes_are_all_changes(program: TestClient) -> None:
    every = program.get(f"{P}/changes").json()
    assert every["next"] is None
    found, address = list[object](), f"{P}/changes?limit=2"
    while address:
        told = program.get(address)
        found += told.json()["changes"]
        address = told.links["next"]["url"] if "link" in told.headers else ""
    assert found == every["changes"]
    assert len(found) > 2


def test_items_are_of_a_moment(program: TestClient) -> None:
    for clock_ in ("as_of", "known_at"):
        assert program.get(f"{P}/items?{clock_}=2020-01-01").json()["items"] == []
        now = program.get(f"{P}/items?{clock_}=0d&limit=1")
        assert now.json()["items"][0]["annotators"] > 0
        assert f"{clock_}=0d" in now.links["next"]["url"]


# -- errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "status", "kind", "code"),
    [
        ("/api/v1/projects/none", 404, "not-found", 4),
        (f"{P}/items/none", 404, "not-found", 4),
        (f"{P}/agreement?by=nothing", 422, "invalid-option", 2),
        (f"{P}/agreement?by=pair&gold=true", 422, "invalid-option", 2),
        (f"{P}/agreement?where=x", 422, "invalid-option", 2),
        (f"{P}/items?cursor=x", 422, "invalid-option", 2),
        (f"{P}/items?as_of=x", 422, "invalid-option", 2),
        (f"{P}/changes?cursor=x", 422, "invalid-option", 2),
        (f"{P}/changes?cursor=1-1-{'9' * 5000}", 422, "invalid-option", 2),
        (f"{P}/agreement?confidence=nan", 422, "invalid-option", 2),
        (f"{P}/agreement?mesure=alpha", 422, "invalid-request", None),
    ],
)
def test_an_error_says_its_kind_and_how_to_mend_it(
    program: TestClient, address: str, status: int, kind: str, code: int | None
) -> None:
    told = program.get(address)
    assert told.headers["content-type"] == "application/problem+json"
    assert told.status_code == told.json()["status"] == status
    assert told.json()["type"] == f"urn:annotation-tracker:problem:{kind}"
    assert told.json().get("exit_code") == code


def test_a_parameter_that_is_none_is_refused_with_the_nearest(program: TestClient) -> None:
    told = program.get(f"{P}/agreement?mesure=alpha").json()
    assert "did you mean 'measure'" in told["detail"]
    assert told["parameters"][0]["name"] == "mesure"
