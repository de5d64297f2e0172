"""Routes made of the operations of the ledger."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import Parameter, Signature, cleandoc
from typing import Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field, create_model

from tracker.core.operations import Field as Argument
from tracker.core.operations import Given, Operation, arguments_of, operations_of, taken_by
from tracker.web.api.parameters import bounds_of, route_parameter
from tracker.web.api.routing import Answer, Answering, reads, writes
from tracker.web.api.schema import result_model
from tracker.web.identity import Role

_NAME = re.compile(r"{(\w+)}")
_CAPITAL = re.compile(r"([A-Z])")
# Paragraphs that say nothing of a request.
_OF_COMMANDS = ("Raises", "Args:", "Prints", "Example", "Next:")


def add_routes(router: APIRouter, *namespaces: type) -> APIRouter:
    """Add the routes of namespaces' operations, and return the router."""
    for namespace in namespaces:
        for operation in operations_of(namespace):
            if operation.route is not None:
                _add(router, operation, namespace)
    return router


def _add(router: APIRouter, operation: Operation, namespace: type) -> None:
    verb, path = (operation.route or "").split()
    in_path = _NAME.findall(path)
    fields = taken_by("route", operation.fields)
    names = {field.face_name: field for field in fields}
    segments = {name: names[name].kind is str for name in in_path}
    path = _NAME.sub(lambda one: f"{{{one[1]}:segment}}" if segments[one[1]] else one[0], path)
    sent = [
        field
        for field in fields
        if verb in {"POST", "PATCH", "PUT"}
        and field.face_name not in in_path
        and not (field.option.in_query or field.option.asker)
    ]
    role = {} if operation.role is None else {"role": Role[operation.role.upper()]}
    says = reads if verb == "GET" else writes
    router.add_api_route(
        path,
        _endpoint(operation, namespace, fields, in_path, sent),
        methods=[verb],
        status_code=operation.status,
        **says(operation.id, result_model(operation), **role),
    )


def _endpoint(
    operation: Operation,
    namespace: type,
    fields: list[Argument],
    in_path: list[str],
    sent: list[Argument],
) -> Callable[..., Response]:
    """Return the function that FastAPI is to read and call."""

    def endpoint(answer: Answering, **given: Any) -> Response:
        body = given.pop("sent", None)
        if body is not None:
            given |= {field.name: getattr(body, field.name) for field in sent}
        given |= {field.name: answer.by for field in fields if field.option.asker}
        arguments = Given(**arguments_of(operation.fields, given))

        def compute(ledger: Any) -> Any:
            return operation.json(operation.call(ledger, namespace, arguments), arguments)

        if (operation.route or "").startswith("GET "):
            return _read(operation, answer, arguments, compute)
        result = operation.call(answer.ledger, namespace, arguments)
        payload = operation.json(result, arguments)
        if operation.place is not None:
            return answer.made(
                payload, *operation.place(result, arguments), status=operation.status
            )
        return answer.done(payload, operation.status)

    parameters = [Parameter("answer", Parameter.KEYWORD_ONLY, annotation=Answer)]
    for field in fields:
        if field not in sent and not field.option.asker:
            where = Path if field.face_name in in_path else Query
            parameters.append(route_parameter(field, where))
    if sent:
        model = _sent_model(operation, sent)
        parameters.append(Parameter("sent", Parameter.KEYWORD_ONLY, annotation=model))
    endpoint.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    endpoint.__name__ = _CAPITAL.sub(r"_\1", operation.id).lower()
    endpoint.__doc__ = _description(operation)
    endpoint.stores = operation.stores  # type: ignore[attr-defined]
    return endpoint


def _read(
    operation: Operation, answer: Answering, arguments: Given, compute: Callable[[Any], Any]
) -> Response:
    kept = operation.kept(arguments) if callable(operation.kept) else operation.kept
    if (operation.route or "").startswith("GET /projects/{project}"):
        if kept:
            others = () if operation.of is None else operation.of(answer.ledger, arguments)
            return answer.figure(arguments.project, compute, of=others)
        return answer.rows(arguments.project, compute)
    return answer.of_all(compute) if kept else answer.done(compute(answer.ledger))


class Sent(BaseModel):
    """An object of JSON without other fields than these."""

    model_config = ConfigDict(extra="forbid")


def _sent_model(operation: Operation, sent: list[Argument]) -> type[BaseModel]:
    """Return the model of what is sent: the arguments that have no place in the address."""
    fields: dict[str, Any] = {}
    for field in sent:
        required = field.default is Parameter.empty
        hint = list[field.kind] if field.repeated else field.hint  # type: ignore[name-defined]
        if field.repeated and not required:
            hint = hint | None
        # The faces call a value of a list by one; here is all of it.
        alias = field.name.rstrip("_") if field.repeated else field.face_name
        about: dict[str, Any] = {"alias": alias, "description": field.option.help}
        if field.kind is str and not field.repeated:
            about["max_length"] = field.option.longest
        if not required:
            about["default"] = None if field.repeated else field.default
        if field.option.examples:
            examples = field.option.examples
            about["examples"] = [[*examples]] if field.repeated else [*examples]
        fields[field.name] = (hint, Field(**about, **bounds_of(field)))
    name = operation.id[0].upper() + operation.id[1:]
    model: type[BaseModel] = create_model(name, __base__=Sent, **fields)
    return model


def _description(operation: Operation) -> str:
    """Return what the method's docstring says of a request, with the command that does the same."""
    first, *more = cleandoc(operation.method.__doc__ or "").split("\n\n")
    text = first.rstrip(".")
    if operation.command is not None:
        text = f"{text}; `{operation.usage}`"
    said = [one for one in more if not one.startswith(_OF_COMMANDS)]
    return "\n\n".join([f"{text}.", *said])
