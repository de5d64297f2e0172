"""The command's tree, walked: every subcommand with its options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import typer

from tracker.cli.app import app

__all__ = ["leaves", "options", "parse"]

ROOT: Any = typer.main.get_command(app)


def leaves(command: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command that does something, by its words: ``("imports list", command)``."""
    for name, child in getattr(command, "commands", {}).items():
        if hasattr(child, "commands"):
            yield from leaves(child, (*path, name))
        elif not child.hidden:
            yield " ".join((*path, name)), child


def options(command: Any) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts if name[0] == "-"}


def parse(line: str) -> str:
    """The command that a line names, its arguments parsed as they would be; nothing is run.

    A shell's `> FILE` at its end is none of them.
    Raises the parser's error, an exception with a ``format_message``, where a word is wrong.
    """
    program, *words = shlex.split(re.sub(r" > \S+$", "", line))
    assert program == "tracker", line
    context = ROOT.make_context("tracker", words, resilient_parsing=False)
    command, path = ROOT, []
    while hasattr(command, "commands"):
        rest = [*context._protected_args, *context.args]
        if not rest:
            return " ".join(path)
        name, command, rest = command.resolve_command(context, rest)
        path.append(name)
        context = command.make_context(name, rest, parent=context)
    return " ".join(path)
