"""What operations return: one result of each question, JSON from fields, sentences made later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    NamedTuple,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from tracker.core import clock
from tracker.core.errors import InvalidOption


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class _Page(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


Question = TypeVar("Question", bound=_Named)
Result = TypeVar("Result")
Page = TypeVar("Page", bound=_Page)


@dataclass(frozen=True)
class UnfitQuestion:
    """A question that what was asked does not fit, by name, and why."""

    question: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        return {"question": self.question, "undefined": "not_applicable", "why": self.why}


@dataclass(frozen=True)
class ByQuestion(Generic[Page]):
    """What was found of each question of a project, by name, and whom it does not fit."""

    project: str
    questions: Mapping[str, Page]
    unfit: tuple[UnfitQuestion, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the questions as JSON, each as the page of a project that asks no other."""
        pages = [{"question": name, **page.to_dict()} for name, page in self.questions.items()]
        pages += [question.to_dict() for question in self.unfit]
        return {"project": self.project, "questions": pages}


def ask_each_question(
    questions: Iterable[Question], ask: Callable[[Question], Result]
) -> tuple[dict[str, Result], tuple[UnfitQuestion, ...]]:
    """Return what ``ask`` returns for each question, by name, and the questions it does not fit.

    Raises InvalidOption, that of the first question, if it fits none.
    """
    results: dict[str, Result] = {}
    errors: dict[str, InvalidOption] = {}
    for question in questions:
        try:
            results[question.name] = ask(question)
        except InvalidOption as error:
            errors[question.name] = error
    if not results:
        raise next(iter(errors.values()))
    return results, tuple(UnfitQuestion(name, error.message) for name, error in errors.items())


@dataclass(frozen=True)
class Json:
    """How a field of a `Record` is written as JSON, if not under its name, as it is.

    Attributes:
        name: of the field in JSON.
        write: returns what JSON has for a value that is not None.
        kind: the type of what ``write`` returns.
        spread: whether the fields of the value, if there is one, or its keys, stand among those of
            the record.
        less: the names of such fields that are left out.
        rare: whether it is left out if it is None.
        filled: whether it is left out if it is empty.
        hidden: whether JSON does not have it.
    """

    name: str | None = None
    write: Callable[[Any], Any] | None = None
    kind: Any = str
    spread: bool = False
    less: tuple[str, ...] = ()
    rare: bool = False
    filled: bool = False
    hidden: bool = False


Time = Annotated[int, Json(write=clock.iso)]
"""A moment in microseconds, which JSON has as ISO 8601."""
OptionalTime = Annotated[int | None, Json(write=clock.iso, kind=str | None)]
Filled: Final = Json(filled=True)
Hidden: Final = Json(hidden=True)
Spread: Final = Json(spread=True)


class JsonField(NamedTuple):
    """A field of a record: its attribute, its name and type in JSON, and how it is written."""

    attribute: str
    name: str
    kind: Any
    how: Json


@cache
def json_fields(record: Any) -> tuple[JsonField, ...]:
    """Return the fields of a class that JSON has, in their order.

    Its properties are fields, too, if what they return is annotated with a `Json`.
    """
    fields = []
    hints = get_type_hints(record, include_extras=True)
    for name, member in vars(record).items():
        if isinstance(member, property):
            hint = get_type_hints(member.fget, include_extras=True)["return"]
            if any(isinstance(note, Json) for note in get_args(hint)):
                hints[name] = hint
    for attribute, hint in hints.items():
        kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        how = next((note for note in notes if isinstance(note, Json)), Json())
        if how.hidden:
            continue
        kind = how.kind if how.write is not None else kind
        fields.append(JsonField(attribute, how.name or attribute.rstrip("_"), kind, how))
    return tuple(fields)


def plain_value(value: Any) -> Any:
    """Return a value as JSON has it."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: plain_value(member) for name, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain_value(member) for member in value]
    return str(value) if isinstance(value, date) else value


class Record:
    """A dataclass whose JSON follows from its fields; `Json` says where it differs from them."""

    def to_dict(self) -> dict[str, Any]:
        payload: dict[str, Any] = {}
        record: Any = type(self)
        for attribute, name, _, how in json_fields(record):
            value = getattr(self, attribute)
            if how.spread:
                members = {} if value is None else plain_value(value)
                payload |= {key: members[key] for key in members if key not in how.less}
            elif (how.rare and value is None) or (how.filled and not value):
                continue
            elif value is not None and how.write is not None:
                payload[name] = how.write(value)
            else:
                payload[name] = plain_value(value)
        return payload


def json_by_question(about: Mapping[str, Any], pages: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON of pages by the question's name: of one its page, of several all."""
    if len(pages) == 1:
        return dict(*pages.values())
    return {**about, "questions": [{"question": name, **page} for name, page in pages.items()]}


@dataclass(frozen=True)
class Answer:
    """The answer to a question, in the forms in which a face gives it; each is made on request.

    Attributes:
        json: returns the JSON.
        rows: returns flat rows; None if the values of the JSON are the only one.
        view: yields texts and tables for people.
        warnings: what to bear in mind about it.
        view_warnings: likewise, about what people see of it.
        hints: sensible next commands.
        texts: what people get instead of a view, to be copied as it is.
        failure: why it is a check that did not pass; None if it is no such check.
    """

    json: Callable[[], Any]
    rows: Callable[[], Iterable[Mapping[str, Any]] | None]
    view: Callable[[], Iterable[Any]] = tuple
    warnings: Sequence[str] = ()
    view_warnings: Sequence[str] = ()
    hints: Sequence[str] = ()
    texts: Sequence[str] = ()
    failure: str | None = None


class Message:
    """A sentence that is not made yet: the function that makes it, and its numbers and names."""

    def __init__(self, make: Callable[..., str], **values: Any) -> None:
        self.make, self.values = make, values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.make)

    def __repr__(self) -> str:
        return f"Message({self.make.__name__}, {self.values!r})"

    def __str__(self) -> str:
        return self.make(**self.values)
