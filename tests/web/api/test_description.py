"""The description of the interface, and what holds the interface to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import integers
from schemathesis import checks
from schemathesis.specs.openapi import checks as openapi

from tests.profiles import EXHAUSTIVE
from tracker.ledger import Ledger
from tracker.web.app import create_app


def document(program: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = program.get("/api/v1/openapi.json").json()
    return found


def operations(told: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_every_operation_is_named_tagged_and_described(program: TestClient) -> None:
    told = document(program)
    assert told["openapi"].startswith("3.1")
    found = list(operations(told))
    assert len(found) > 40
    names = [operation["operationId"] for _, _, operation in found]
    assert len({*names}) == len(names)
    known = {one["name"] for one in told["tags"]}
    for path, _, operation in found:
        assert {*operation["tags"]} <= known, path
        assert operation["description"], path
        for one in operation.get("parameters", []):
            assert one["description"], (path, one["name"])


def test_every_error_is_declared_as_a_problem(program: TestClient) -> None:
    told = document(program)
    for path, method, operation in operations(told):
        for status in ("401", "403", "422", "503"):
            response = operation["responses"][status]
            name = response.get("$ref", "").rpartition("/")[2]
            shown = told["components"]["responses"][name] if name else response
            assert list(shown["content"]) == ["application/problem+json"], (path, method, status)


def test_a_program_is_told_where_to_ask_and_how_to_sign_in(
    program: TestClient, ledger: Ledger
) -> None:
    told = document(program)
    assert [one["url"] for one in told["servers"]] == ["/"]
    (name,) = told["components"]["securitySchemes"]
    assert told["components"]["securitySchemes"][name]["scheme"] == "bearer"
    assert told["security"] == [{name: []}, {}]
    behind = TestClient(create_app(ledger, root_path="/at"), base_url="http://127.0.0.1:8000")
    assert [one["url"] for one in document(behind)["servers"]] == ["/at"]


# -- what it says is so --------------------------------------------------------------------

HOST = {"host": "127.0.0.1:8000"}
# Of any request, also of one that is wrong; which are to be refused, the schema cannot say in full.
CHECKS = [
    checks.not_a_server_error, openapi.status_code_conformance,
    openapi.content_type_conformance, openapi.response_headers_conformance,
    openapi.response_schema_conformance,
]  # fmt: skip
EXAMPLES = settings(
    max_examples=5 if EXHAUSTIVE else 1, deadline=None, database=None, derandomize=not EXHAUSTIVE,
    suppress_health_check=[*HealthCheck], phases=[Phase.explicit, Phase.generate],
)  # fmt: skip


@schemathesis.serializer("application/toml")
def toml(_context: object, value: object) -> bytes:
    """Any bytes are tried."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def test_what_is_answered_is_as_described(program: TestClient) -> None:
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
            case.call_and_validate(checks=CHECKS, headers=HOST)

        conforms()


NAMES = {
    "project": "reviews",
    "annotator": "annotator 01",
    "item": "item 0001",
    "snapshot": "first",
}
