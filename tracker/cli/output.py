"""How results are printed: for people, or in a format for programs and papers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from tracker.cli.terminal import (
    hint,
    is_unicode,
    say,
    terminal_data_stream,
    warn,
    while_output_is_read,
)
from tracker.core.errors import InvalidOption
from tracker.core.results import Answer
from tracker.render.formats import FORMATS, json_lines, latex_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


_WIDTH = 140  # of tables that go to a file or a pipe
_TABLE = "table"

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@dataclass(frozen=True)
class Output:
    """The options that say how a result is printed."""

    TITLE: ClassVar = "Output"

    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="|".join((_TABLE, *FORMATS)),
            help="Output format (default: table).",
        ),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False
    as_csv: Annotated[bool, typer.Option("--csv", help="The same as --format csv.")] = False

    @property
    def name(self) -> str:
        """The name of the format; raises InvalidOption for two, or for one that is not there."""
        given = {
            f"--format {self.form}": self.form,
            "--json": "json" if self.as_json else None,
            "--csv": "csv" if self.as_csv else None,
        }
        named = {option: form for option, form in given.items() if form is not None}
        if len({*named.values()}) > 1:
            first, second, *_ = named
            raise InvalidOption(f"{first} and {second} cannot be combined")
        name = next(iter(named.values()), _TABLE)
        if name not in {_TABLE, *FORMATS}:
            raise InvalidOption(
                f"there is no format {name!r}", f"choose one of: {', '.join((_TABLE, *FORMATS))}"
            )
        return name

    @property
    def for_people(self) -> bool:
        """Whether a view is printed, of which a person reads the first lines."""
        return self.name not in {"json", "csv"}


def print_result(
    data: Any,
    output: Output = Output(),
    *,
    rows: Iterable[Mapping[str, Any]] | None = None,
    view: Iterable[RenderableType] = (),
) -> None:
    """Print a result in the format asked for.

    Args:
        data: plain values, for JSON.
        output: which format; a table if it is left out.
        rows: flat rows, for CSV; without them, one row of the plain values.
        view: texts and tables, for people.
    """
    print_answer(Answer(lambda: data, lambda: rows, lambda: view), output)


def print_answer(answer: Answer, output: Output) -> None:
    """Print an answer in the format asked for; exits with 1 if it is a check that did not pass."""
    name = output.name
    if name == "json":
        print_json(answer.json())
    elif answer.texts and name != "csv":
        for text in answer.texts:
            say(latex_text(text) if name == "latex" else text)
    else:
        with while_output_is_read():
            if name == _TABLE:
                _print(answer.view())
            else:
                stream = terminal_data_stream(sys.stdout)
                for line in FORMATS[name](answer):
                    stream.write(line + "\n")
    for sentence in (*answer.warnings, *(answer.view_warnings if output.for_people else ())):
        warn(sentence)
    for command in answer.hints:
        hint(command)
    if answer.failure is not None:
        warn(answer.failure)
        raise typer.Exit(1)


def print_json(data: Any) -> None:
    with while_output_is_read():
        for line in json_lines(data, ascii_only=not is_unicode()):
            sys.stdout.write(line + "\n")


def printed_json_text(data: Any) -> str:
    """Return a result as one JSON document, as `print_json` prints it."""
    return "\n".join(json_lines(data)) + "\n"


def _print(view: Iterable[RenderableType]) -> None:
    from tracker.render.cells import printable_part

    console = _console()
    for part in view:
        console.print(printable_part(part), crop=False)


def _console() -> Console:
    from rich.console import Console

    class Piped(Console):
        """Says that its reader has gone, instead of ending the command with 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = Piped(highlight=False, soft_wrap=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH
    return console
