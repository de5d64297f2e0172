"""How sent files are read: the options of the interface, which are the fields of forms, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, make_dataclass
from typing import Annotated, Any

from fastapi import Query
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError

from tracker.core.operations import Field, arguments_of, fields_of_group, taken_by
from tracker.imports.choosing import AnnotatorOptions, AnswerOptions
from tracker.ledger.imports import QuestionOptions
from tracker.projects.choosing import NewSettings

_SETTINGS = fields_of_group(NewSettings)


def _options_of(name: str, *groups: Any) -> Any:
    """Return a class whose fields are the options of groups, by the names of the faces."""
    sent = taken_by("route", (field for group in groups for field in fields_of_group(group)))
    return make_dataclass(
        name, [(field.face_name, _in_query(field), field.default) for field in sent], frozen=True
    )


def _in_query(field: Field) -> Any:
    """Return the type of an option in a query, where several values of a setting are one text."""
    least, most = field.bounds
    kind: Any = str | None if field.option.in_one else field.hint
    return Annotated[kind, Query(description=field.option.help, ge=least, le=most)]


ImportOptions = _options_of("ImportOptions", NewSettings, AnswerOptions)
AnnotatorImportOptions = _options_of("AnnotatorImportOptions", AnnotatorOptions)


def arguments_of_import(options: Any, group: Any = AnswerOptions) -> dict[str, Any]:
    """Return the keywords of an import that options are; of one of answers with its settings."""
    given = vars(options)
    sent = taken_by("route", fields_of_group(group))
    keywords = arguments_of(sent, {field.name: given[field.face_name] for field in sent})
    if group is AnswerOptions:
        keywords["options"] = QuestionOptions(**arguments_of(_SETTINGS, given))
    return keywords


def with_fields(options: Any, sent: Mapping[str, list[str]]) -> Any:
    """Return the options with the fields of a form; raises RequestValidationError."""
    known = {field.name: field.default for field in fields(options)}
    if unknown := [name for name in sent if name not in known]:
        message = "there is no such field"
        raise RequestValidationError([{"loc": ("body", name), "msg": message} for name in unknown])
    values = {name: value if known[name] == () else value[-1] for name, value in sent.items()}
    try:
        return TypeAdapter(type(options)).validate_python({**vars(options), **values})
    except ValidationError as error:
        faults = [{"loc": ("body", *fault["loc"]), "msg": fault["msg"]} for fault in error.errors()]
        raise RequestValidationError(faults) from None
