"""Operations: what a ledger can be asked or told, each declared once, by its method.

The command, the route and the help of an operation follow from the method: from its parameters,
which say how a face takes them by an `Option`, from its docstring and from its result.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from math import inf
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    Required,
    TypeVar,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

from tracker.core.results import Answer

_Method = TypeVar("_Method", bound=Callable[..., Any])
Given = SimpleNamespace
"""The arguments of a call, by the names of the method's parameters."""
LARGEST = 2**31 - 1
"""The largest number that a face takes: what a column of numbers holds on every database."""


@dataclass(frozen=True)
class Option:
    """How the faces take a parameter of an operation, or a key of a group of parameters.

    Attributes:
        help: a sentence.
        default: of a key of a group, which has no default of its own; of a parameter, if the
            faces have another than the method.
        name: what the faces call it, if not as the method does.
        short: a short name on the command line, such as "-q".
        metavar: what stands for the value in the command's help.
        panel: the heading of the command's help under which it stands.
        least, most: the bounds of a number; an infinite one is none.
        longest: how many characters of a text a route takes; None for any number.
        read: returns the argument that is meant by what a face was given; raises InvalidOption.
        words: that the shell completes, or a function that returns them.
        examples: of values.
        in_query: whether a route that is sent a body takes it from its address all the same.
        word: whether the command takes it by its place, if not as the method's signature has it.
        either: whether the command takes it by its place or by its name, as it is given.
        asker: whether a route has for it the name of the one who asks.
        faces: those that take it, if not all: "command" or "route".
        in_one: whether the command takes several values in one text, with commas between them;
            several words are taken so, unless it is said to be False.
    """

    help: str
    default: Any = None
    name: str | None = None
    short: str | None = None
    metavar: str | None = None
    panel: str | None = None
    least: float | None = None
    most: float | None = None
    longest: int | None = 500
    read: Callable[[Any], Any] | None = None
    words: tuple[str, ...] | Callable[[], Iterable[str]] = ()
    examples: tuple[Any, ...] = ()
    in_query: bool = False
    word: bool | None = None
    either: bool = False
    asker: bool = False
    faces: frozenset[str] = frozenset({"command", "route"})
    in_one: bool | None = None


class Field(NamedTuple):
    """A parameter of an operation, or a key of a group, as a face takes it.

    Attributes:
        name: of the parameter or key.
        kind: str, int, float or bool.
        repeated: whether several values may be given.
        optional: whether None may be.
        default: `inspect.Parameter.empty` if a value must be given.
        is_word: whether the command takes it by its place, not by its name.
    """

    name: str
    kind: type
    repeated: bool
    optional: bool
    option: Option
    default: Any
    is_word: bool = False

    @property
    def face_name(self) -> str:
        """What the faces call it, in the form of Python's names."""
        return self.option.name or self.name.rstrip("_")

    @property
    def hint(self) -> Any:
        """The type of what a face is given."""
        kind: Any = tuple[self.kind, ...] if self.repeated else self.kind  # type: ignore[name-defined]
        return kind | None if self.optional else kind

    def helped(self, helps: Mapping[str, str | None]) -> Field:
        """Return the field with another help, if its name has one."""
        text = helps.get(self.name)
        return self if text is None else self._replace(option=replace(self.option, help=text))

    def argument(self, given: Any) -> Any:
        """Return the argument that is meant by what a face was given; raises InvalidOption."""
        if self.repeated and not (given is None and self.optional):
            values = given.split(",") if isinstance(given, str) else given or ()
            given = tuple(values) if isinstance(values, Iterable) else (values,)
            given = tuple(filter(None, map(str.strip, given))) if self.option.in_one else given
        read = self.option.read
        return given if read is None or given is None else read(given)

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The least and the largest number that are taken; None for no bound."""
        most = LARGEST if self.kind is int and self.option.most is None else self.option.most
        return self.option.least, None if most == inf else most


_OF_THE_FACE = ("progress", "for_people")  # parameters for which nobody is asked
_SEVERAL = (Iterable, Sequence, Mapping, list, tuple)


def field_of(name: str, hint: Any, default: Any) -> Field:
    """Return the field of a parameter of this type; raises LookupError if it has no `Option`."""
    if get_origin(hint) is Required:
        (hint,) = get_args(hint)
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    option = next((note for note in notes if isinstance(note, Option)), None)
    if option is None:
        raise LookupError(f"{name} has no Option")
    members = get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)
    several = [member for member in members if get_origin(member) in _SEVERAL or member in _SEVERAL]
    members += tuple(of for member in several for of in get_args(member))
    plain = next((plain for plain in (str, bool, int, float) if plain in members), str)
    default = default if option.default is None else option.default
    return Field(name, plain, bool(several), NoneType in members, option, default)


@cache
def fields_of_group(group: Any) -> tuple[Field, ...]:
    """Return the keys of a TypedDict, each annotated with an `Option`, as fields."""
    fields = []
    for name, hint in get_type_hints(group, include_extras=True).items():
        field = field_of(name, hint, None)
        is_empty = field.default is None and field.repeated and not field.optional
        fields.append(field._replace(default=()) if is_empty else field)
    return tuple(fields)


def taken_by(face: str, fields: Iterable[Field]) -> list[Field]:
    """Return the fields that a face takes: "command" or "route"."""
    return [field for field in fields if face in field.option.faces]


def part_of(group: Any, given: Mapping[str, object]) -> Any:
    """Return those of the arguments given that are keys of a TypedDict."""
    return {name: given[name] for name in group.__annotations__ if name in given}


def arguments_of(fields: Iterable[Field], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are meant by what a face was given; raises InvalidOption."""
    return {field.name: field.argument(given[field.name])
            for field in fields if field.name in given}  # fmt: skip


