"""The description of the interface, and what holds the interface to it."""

from __future__ import annotations

from typing import Any

import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import integers
from schemathesis import checks
from schemathesis.specs.openapi import checks as openapi

from tests.profiles import exhaustive
from tracker.ledger import Ledger
from tracker.web.app import create_app


def described(program: TestClient) -> dict[str, Any]:
    document: dict[str, Any] = program.get("/api/v1/openapi.json").json()
    return document


def test_each_operation_is_described_with_its_errors(program: TestClient, ledger: Ledger) -> None:
    document = described(program)
    assert document["openapi"].startswith("3.1")
    operations = [(f"{method} {path}", operation) for path, methods in document["paths"].items()
                  for method, operation in methods.items()]  # fmt: skip
    assert len(operations) > 40
    assert len({operation["operationId"] for _, operation in operations}) == len(operations)
    tags = {one["name"] for one in document["tags"]}
    for name, operation in operations:
        assert {*operation["tags"]} <= tags, name
        assert operation["description"], name
        assert all(one["description"] for one in operation.get("parameters", [])), name
        for status in ("401", "403", "422", "503"):
            response = operation["responses"][status]
            reference = response.get("$ref", "").rpartition("/")[2]
            shown = document["components"]["responses"][reference] if reference else response
            assert list(shown["content"]) == ["application/problem+json"], (name, status)
    assert [one["url"] for one in document["servers"]] == ["/"]
    (name,) = document["components"]["securitySchemes"]
    assert document["components"]["securitySchemes"][name]["scheme"] == "bearer"
    assert document["security"] == [{name: []}, {}]
    behind = TestClient(create_app(ledger, root_path="/at"), base_url="http://127.0.0.1:8000")
    assert [one["url"] for one in described(behind)["servers"]] == ["/at"]


HOST = {"host": "127.0.0.1:8000"}
NAMES = {"project": "reviews", "annotator": "annotator 01", "item": "item 0001",
         "snapshot": "first"}  # fmt: skip
# Of any request, also of one that is wrong; which are to be refused, the schema cannot say in full.
CHECKS = [
    checks.not_a_server_error, openapi.status_code_conformance,
    openapi.content_type_conformance, openapi.response_headers_conformance,
    openapi.response_schema_conformance,
]  # fmt: skip
EXAMPLES = settings(
    max_examples=5, deadline=None, database=None, suppress_health_check=[*HealthCheck],
    phases=[Phase.explicit, Phase.generate],
)  # fmt: skip


@schemathesis.serializer("application/toml")
def toml(_context: object, value: object) -> bytes:
    """Any bytes are tried."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@exhaustive
def test_answers_are_as_described(program: TestClient) -> None:
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
