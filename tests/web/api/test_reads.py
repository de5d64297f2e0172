"""What the interface answers to those who read; who has it is not sent it again.

That it is what the commands print, and what it says of mistakes, is in the goldens.
"""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import integers

from tests.profiles import exhaustive
from tests.web.api.conftest import P
from tracker.ledger import Ledger


def test_an_answer_is_sent_once_for_each_request_and_revision(
    program: TestClient, furnished_ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = ("", "/status", "/agreement?by=pair", "/history", "/compare?a=first&b=last", "/audit",
             "/snapshots/first", "/findings/1", "/items?limit=5", "/changes?limit=2")  # fmt: skip
    for address in ("/api/v1/projects", "/api/v1/imports", *(f"{P}{path}" for path in below)):
        first = program.get(address)
        assert first.headers["cache-control"] == "private, no-cache", address
        again = program.get(address, headers={"if-none-match": f'"x", {first.headers["etag"]}'})
        assert (again.status_code, again.content) == (304, b""), address
        assert again.headers["etag"] == first.headers["etag"], address

    def tag(query: str = "") -> str:
        return program.get(f"{P}/agreement{query}").headers["etag"]

    before, answers = tag(), program.get(f"{P}/agreement").json()["counts"]["answers"]
    assert before == tag()
    assert before not in {tag("?confidence=.9"), tag("?measure=alpha")}
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "agreement", lambda *_, **__: pytest.fail("it was computed"))
        again = program.get(f"{P}/agreement", headers={"if-none-match": before})
        assert again.status_code == 304
    against = tag("?against=sandwich")
    furnished_ledger.notes.add("sandwich", "of another project")
    assert tag() == before
    assert tag("?against=sandwich") != against
    furnished_ledger.imports.undo(1)
    assert tag() != before
    assert program.get(f"{P}/agreement").json()["counts"]["answers"] == 0 < answers


def test_a_gate_is_in_the_request(program: TestClient) -> None:
    def post(text: str) -> Any:
        kind = {"content-type": "application/toml"}
        return program.post(f"{P}/gate", content=text, headers=kind)

    assert post(program.get(f"{P}/gate/sample").text).json()["passed"] is True
    failing = post("[[check]]\nitems_at_least = 900")
    assert (failing.status_code, failing.json()["passed"]) == (200, False)
    broken = post("[[check]]\nitems_at_leats = 900")
    assert broken.status_code == 422
    assert "gate.toml:2" in broken.json()["detail"]


def paged(program: TestClient, address: str, rows: str) -> list[dict[str, object]]:
    """The rows of all pages, each of which leads to the next."""
    found = list[dict[str, object]]()
    while address:
        page = program.get(address)
        found += page.json()[rows]
        address = page.links["next"]["url"] if "link" in page.headers else ""
    return found


def test_pages_lead_through_all_rows(program: TestClient, furnished_ledger: Ledger) -> None:
    items = [one["item"] for one in paged(program, f"{P}/items?limit=60", "items")]
    assert items == [one.name for one in furnished_ledger.items.list("reviews")]
    assert "link" not in program.get(f"{P}/items?limit=160").headers
    assert "link" in program.get(f"{P}/items?limit=159").headers
    every = program.get(f"{P}/changes").json()
    assert every["next"] is None
    changes = paged(program, f"{P}/changes?limit=2", "changes")
    assert changes == every["changes"]
    assert len(changes) > 2
    assert program.get(f"{P}/items?known_at=2020-01-01").json()["items"] == []
    now = program.get(f"{P}/items?known_at=0d&limit=1")
    assert now.json()["items"][0]["annotators"] > 0
    assert "known_at=0d" in now.links["next"]["url"]


HOST = {"host": "127.0.0.1:8000"}
NAMES = {"project": "reviews", "annotator": "annotator 01", "item": "item 0001",
         "snapshot": "first"}  # fmt: skip
EXAMPLES = settings(
    max_examples=5, deadline=None, database=None, suppress_health_check=[*HealthCheck],
    phases=[Phase.explicit, Phase.generate],
)  # fmt: skip


@exhaustive
def test_answers_are_as_described(program: TestClient) -> None:
    import schemathesis  # it takes a second
    from schemathesis import checks
    from schemathesis.specs.openapi import checks as openapi

    # Of any request, also of one that is wrong; which are to be refused, the schema cannot say.
    held = [
        checks.not_a_server_error, openapi.status_code_conformance,
        openapi.content_type_conformance, openapi.response_headers_conformance,
        openapi.response_schema_conformance,
    ]  # fmt: skip

    @schemathesis.serializer("application/toml")
    def toml(_context: object, value: object) -> bytes:  # any bytes are tried
        return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")

    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", program.app, headers=HOST)
    for found in schema.get_all_operations():
        operation = found.ok()

        @EXAMPLES
        @given(case=operation.as_strategy(), known=integers(0, 3))
        def conforms(case: Any, known: int) -> None:
            for name, value in NAMES.items():
                if known and name in case.path_parameters:  # mostly of what is there
                    case.path_parameters[name] = value
            if case.path.endswith("/test"):  # it would be sent to somebody
                case.path_parameters["number"] = 99
            case.call_and_validate(checks=held, headers=HOST)

        conforms()
