"""What Typer reads of a command: its parameters, those of groups one by one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, TypeVar, get_args, get_type_hints, is_typeddict

import typer
from typer.models import OptionInfo

from tracker.core.operations import Field, Option, arguments_of, field_of, fields_of_group, taken_by

_Function = TypeVar("_Function", bound=Callable[..., None])
_REQUIRED = inspect.Parameter.empty


def flatten_option_groups(function: _Function) -> _Function:
    """Return the command with each parameter that is a group replaced by the group's options.

    A group is a dataclass whose fields are annotated as options, of which the command gets an
    instance, or a TypedDict whose keys are annotated with an `Option`. The help shows a
    dataclass's options under its ``TITLE``. A TypedDict's annotation may have a dictionary of
    other help for some keys; a key whose help is None is no option of the command. A parameter
    that is annotated with an `Option` is made likewise.
    """
    hints = get_type_hints(function, include_extras=True)
    classes: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    groups: dict[str, list[Field]] = {
        name: group_fields(hint) for name, hint in hints.items() if is_group(hint)
    }
    known = inspect.signature(function).parameters
    singles = [
        field_of(name, hint, known[name].default)
        for name, hint in hints.items()
        if any(isinstance(note, Option) for note in get_args(hint))
    ]

    @wraps(function)
    def command(**given: Any) -> None:
        for name, kind in classes.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        for name, keys in groups.items():
            given[name] = arguments_of(keys, {key.name: given.pop(key.name) for key in keys})
        function(**given | arguments_of(singles, given))

    single = {field.name: parameter_of(field) for field in singles}
    parameters: list[inspect.Parameter] = []
    for parameter in known.values():
        if parameter.name in classes:
            parameters += _options(classes[parameter.name])
        elif parameter.name in groups:
            parameters += map(parameter_of, groups[parameter.name])
        else:
            hinted = parameter.replace(annotation=hints[parameter.name])
            parameters.append(single.get(parameter.name, hinted))
    # Only their names count: the parser gives every argument by its name.
    keywords = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in parameters]
    command.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    command.__annotations__ = {keyword.name: keyword.annotation for keyword in keywords}
    return command  # type: ignore[return-value]


def is_group(hint: Any) -> bool:
    return is_typeddict(get_args(hint)[0] if get_args(hint) else hint)


def group_fields(hint: Any) -> list[Field]:
    """Return the options of a TypedDict, with the help that its annotation has for some."""
    kind, *notes = get_args(hint) or (hint,)
    helps: Mapping[str, str | None] = notes[0] if notes else {}
    return [
        field.helped(helps)
        for field in taken_by("command", fields_of_group(kind))
        if helps.get(field.name, "") is not None
    ]


def _options(group: Any) -> Iterable[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        hint = hints[field.name]
        for option in getattr(hint, "__metadata__", ()):
            if isinstance(option, OptionInfo):  # others may show it elsewhere
                titled = copy(option)
                titled.rich_help_panel = getattr(group, "TITLE", None)
                hint = Annotated[hint.__origin__, titled]
        default = _REQUIRED if field.default is MISSING else field.default
        yield keyword_parameter(field.name, hint, default)


def parameter_of(field: Field) -> inspect.Parameter:
    """Return the parameter of a command that a field is: a word, or an option."""
    option = field.option
    least, most = field.bounds
    bounds: dict[str, Any] = {"min": least, "max": most, "help": option.help}
    # Several names of a word are in one text, with commas between them, numbers a word each.
    in_one = field.is_word and field.kind is str if option.in_one is None else option.in_one
    is_list = field.repeated and not in_one
    kind: Any = list[field.kind] if is_list else field.kind  # type: ignore[name-defined]
    required = field.default is _REQUIRED
    if not required and (field.repeated or field.optional):
        kind |= None
    if field.is_word:
        word = typer.Argument(metavar=option.metavar or field.face_name.upper(), **bounds)
        return keyword_parameter(field.name, Annotated[kind, word], field.default)
    name = field.face_name.replace("_", "-")
    names = [f"--{name}/--no-{name}" if field.default is True else f"--{name}"]
    names += filter(None, [option.short])
    if option.words:
        bounds["autocompletion"] = _completing(option.words)
    typed = typer.Option(*names, metavar=option.metavar, rich_help_panel=option.panel, **bounds)
    default = None if field.repeated and not required else field.default
    return keyword_parameter(field.name, Annotated[kind, typed], default)


def _completing(
    words: Iterable[str] | Callable[[], Iterable[str]],
) -> Callable[[str], list[str]]:
    def completions(incomplete: str) -> list[str]:
        known = words() if callable(words) else words
        return [word for word in known if word.startswith(incomplete)]

    return completions


def keyword_parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    """Return a parameter that is given by its name."""
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=hint, default=default)
