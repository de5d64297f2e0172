"""Routes made of the operations of the ledger."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from inspect import Parameter, Signature, cleandoc
from types import UnionType
from typing import (
    Annotated,
    Any,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, Field, create_model

from tracker.core.operations import Field as Argument
from tracker.core.operations import Given, Operation, operations_of, returned
from tracker.core.results import Answer as JsonAnswer
from tracker.core.results import json_fields
from tracker.web.api.bodies import Body, Sent
from tracker.web.api.parameters import bounds_of, route_parameter
from tracker.web.api.routing import Answer, Answering, reads, writes
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
    fields = [field for field in operation.fields if "route" in field.option.faces]
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
        arguments = operation.arguments(given)

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
    kept = operation.is_kept(arguments)
    if (operation.route or "").startswith("GET /projects/{project}"):
        if kept:
            others = operation.others(answer.ledger, arguments)
            return answer.figure(arguments.project, compute, of=others)
        return answer.rows(arguments.project, compute)
    return answer.of_all(compute) if kept else answer.done(compute(answer.ledger))


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


# -- The schema of a result, made from its fields -------------------------------------------------

_models: dict[Any, Any] = {}


def model_of(method: Callable[..., Any]) -> Any:
    """Return the model of what a method returns, for a route by hand."""
    if hasattr(method, "operation"):
        return result_model(method.operation)
    return schema_of(returned(method))


def result_model(operation: Operation) -> Any:
    """Return the model of what an operation answers with."""
    result = operation.result
    if get_args(result)[:1] == (JsonAnswer,):
        return schema_of(get_args(result)[1])
    fields: dict[str, Any] = dict.fromkeys(operation.about, (str, ...))
    if hasattr(result, "to_dict"):
        model = schema_of(result)
        return create_model(f"{result.__name__}Of", __base__=model, **fields) if fields else model
    if len(get_args(result)) > 1:
        return schema_of(result)
    assert operation.listing is not None
    (row,) = get_args(result)
    fields[operation.listing] = (list.__class_getitem__(schema_of(row)), ...)
    return create_model(operation.listing.capitalize(), __base__=Body, **fields)


def schema_of(kind: Any) -> Any:
    """Return what pydantic describes a value of a type by: a model, if that is a result."""
    if get_origin(kind) is not None:
        arguments = tuple(schema_of(one) for one in get_args(kind))
        origin = get_origin(kind)
        if origin is Annotated:
            # A dictionary may be annotated with the TypedDict that says what is in it.
            return arguments[-1] if _has_schema(get_args(kind)[-1]) else arguments[0]
        if origin is UnionType:
            return Union[arguments]  # noqa: UP007 - of types that are known later
        try:
            return origin[arguments]
        except TypeError:
            return kind
    if not _has_schema(kind):
        return kind
    if kind not in _models:
        _models[kind] = _model(kind)
    return _models[kind]


def _has_schema(kind: Any) -> bool:
    return is_typeddict(kind) or get_origin(kind) is UnionType or hasattr(kind, "to_dict")


def _model(kind: Any) -> Any:
    """Return the model of a result or a TypedDict.

    What the `to_dict` of a result is annotated to return is what it is described by.
    """
    written = {} if is_typeddict(kind) else get_type_hints(kind.to_dict, include_extras=True)
    if get_origin(written.get("return")) is Annotated or is_typeddict(written.get("return")):
        return schema_of(written["return"])
    doc = (kind.__doc__ or "").split("\n\n")[0]
    named = _keys(kind) if is_typeddict(kind) else _schema_fields(kind)
    fields: dict[str, Any] = dict(named)
    name = kind.__name__.removesuffix("Json").removeprefix("_")
    return create_model(name, __base__=Body, __doc__=doc, **fields)


def _keys(kind: Any) -> Iterator[tuple[str, Any]]:
    for name, hint in get_type_hints(kind, include_extras=True).items():
        # A class with texts for annotations does not know which keys are marked.
        marked = get_origin(hint) is NotRequired
        (value,) = get_args(hint) if marked else (hint,)
        may_lack = marked or name in kind.__optional_keys__
        yield name, (schema_of(value), None if may_lack else ...)


def _schema_fields(kind: Any) -> Iterator[tuple[str, Any]]:
    for _, name, hint, how in json_fields(kind):
        if how.spread:
            record, *none = get_args(hint) or (hint,)
            if not hasattr(record, "to_dict"):
                continue
            for inner, (described, about) in _schema_fields(record):
                if inner not in how.less:
                    perhaps = described | None, Field(None, alias=inner)
                    yield inner, perhaps if none else (described, about)
        elif how.rare:
            yield name, (schema_of(hint) | None, Field(None, alias=name))
        else:
            yield name, (schema_of(hint), Field(alias=name))
