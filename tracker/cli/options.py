"""Options that several commands take, declared once: a dataclass is a group, a field an option."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, TypeVar, get_type_hints

from typer.models import OptionInfo

_Function = TypeVar("_Function", bound=Callable[..., None])


def grouped(function: _Function) -> _Function:
    """Return the command with each parameter that is a group replaced by the group's options.

    A group is a dataclass whose fields are annotated as options; the command gets an instance
    of it. The help shows its options under the group's ``TITLE``, if it has one.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    @wraps(function)
    def command(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{one.name: given.pop(one.name) for one in fields(group)})
        function(**given)

    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(function).parameters.values():
        if one.name in groups:
            parameters += _options(groups[one.name])
        else:
            parameters.append(one.replace(annotation=hints[one.name]))
    # Only their names count: the parser gives every argument by its name.
    keywords = [one.replace(kind=one.KEYWORD_ONLY) for one in parameters]
    command.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in keywords}
    return command  # type: ignore[return-value]


def _options(group: Any) -> list[inspect.Parameter]:
    """The fields of a group as parameters of a command."""
    hints = get_type_hints(group, include_extras=True)
    made = []
    for one in fields(group):
        for option in getattr(hints[one.name], "__metadata__", ()):
            if isinstance(option, OptionInfo):
                option.rich_help_panel = getattr(group, "TITLE", None)
        default = inspect.Parameter.empty if one.default is MISSING else one.default
        made.append(
            inspect.Parameter(
                one.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=hints[one.name],
            )
        )
    return made
