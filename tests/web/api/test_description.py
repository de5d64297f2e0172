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
