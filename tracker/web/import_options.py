"""How sent files are read: the options of the interface, which are the fields of forms, too.

FastAPI reads the annotations of these classes as they are, so they are no texts here.
"""

from dataclasses import dataclass, fields, make_dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Query
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError

from tracker.core.operations import LARGEST, Field, arguments_of, fields_of_group
from tracker.ledger.imports import QuestionOptions
from tracker.projects.choosing import NewSettings

_Words = tuple[str, ...]
_SETTINGS = fields_of_group(NewSettings)


def _in_query(field: Field) -> Any:
    """Return the type of a setting in a query, where several values are one text."""
    least, most = field.bounds
    kind: Any = str if field.repeated else field.kind
    return Annotated[kind | None, Query(description=field.option.help, ge=least, le=most)]


_Settings: Any = make_dataclass(
    "_Settings", [(field.name, _in_query(field), None) for field in _SETTINGS], frozen=True
)


@dataclass(frozen=True)
class ImportOptions(_Settings):  # type: ignore[misc]
    """How files are read, as the options of `tracker import`; in a form also as its fields."""

    format: Annotated[str | None, Query(description="Format, see /formats.")] = None
    encoding: Annotated[str | None, Query(description="Encoding, such as cp1252.")] = None
    map: Annotated[_Words, Query(description="ROLE=COLUMN (repeatable).")] = ()
    wide: Annotated[bool, Query(description="There is one column per annotator.")] = False
    question: Annotated[_Words, Query(description="NAME=COLUMN[:WORD] (repeatable).")] = ()
    value: Annotated[_Words, Query(description="OLD=NEW (repeatable).")] = ()
    separator: Annotated[str | None, Query(description="Between several categories.")] = None
    date_format: Annotated[str | None, Query(description="How dates are written.")] = None
    repeat: Annotated[str | None, Query(description="revision or pass")] = None
    annotator: Annotated[str | None, Query(description="Who gave all answers.")] = None
    annotator_from: Annotated[str | None, Query(description="file, folder or sheet")] = None
    ignore: Annotated[_Words, Query(description="Column that is not read (repeatable).")] = ()
    keep: Annotated[_Words, Query(description="Column kept as an attribute (repeatable).")] = ()
    header_row: Annotated[
        int | None, Query(description="Line of a table's header, from 1.", ge=1, le=LARGEST)
    ] = None
    no_header: Annotated[bool, Query(description="A table has no header.")] = False
    join: Annotated[str | None, Query(description="Between joined columns, as item=a+b.")] = None
    columns: Annotated[
        str | None, Query(description="Names of columns: {annotator}_{question}.{category}")
    ] = None
    create: Annotated[bool, Query(description="Make the project if it is not there.")] = True
    skip_invalid: Annotated[bool, Query(description="Leave invalid rows out.")] = False
    dry_run: Annotated[bool, Query(description="Store nothing.")] = False
    preview: Annotated[bool, Query(description="Store nothing, show the first rows.")] = False

    @property
    def reading(self) -> dict[str, Any]:
        """The keywords of an import of answers."""
        options = QuestionOptions(**arguments_of(_SETTINGS, vars(self)))
        return {
            **self.reading_items, "options": options, "wide": self.wide,
            "questions": self.question, "values": self.value, "separator": self.separator,
            "date_format": self.date_format, "repeat": self.repeat, "preview": self.preview,
            "annotator": self.annotator, "annotator_from": self.annotator_from,
            "pattern": self.columns,
        }  # fmt: skip

    @property
    def reading_items(self) -> dict[str, Any]:
        """The keywords of an import of items."""
        return {
            "columns": self.map, "format": self.format, "encoding": self.encoding,
            "ignore": self.ignore, "keep": self.keep, "create": self.create,
            "skip_invalid": self.skip_invalid, "dry_run": self.dry_run,
            "header_row": self.header_row, "no_header": self.no_header, "join": self.join,
        }  # fmt: skip


@dataclass(frozen=True)
class AnnotatorImportOptions:
    """How files of annotators are read; in a form also as its fields."""

    map: Annotated[_Words, Query(description="annotator=COLUMN or kind=COLUMN (repeatable).")] = ()
    skip_invalid: Annotated[bool, Query(description="Leave invalid rows out.")] = False
    dry_run: Annotated[bool, Query(description="Store nothing.")] = False


Options = TypeVar("Options", ImportOptions, AnnotatorImportOptions)


def with_fields(options: Options, sent: dict[str, list[str]]) -> Options:
    """Return the options with the fields of a form; raises RequestValidationError."""
    known: dict[str, Any] = {field.name: field.default for field in fields(options)}
    if unknown := [name for name in sent if name not in known]:
        told = "there is no such field"
        raise RequestValidationError([{"loc": ("body", name), "msg": told} for name in unknown])
    values = {name: value if known[name] == () else value[-1] for name, value in sent.items()}
    try:
        return TypeAdapter(type(options)).validate_python({**vars(options), **values})
    except ValidationError as error:
        raise RequestValidationError(_in_body(error)) from None


def _in_body(error: ValidationError) -> list[dict[str, Any]]:
    return [{"loc": ("body", *one["loc"]), "msg": one["msg"]} for one in error.errors()]
