"""Write the command reference from the commands themselves: ``python docs/generate.py``.

``docs/commands.md`` is made by this and by nothing else; a test holds the two together.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer

from tracker.cli.app import app

REFERENCE = Path(__file__).parent / "commands.md"

HEAD = """\
# Every command

<!-- Made by `python docs/generate.py`; change the commands, not this page. -->

`tracker [--database URL] COMMAND …`, also as `python -m tracker`. Every command answers `--help`.
`tracker --install-completion` lets the shell complete commands and options.

What a command is asked for goes to standard output; progress, warnings and hints go to standard
error. `--json` prints one document and nothing else. Colour is for terminals, and `NO_COLOR`
turns it off there.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | a check did not pass, or a question was answered with no |
| 2 | the command was typed wrongly |
| 3 | the input was refused; nothing was stored |
| 4 | there is no such project, annotator, item or import |
| 5 | the database cannot be used |
| 130 | interrupted; what was under way is not stored |
"""


def reference() -> str:
    """The whole page."""
    root = typer.main.get_command(app)
    sections = [section(path, command) for path, command in walk(root, ())]
    return "\n".join([HEAD, *table(("option", "what it does"), option_rows(root)), "", *sections])


def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command below a group, in the order of the help."""
    for name, child in command.commands.items():
        if hasattr(child, "commands"):
            yield from walk(child, (*path, name))
        else:
            yield (*path, name), child


def section(path: Sequence[str], command: Any) -> str:
    """One command: what it does, how it is typed, its arguments and options."""
    name = " ".join(("tracker", *path))
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    typed = " ".join([name, *map(placeholder, arguments), "[OPTIONS]"])
    told = [(f"`{placeholder(one)}`", one.help) for one in arguments if one.help]
    parts = [f"## {name}", "", prose(command.help), "", "```", typed, "```", ""]
    if told:
        parts += [*table(("argument", "what it is"), told), ""]
    if rows := list(option_rows(command)):
        parts += [*table(("option", "what it does"), rows), ""]
    return "\n".join(parts)


def prose(text: str) -> str:
    """A docstring's text, its examples a list."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(map(paragraph, paragraphs))


def paragraph(text: str) -> str:
    """One paragraph; of examples, one command a line."""
    if not re.match("Examples?: ", text):
        return text
    examples = re.findall(r"`([^`]+)`", " ".join(text.split()))
    return "\n".join(["```console", *(f"$ {example}" for example in examples), "```"])


def placeholder(argument: Any) -> str:
    """An argument as it is typed in a usage line."""
    name = (argument.metavar or argument.name.upper()).strip("[]")
    return name if argument.required else f"[{name}]"


def option_rows(command: Any) -> Iterator[tuple[str, str]]:
    """One row per option, but for those of the shell and the help, which all have."""
    hints = get_type_hints(inspect.unwrap(command.callback))
    for option in command.params:
        hidden = {"install_completion", "show_completion", "help"}
        if option.param_type_name == "option" and option.name not in hidden:
            yield spelled(option, hints), explained(option)


def spelled(option: Any, hints: Mapping[str, Any]) -> str:
    """How an option is typed: its names and what follows."""
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" `{option.metavar or value_of(hints[option.name])}`"
    return names + value


def value_of(hint: Any) -> str:
    """What stands for the value of an option without a placeholder of its own."""
    kinds = [hint, *get_args(hint)]
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, Enum):
            return "|".join(str(member.value) for member in kind)
    return "NUMBER" if {int, float} & set(kinds) else "NAME"


def explained(option: Any) -> str:
    """What an option does, with its default where that is a value."""
    default = option.default
    told = option.help or ""
    shown = isinstance(default, str | int | float) and not isinstance(default, bool)
    must = " Required." if option.required else ""
    return f"{told}{must} Default: {default}." if shown else f"{told}{must}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table's lines; a stroke inside a cell is escaped."""
    lines = [row_of(head), "|---" * len(head) + "|"]
    return [*lines, *(row_of([cell.replace("|", "\\|") for cell in row]) for row in rows)]


def row_of(cells: Sequence[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    REFERENCE.write_text(reference(), encoding="utf-8")
