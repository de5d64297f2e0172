"""Commands made of the operations of the ledger."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
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
from tracker.cli.output import Output, print_answer, print_result
from tracker.cli.signatures import flatten_option_groups, keyword_parameter, parameter_of
from tracker.cli.terminal import is_quiet, progress_bar
from tracker.core.operations import Given, Operation, arguments_of, operations_of, taken_by
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
    """Add the commands of a namespace's operations whose first word is the group's name.

    An empty name stands for the program itself: those of one word.
    """
    for operation in operations_of(namespace):
        *before, last = (operation.command or " ").split(" ")
        if last and " ".join(before) == name:
            command = _command(operation, namespace)
            words = [field for field in operation.fields if field.is_word]
            if any(field.name == "project" for field in words):
                # Numbers that may be few or none: they cannot tell by how many there are.
                numbers = any(
                    word.kind is int and (word.repeated or word.optional) for word in words
                )
                add = with_project_argument(group, last, guess=operation.guess, numbers=numbers)
                add(command)
            else:
                group.command(last)(flatten_option_groups(command))


def _command(operation: Operation, namespace: type) -> Callable[..., None]:
    def command(context: typer.Context, output: Output, yes: bool = False, **given: Any) -> None:
        if "argument" in given:
            named = project_argument_or_option(given.pop("argument"), given["project"])
            given["project"] = named
        arguments = Given(**arguments_of(operation.fields, given))
        ledger = ledger_of_command(context)
        _confirm(operation, namespace, arguments, ledger, yes=yes, people=output.for_people)
        more: dict[str, Any] = {}
        if "for_people" in operation.method.__annotations__:
            more["for_people"] = output.for_people
        with progress_bar(operation.doing) if operation.doing else nullcontext() as progress:
            more |= {"progress": progress} if operation.doing else {}
            result = operation.call(ledger, namespace, arguments, **more)
        if isinstance(result, Answer):
            print_answer(result, output)
        else:
            print_operation(operation, result, arguments, output)

    parameters = _parameters(operation)
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = operation_help(operation.method)
    return command


def _parameters(operation: Operation) -> list[inspect.Parameter]:
    parameters = [keyword_parameter("context", typer.Context, inspect.Parameter.empty)]
    for field in taken_by("command", operation.fields):
        if field.name == "project" and field.is_word:
            word = keyword_parameter("project", ProjectArgument, inspect.Parameter.empty)
            parameters.append(word)
        elif field.option.either:
            parameters.append(keyword_parameter("argument", SomeProject, None))
            parameters.append(keyword_parameter("project", ProjectOption, None))
        else:
            parameters.append(parameter_of(field))
    if operation.question is not None:
        parameters.append(keyword_parameter("yes", Yes, False))
    return [*parameters, keyword_parameter("output", Output, Output())]


def _confirm(
    operation: Operation, namespace: type, given: Given, ledger: Any, *, yes: bool, people: bool
) -> None:
    """Ask what is to be asked before an operation; ends the command if it is refused."""
    if operation.question is None or (operation.previews and given.dry_run):
        return
    more: dict[str, Any] = {"ledger": ledger}
    if operation.previews:
        dry = Given(**vars(given) | {"dry_run": True})
        more["preview"] = operation.call(ledger, namespace, dry)
    question = operation.question(Given(**vars(given), **more))
    if question is None:
        return
    if operation.previews and people and not yes:
        print_result(None, view=operation.shown("view", more["preview"], given))
    confirm_command(question, yes=yes)


def print_operation(operation: Operation, result: Any, given: Given, output: Output) -> None:
    """Print the result of an operation; exits with 1 if it is a check that did not pass.

    Sentences are printed as they are, whatever the width.
    """
    listing = operation.listing

    def rows() -> Any:
        if operation.rows is not None:
            return [*operation.rows(result, given)]
        return operation.json(result, given)[listing] if listing else None

    def flat() -> Any:
        known = rows()
        return None if known is None else flat_rows(known)

    view: list[Any] = []
    if output.for_people and operation.columns:
        view = [listing_table(operation.columns, rows() or ())]
    elif output.for_people and is_quiet() and hasattr(result, "brief"):
        view = [*result.brief()]
    elif output.for_people:
        view = [*operation.shown("view", result, given)]
    passed = getattr(result, "passed", True)
    answer = Answer(
        lambda: operation.json(result, given),
        flat,
        lambda: view,
        warnings=[*operation.shown("warnings", result, given)],
        hints=[*operation.shown("hints", result, given)] if passed else [],
        texts=view if all(isinstance(part, str) for part in view) else [],
    )
    print_answer(answer, output)
    if not passed:
        raise typer.Exit(1)


def operation_help(method: Callable[..., Any]) -> str:
    """Return what the docstring of a method says to those who use the command."""
    paragraphs = inspect.cleandoc(method.__doc__ or "").split("\n\n")
    return "\n\n".join(
        paragraph for paragraph in paragraphs if not paragraph.startswith(_OF_METHODS)
    )
