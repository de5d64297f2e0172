"""What the interface answers to those who read; who has it is not sent it again.

That it is what the commands print, and what it says of mistakes, is in the goldens.
"""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from tests.cli.conftest import Run
from tests.web.api.conftest import P
from tracker.ledger import Ledger


def test_who_has_it_is_not_sent_it_again(program: TestClient) -> None:
    below = ("", "/status", "/agreement?by=pair", "/history", "/compare?a=first&b=last", "/audit",
             "/snapshots/first", "/findings/1", "/items?limit=5", "/changes?limit=2")  # fmt: skip
    for address in ("/api/v1/projects", "/api/v1/imports", *(f"{P}{path}" for path in below)):
        first = program.get(address)
        assert first.headers["cache-control"] == "private, no-cache", address
        again = program.get(address, headers={"if-none-match": f'"x", {first.headers["etag"]}'})
        assert (again.status_code, again.content) == (304, b""), address
        assert again.headers["etag"] == first.headers["etag"], address


def test_a_tag_is_of_one_request_at_one_revision(
    program: TestClient, furnished_ledger: Ledger
) -> None:
    def tag(query: str = "") -> str:
        return program.get(f"{P}/agreement{query}").headers["etag"]

    before, answers = tag(), program.get(f"{P}/agreement").json()["counts"]["answers"]
    assert before == tag()
    assert before not in {tag("?confidence=.9"), tag("?measure=alpha")}
    furnished_ledger.notes.add("sandwich", "of another project")
    assert tag() == before
    furnished_ledger.imports.undo(1)
    assert tag() != before
    assert program.get(f"{P}/agreement").json()["counts"]["answers"] == 0 < answers


def test_nothing_is_computed_for_who_has_it(
    program: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    tag = program.get(f"{P}/agreement").headers["etag"]
    monkeypatch.setattr(Ledger, "agreement", lambda *_, **__: pytest.fail("it was computed"))
    assert program.get(f"{P}/agreement", headers={"if-none-match": tag}).status_code == 304


def test_a_difference_to_another_project_follows_that_one(
    program: TestClient, furnished_ledger: Ledger
) -> None:
    address = f"{P}/agreement?against=sandwich"
    tag = program.get(address).headers["etag"]
    furnished_ledger.notes.add("sandwich", "something")
    assert program.get(address, headers={"if-none-match": tag}).status_code == 200


def test_any_name_is_one_segment(program: TestClient, furnished_ledger: Ledger) -> None:
    for name in ("a/b", "a/agreement", "50 %", "a%2Fb", "?#&", "ж/ж", "a b/"):
        furnished_ledger.projects.create(name)
        address = f"/api/v1/projects/{quote(name, safe='')}"
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
