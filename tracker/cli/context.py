"""What all commands share: the database, the common options, and how results are printed."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from tracker.cli.row_files import write_csv
from tracker.cli.terminal import data_lines, hint, is_unicode, say, say_data, warn, while_read
from tracker.core.errors import DatabaseUnusable, InvalidOption
from tracker.render.escape import visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from tracker.handle import Handle
    from tracker.ledger import Ledger

__all__ = [
    "DEFAULT_DATABASE",
    "AsCsv",
    "AsJson",
    "Confidence",
    "Interval",
    "Measures",
    "ProjectOption",
    "SomeProject",
    "Yes",
    "confirm",
    "hint",
    "json_text",
    "warn",
    "opened",
    "opened_ledger",
    "say",
    "show",
    "some_project",
]

_Handle = TypeVar("_Handle", bound="Handle")

DEFAULT_DATABASE = "sqlite:///tracker.db"
_ACTING = re.compile("[\x7f-\x9f\ud800-\udfff]")
_WIDTH = 140  # of tables that go to a file or a pipe

SomeProject = Annotated[
    str | None,
    typer.Argument(metavar="[PROJECT]", help="Project name; all projects if left out."),
]
ProjectOption = Annotated[
    str | None,
    typer.Option("--project", "-p", metavar="PROJECT", help="Project name, as an option."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print rows as CSV.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Confidence = Annotated[
    float, typer.Option(help="Confidence level of the intervals.", show_default=True)
]
Interval = Annotated[
    str,
    typer.Option(
        metavar="asymmetric|t",
        help="Interval method: asymmetric (also reliable for few items) or Student's t.",
    ),
]


def full_names(names: list[str] | None) -> list[str] | None:
    """Measures as they are called in full."""
    if not names:
        return names
    from tracker.measures.short_names import full_name

    return [full_name(name) for name in names]


Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        metavar="NAME",
        callback=full_names,
        help="Only this measure (repeatable); short names such as alpha and ac1 will do.",
    ),
]


def opened(context: typer.Context) -> Handle:
    """The database that ``--database``, the environment or the default names.

    It reads and writes by name; a command that counts takes `opened_ledger`, which takes longer
    to import.
    """
    from tracker.handle import Handle

    return _remembered(context, Handle(_url(context), notice=warn))


def opened_ledger(context: typer.Context) -> Ledger:
    """The same database, for commands that count."""
    from tracker.ledger import Ledger

    return _remembered(context, Ledger(_url(context), notice=warn))


def _remembered(context: typer.Context, made: _Handle) -> _Handle:
    """The handle, whose database the command's end will ask; raises DatabaseUnusable."""
    if made.database.in_memory:
        raise DatabaseUnusable(
            "a database in memory keeps nothing from one command to the next",
            "name a file: --database sqlite:///FILE",
        )
    made.database.wait = context.find_root().params.get("wait")
    context.find_root().obj = made.database
    return made


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
    with while_read():
        if as_json:
            for line in _json_lines(told, ascii_only=not is_unicode()):
                say_data(line)
        elif as_csv:
            _print_csv(list(rows))
        else:
            _print_view(view)


def _print_view(view: Iterable[Any]) -> None:
    from tracker.render.cells import Text, width_for

    console = _console()
    width = console.width
    for part in view:
        console.width = width_for(part, width)
        console.print(Text(part) if isinstance(part, str) else part, crop=False)


def _json_lines(told: Any, *, ascii_only: bool = False) -> Iterator[str]:
    """One JSON document in lines: one per key, and one per element where there are many.

    A person can read it, `grep` and `diff` work on it, and the fast encoder writes it.
    """
    made = json.JSONEncoder(ensure_ascii=ascii_only, allow_nan=False).encode

    def encode(value: Any) -> str:
        # What the standard lets stand and terminals act on.
        return _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", made(value))

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


def _print_csv(rows: Sequence[Mapping[str, Any]]) -> None:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    write_csv(
        data_lines(sys.stdout), columns, ([row.get(name) for name in columns] for row in rows)
    )


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


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be taken back; ends the command where it is refused."""
    if not yes and not typer.confirm(visible(question), err=True):
        warn("nothing was changed")
        raise typer.Exit(1)
