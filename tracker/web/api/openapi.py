"""The description of the interface: OpenAPI 3.1."""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import APIRouter, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response

from tracker.core.version import VERSION
from tracker.web.api.routing import json_text, resource
from tracker.web.api.schema import schema_of
from tracker.web.errors import PHRASES, Problem
from tracker.web.identity import Role, needs

_PROBLEM = "application/problem+json"
_SUMMARY = (
    "The bodies are those that the commands print with `--json`. A name in an address is one "
    "segment, encoded: `a/b` is `a%2Fb`. A figure has an `ETag`; who sends it back as "
    "`If-None-Match` gets 304 as long as nothing changed. An error is a problem document "
    "(RFC 9457): what is wrong, how to mend it, and the exit code of the command."
)
_ERRORS = {
    401: "Nobody is signed in.",
    403: "The role is too low.",
    404: "There is no such project, or no such part of it.",
    422: "The request cannot be understood, or its data are refused; nothing was stored.",
    503: "The database cannot be used.",
}
_TOKEN = {
    "type": "http", "scheme": "bearer",
    "description": "A token, made by `tracker token add`; a server without users asks for none.",
}  # fmt: skip
TAGS = {
    "figures": "Agreement, its course, comparisons, audits, gates.",
    "findings": "What audits recorded about annotators, and what is done about it.",
    "judges": "Models beside people: whether they may stand in for them, and how they differ.",
    "adjudication": "What is right where annotators differ, and why they do.",
    "records": "Projects, questions, items, annotators, categories, notes.",
    "work": "Who is to answer which items, and how far they are.",
    "imports": "Ways into a project, and back.",
    "exports": "Rows out.",
    "jobs": "Work in the background.",
    "hooks": "Events: those that other programs send, and addresses that are told of ours.",
    "description": "This document.",
}


def openapi_router(routers: list[APIRouter]) -> APIRouter:
    """Return the route of the document that describes these routes."""
    router = resource("description")

    @cache
    def document(root: str) -> bytes:
        routes = [route for one in [*routers, router] for route in one.routes]
        return json_text(_document(routes, root or "/"))

    @router.get(
        "/openapi.json", dependencies=[needs(Role.EVERYONE)], operation_id="describe",
        response_model=dict[str, Any],
    )  # fmt: skip
    async def openapi_document(request: Request) -> Response:
        """Return this description of the interface."""
        root = request.scope.get("root_path", "")
        return Response(document(root), media_type="application/json")

    return router


def _document(routes: list[Any], server: str) -> dict[str, Any]:
    tags = [{"name": name, "description": text} for name, text in TAGS.items()]
    made = get_openapi(
        title="tracker", version=VERSION, description=_SUMMARY, tags=tags, routes=routes,
        servers=[{"url": server, "description": "This server."}],
    )  # fmt: skip
    made["security"] = [{"token": []}, {}]
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    problem = schema_of(Problem).model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= {**problem.pop("$defs"), "Problem": problem}
    made["components"]["responses"] = {_name(n): _problem(text) for n, text in _ERRORS.items()}
    made["components"]["securitySchemes"] = {"token": _TOKEN}
    for path, operations in made["paths"].items():
        for method, operation in operations.items():
            _complete(path, method, operation)
    return made


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    """Add what every operation may answer with, too."""
    for one in operation.get("parameters", ()):
        if one["in"] == "path":
            one.setdefault("description", f"The name of the {one['name']}.")
    responses = operation["responses"]
    responses.pop("422", None)
    for status, response in responses.items():
        if int(status) >= 400:
            responses[status] = _problem(response["description"])
    for status in _ERRORS:
        responses.setdefault(str(status), {"$ref": f"#/components/responses/{_name(status)}"})
    if method == "get" and "{" in path:
        unchanged = {"description": "Nothing changed since the ETag that was sent."}
        responses.setdefault("304", unchanged)
    operation["responses"] = dict(sorted(responses.items()))


def _name(status: int) -> str:
    return PHRASES[status].title().replace(" ", "")


def _problem(description: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": description, "content": {_PROBLEM: {"schema": schema}}}
