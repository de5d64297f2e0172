"""Commands made of the operations of the ledger."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import typer

from tracker.cli.context import (
    ProjectArgument,
    Yes,
    confirm_command,
    ledger_of_command,
    with_project_argument,
)
from tracker.cli.output import Output, print_answer
from tracker.cli.signatures import flatten_option_groups, keyword_parameter, parameter_of
from tracker.core.operations import Given, Operation, operations_of
from tracker.core.results import Answer
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
            if "project" in inspect.signature(command).parameters:
                with_project_argument(group, words[-1], guess=operation.guess)(command)
            else:
                group.command(words[-1])(flatten_option_groups(command))


def _command(operation: Operation, namespace: type) -> Callable[..., None]:
    """Return the function that Typer is to read and call."""

    def command(context: typer.Context, output: Output, yes: bool = False, **given: Any) -> None:
        arguments = operation.arguments(given)
        question = None if operation.question is None else operation.question(arguments)
        if question is not None:
            confirm_command(question, yes=yes)
        result = operation.call(ledger_of_command(context), namespace, arguments)
        _print(operation, result, arguments, output)

    none = inspect.Parameter.empty
    fields = [one for one in operation.fields if "command" in one.option.faces]
    parameters = [keyword_parameter("context", typer.Context, none), *map(parameter_of, fields)]
    if operation.question is not None:
        parameters.append(keyword_parameter("yes", Yes, False))
    parameters.append(keyword_parameter("output", Output, Output()))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    hints = {one.name: one.annotation for one in parameters}
    if "project" in hints:
        hints["project"] = ProjectArgument
    command.__annotations__ = hints
    command.__doc__ = _help(operation.method)
    return command


def _print(operation: Operation, result: Any, given: Given, output: Output) -> None:
    """Print the result of an operation; sentences as they are, whatever the width."""
    payload = operation.json(result, given)
    rows = None if operation.listing is None else payload[operation.listing]

    def flat() -> Any:
        shown = rows if operation.rows is None else operation.rows(result, given)
        return None if shown is None else flat_rows(shown)

    view: list[Any] = []
    if output.for_people and operation.columns:
        view = [listing_table(operation.columns, rows or ())]
    elif output.for_people:
        view = [*operation.shown("view", result, given)]
    texts = view if all(isinstance(part, str) for part in view) else []
    hints = [*operation.shown("hints", result, given)]
    print_answer(Answer(lambda: payload, flat, lambda: view, hints=hints, texts=texts), output)


def _help(method: Callable[..., Any]) -> str:
    """Return what the docstring of a method says to those who use the command."""
    paragraphs = inspect.cleandoc(method.__doc__ or "").split("\n\n")
    return "\n\n".join(one for one in paragraphs if not one.startswith(_OF_METHODS))
