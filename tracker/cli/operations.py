"""Commands made of the operations of the ledger."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import typer

from tracker.cli.context import (
    ProjectArgument,
    ProjectOption,
    SomeProject,
    Yes,
    confirm_command,
    ledger_of_command,
    project_argument_or_option,
    with_project_argument,
)
from tracker.cli.output import Output, print_result
from tracker.cli.signatures import flatten_option_groups, keyword_parameter, parameter_of
from tracker.cli.terminal import hint, warn
from tracker.core.operations import Given, Operation, operations_of
from tracker.render.blocks import flat_rows, listing_table

_OF_METHODS = ("Raises", "Args:", "Returns")  # paragraphs that say nothing of a command


def operation_group(
    name: str, about: str, *namespaces: type
) -> tuple[typer.Typer, Callable[[typer.Typer], None]]:
    """Return a group with the commands of namespaces' operations, and what adds it to another."""
    group = typer.Typer(help=about, no_args_is_help=True)
    for namespace in namespaces:
        add_operations(group, namespace, name)
    return group, lambda app: app.add_typer(group, name=name)


def add_operations(group: typer.Typer, namespace: type, name: str) -> None:
    """Add the commands of a namespace's operations whose first word is the group's name."""
    for operation in operations_of(namespace):
        words = (operation.command or "").split()
        if words[:-1] == [name]:
            command = _command(operation, namespace)
            if any(field.name == "project" and field.is_word for field in operation.fields):
                with_project_argument(group, words[-1], guess=operation.guess)(command)
            else:
                group.command(words[-1])(flatten_option_groups(command))


def _command(operation: Operation, namespace: type) -> Callable[..., None]:
    """Return the function that Typer is to read and call."""

    def command(context: typer.Context, output: Output, yes: bool = False, **given: Any) -> None:
        if "argument" in given:
            named = project_argument_or_option(given.pop("argument"), given["project"])
            given["project"] = named
        arguments = operation.arguments(given)
        ledger = ledger_of_command(context)
        if operation.question is not None:
            question = operation.question(Given(**vars(arguments), ledger=ledger))
            if question is not None:
                confirm_command(question, yes=yes)
        result = operation.call(ledger, namespace, arguments)
        _print(operation, result, arguments, output)

    none = inspect.Parameter.empty
    fields = [one for one in operation.fields if "command" in one.option.faces]
    parameters = [keyword_parameter("context", typer.Context, none)]
    for field in fields:
        if field.name == "project" and not field.is_word:  # of all, if none is named
            parameters.append(keyword_parameter("argument", SomeProject, None))
            parameters.append(keyword_parameter("project", ProjectOption, None))
        else:
            parameters.append(parameter_of(field))
    if operation.question is not None:
        parameters.append(keyword_parameter("yes", Yes, False))
    parameters.append(keyword_parameter("output", Output, Output()))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    hints = {one.name: one.annotation for one in parameters}
    if any(field.name == "project" and field.is_word for field in fields):
        hints["project"] = ProjectArgument
    command.__annotations__ = hints
    command.__doc__ = _help(operation.method)
    return command


def _print(operation: Operation, result: Any, given: Given, output: Output) -> None:
    """Print the result of an operation."""
    told = operation.json(result, given)
    rows = None if operation.listing is None else told[operation.listing]
    view = _view(operation, result, given, rows or ())
    if operation.rows is not None:
        rows = operation.rows(result, given)
    print_result(told, output, rows=None if rows is None else flat_rows(rows), view=view)
    for line in operation.shown("warnings", result, given):
        warn(line)
    for line in operation.shown("hints", result, given):
        hint(line)


def _view(
    operation: Operation, result: Any, given: Given, rows: Sequence[Mapping[str, Any]]
) -> Iterator[Any]:
    """Yield what people read, which is not made for others."""
    if operation.columns:
        yield listing_table(operation.columns, rows)
    else:
        yield from operation.shown("view", result, given)


def _help(method: Callable[..., Any]) -> str:
    """Return what the docstring of a method says to those who use the command."""
    paragraphs = inspect.cleandoc(method.__doc__ or "").split("\n\n")
    return "\n\n".join(one for one in paragraphs if not one.startswith(_OF_METHODS))
