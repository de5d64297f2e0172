"""What can be asked in a query: the options of the commands, by the same names.

A hyphen of an option is an underscore, as in the JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any

from fastapi import Depends, Path, Query

from tracker.core.operations import Field, arguments_of, fields_of_group, taken_by
from tracker.counts.choosing import Answers, Moment


def query_of(group: Any) -> Any:
    """Return what gives a route the arguments of a TypedDict, read from the query."""
    fields = taken_by("route", fields_of_group(group))

    def arguments(**given: Any) -> dict[str, Any]:
        return arguments_of(fields, given)

    parameters = [route_parameter(field) for field in fields]
    arguments.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return Depends(arguments)


def route_parameter(field: Field, note: Callable[..., Any] = Query) -> Parameter:
    """Return the parameter of a route that a field is: of the query, or of the path."""
    option, in_path = field.option, note is Path
    about: dict[str, Any] = {"alias": field.face_name, "description": option.help}
    if option.examples:
        about["examples"] = [[option.examples[0]] if field.repeated else option.examples[0]]
    default = () if field.repeated and field.default is None else field.default
    optional = field.optional and not (field.repeated or in_path)
    hint = field._replace(optional=optional, repeated=field.repeated and not in_path).hint
    return Parameter(
        field.name,
        Parameter.KEYWORD_ONLY,
        annotation=Annotated[hint, note(**about, **bounds_of(field))],
        default=Parameter.empty if in_path else default,
    )


def bounds_of(field: Field) -> dict[str, Any]:
    """Return the bounds of a number as FastAPI and pydantic name them."""
    bounds = zip(("ge", "le"), field.bounds, strict=True)
    return {name: bound for name, bound in bounds if bound is not None}


AskedAnswers = Annotated[Answers, query_of(Answers)]
AskedMoment = Annotated[Moment, query_of(Moment)]