@dataclass(frozen=True)
class Operation:
    """One operation, and what its faces need beside the method's signature.

    Functions take the method's result and its arguments, as `Given`.

    Attributes:
        method: of a namespace of the ledger, or of the ledger.
        command: its words, "category rename"; None if no command is made of it.
        route: its verb and path, "POST /projects/{project}/notes"; None if no route is made of it.
        id: the route's name in the description of the interface.
        role: of those who may use the route; None for viewers if it reads, else managers.
        listing: the key under which JSON has the rows that the result is, or has.
        about: the arguments that JSON has before the result.
        columns: of the table of a listing.
        rows: returns flat rows, for tables and CSV, if not those of the listing.
        view: yields texts and tables for people, if the result has no method of that name.
        warnings: yields what to bear in mind about the result, likewise.
        hints: yields what a sensible next command is, likewise.
        question: returns what the command asks first; None if nothing. Of the arguments it takes
            one more, the ``ledger``.
        previews: whether what a dry run comes to is shown before the question, which has it as
            one more argument, ``preview``; nothing is asked before a dry run.
        guess: whether the command takes the only project for one that is not named.
        doing: what a bar says that shows how far it is; the method takes a ``progress`` for it.
        helps: other helps of some parameters, by their names.
        stores: whether the route changes the ledger, if it is no GET.
        kept: whether what the route reads is kept until something changes in a project.
        of: returns the names of the other projects that the answer of a route depends on; it
            takes the ledger, and the arguments.
        status: of the route's answer.
        place: returns the path of what the route made.
    """

    method: Callable[..., Any]
    command: str | None
    route: str | None
    id: str
    role: str | None = None
    listing: str | None = None
    about: tuple[str, ...] = ()
    columns: tuple[Any, ...] = ()
    rows: Callable[[Any, Given], Iterable[Mapping[str, Any]]] | None = None
    view: Callable[[Any, Given], Iterable[Any]] | None = None
    warnings: Callable[[Any, Given], Iterable[str]] | None = None
    hints: Callable[[Any, Given], Iterable[str]] | None = None
    question: Callable[[Given], str | None] | None = None
    previews: bool = False
    guess: bool = True
    doing: str | None = None
    helps: Mapping[str, str] = field(default_factory=dict)
    stores: bool = True
    kept: bool | Callable[[Given], bool] = True
    of: Callable[[Any, Given], Sequence[str]] | None = None
    status: int = 200
    place: Callable[[Any, Given], tuple[str, ...]] | None = None

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The parameters, those of groups among them."""
        _, *parameters = inspect.signature(self.method).parameters.values()
        names = vars(sys.modules[self.method.__module__])
        fields: list[Field] = []
        for parameter in parameters:
            if parameter.name in _OF_THE_FACE:
                continue
            hint = eval(parameter.annotation, names)  # noqa: S307 - our own text
            if get_origin(hint) is Unpack:
                fields += fields_of_group(*get_args(hint))
                continue
            by_place = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
            field = field_of(parameter.name, hint, parameter.default)
            word, required = field.option.word, parameter.default is parameter.empty
            is_word = by_place and required if word is None else word
            fields.append(field._replace(is_word=is_word))
        return tuple(field.helped(self.helps) for field in fields)

    @property
    def usage(self) -> str:
        """The command with its words: ``tracker category rename PROJECT CATEGORY NAME``."""
        words = [field.option.metavar or field.face_name.upper()
                 for field in self.fields if field.is_word or field.option.either]  # fmt: skip
        return " ".join(["tracker", self.command or "", *words])

    def call(self, ledger: Any, namespace: type, arguments: Given, **more: Any) -> Any:
        """Return the result of the method, which belongs to a namespace of the ledger."""
        holder = ledger if isinstance(ledger, namespace) else namespace(ledger)
        return self.method(holder, **vars(arguments), **more)

    def shown(self, part: str, result: Any, given: Given) -> Iterable[Any]:
        """Return the result's "view" and its like: as the operation has it, or else the result."""
        make: Callable[[Any, Given], Iterable[Any]] | None = getattr(self, part)
        if make is not None:
            return make(result, given)
        return getattr(result, part)() if hasattr(result, part) else ()

    def json(self, result: Any, given: Given) -> Any:
        if isinstance(result, Answer):
            return result.json()
        about = {name: getattr(given, name) for name in self.about}
        if hasattr(result, "to_dict"):
            return about | result.to_dict()
        rows = [row if isinstance(row, str) else row.to_dict() for row in result]
        return about | {self.listing: rows}


def operation(
    command: str | None, route: str | None = None, name: str | None = None, **more: Any
) -> Callable[[_Method], _Method]:
    """Return a decorator that makes a method an operation; see `Operation` for ``more``.

    ``name`` is that in the description of the interface.
    """

    def declare(method: _Method) -> _Method:
        declared = Operation(method, command, route, name or method.__name__, **more)
        method.operation = declared  # type: ignore[attr-defined]
        return method

    return declare


def operations_of(namespace: type) -> list[Operation]:
    methods = vars(namespace).values()
    return [method.operation for method in methods if hasattr(method, "operation")]


@cache
def returned(method: Callable[..., Any]) -> Any:
    """Return the type of what a method returns, which it may import for type checkers alone."""
    module, text = sys.modules[method.__module__], method.__annotations__["return"]
    used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    known = dict(vars(module))
    for statement in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(statement, ast.ImportFrom):
            statement.names = [name for name in statement.names if name.name in used - {*known}]
            if statement.names:
                exec(ast.unparse(statement), known)  # noqa: S102 - our own imports
    return eval(text, known)  # noqa: S307 - our own text
