"""The description of what the interface answers with, made from the results of the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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

from pydantic import BaseModel, ConfigDict, Field, create_model

from tracker.core.operations import Operation, returned
from tracker.core.results import Answer, json_fields


class Body(BaseModel):
    """An object of JSON; there may be further fields."""

    model_config = ConfigDict(extra="allow")


_models: dict[Any, Any] = {}


def model_of(method: Callable[..., Any]) -> Any:
    """Return the model of what a method of the ledger returns."""
    if hasattr(method, "operation"):
        return result_model(method.operation)
    return schema_of(returned(method))


def result_model(operation: Operation) -> Any:
    """Return the model of what an operation answers with."""
    result = returned(operation.method)
    if get_args(result)[:1] == (Answer,):
        return schema_of(get_args(result)[1])
    fields: dict[str, Any] = dict.fromkeys(operation.about, (str, ...))
    if hasattr(result, "to_dict"):
        model = schema_of(result)
        return create_model(f"{result.__name__}Of", __base__=model, **fields) if fields else model
    if len(get_args(result)) > 1:
        return schema_of(result)
    assert operation.listing is not None
    return listing_model(operation.listing, *get_args(result), **fields)


def listing_model(name: str, row: Any, **fields: Any) -> Any:
    """Return the model of a list of results under a name."""
    fields[name] = (list.__class_getitem__(schema_of(row)), ...)
    return create_model(name.capitalize(), __base__=Body, **fields)


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
        elif how.rare or how.filled:
            yield name, (schema_of(hint) | None, Field(None, alias=name))
        else:
            yield name, (schema_of(hint), Field(alias=name))
