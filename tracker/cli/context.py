"""What all commands share: the database, the common options, and how results are printed."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tracker.errors import InvalidOption

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from tracker.handle import Handle
    from tracker.ledger import Ledger

__all__ = [
    "DEFAULT_DATABASE",
    "AsCsv",
    "AsJson",
    "Confidence",
    "Measures",
    "ProjectArgument",
    "ProjectOption",
    "Yes",
    "confirm",
    "hint",
    "json_text",
    "opened",
    "opened_ledger",
    "show",
    "some_project",
    "write_text",
]

DEFAULT_DATABASE = "sqlite:///tracker.db"
_WIDTH = 140  # of tables that go to a file or a pipe

ProjectArgument = Annotated[str, typer.Argument(metavar="PROJECT", help="The project's name.")]
SomeProject = Annotated[
    str | None,
    typer.Argument(metavar="[PROJECT]", help="The project's name; the only one if left out."),
]
ProjectOption = Annotated[
    str | None,
    typer.Option("--project", "-p", help="The project's name; the only one if left out."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print rows as CSV.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
Confidence = Annotated[float, typer.Option(help="The level of the intervals.", show_default=True)]
Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", metavar="NAME", help="Only this measure (repeatable)."),
]


def opened(context: typer.Context) -> Handle:
    """The database that ``--database``, the environment or the default names.

    It reads and writes by name; a command that counts takes `opened_ledger`, which takes longer
    to import.
    """
    from tracker.handle import Handle

    return Handle(_url(context), notice=hint)


def opened_ledger(context: typer.Context) -> Ledger:
    """The same database, for commands that count."""
    from tracker.ledger import Ledger

    return Ledger(_url(context), notice=hint)


def _url(context: typer.Context) -> str:
    given: str | None = context.find_root().params.get("database")
    return given or os.environ.get("TRACKER_DATABASE_URL") or DEFAULT_DATABASE


def some_project(argument: str | None, option: str | None) -> str | None:
    """The project named as an argument or by ``--project``; raises InvalidOption for two."""
    if argument and option and argument != option:
        raise InvalidOption(f"two projects are named: {argument!r} and {option!r}")
    return argument or option


def show(
    told: Mapping[str, Any] | Sequence[Any] | None,
    *,
    as_json: bool = False,
    as_csv: bool = False,
    rows: Iterable[Mapping[str, Any]] = (),
    view: Iterable[RenderableType] = (),
) -> None:
    """Print a result in the one way that was asked for: JSON, CSV or a view for people."""
    if as_json and as_csv:
        raise InvalidOption("--json and --csv exclude each other")
    if as_json:
        for line in _json_lines(told):
            typer.echo(line)
    elif as_csv:
        _print_csv(list(rows))
    else:
        from tracker.report.cells import width_for

        console = _console()
        width = console.width
        for part in view:
            console.width = width_for(part, width)
            console.print(part, crop=False)


def _json_lines(told: Any) -> Iterator[str]:
    """One JSON document in lines: one per key, and one per element where there are many.

    A person can read it, `grep` and `diff` work on it, and the fast encoder writes it.
    """
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    if not isinstance(told, Mapping):
        yield from _json_list(encode, "", list(told or ()), "")
        return
    yield "{"
    last = len(told) - 1
    for place, (key, value) in enumerate(told.items()):
        comma = "" if place == last else ","
        if isinstance(value, list) and value:
            yield from _json_list(encode, f"  {encode(key)}: ", value, comma)
        else:
            yield f"  {encode(key)}: {encode(value)}{comma}"
    yield "}"


def _json_list(
    encode: Callable[[Any], str], before: str, rows: Sequence[Any], after: str
) -> Iterator[str]:
    yield f"{before}["
    for place, row in enumerate(rows, 1):
        yield f"    {encode(row)}{'' if place == len(rows) else ','}"
    yield f"{'  ' if before else ''}]{after}"


def json_text(told: Any) -> str:
    """A result as one JSON document, as `show` prints it."""
    return "\n".join(_json_lines(told)) + "\n"


def write_text(path: Path, text: str) -> None:
    """Write a file; raises InvalidOption where that cannot be done."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidOption(
            f"{path} cannot be written: {error.strerror}", "name another file"
        ) from None


def _print_csv(rows: Sequence[Mapping[str, Any]]) -> None:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def _console() -> Console:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH
    return console


def hint(text: str) -> None:
    """Say on stderr what a sensible next command is."""
    typer.secho(text, err=True, dim=sys.stderr.isatty() and "NO_COLOR" not in os.environ)


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be taken back; ends the command where it is refused."""
    if not yes and not typer.confirm(question, err=True):
        hint("nothing was changed")
        raise typer.Exit(1)
