"""What all commands share: the database, and the common options."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.terminal import warn
from tracker.core.errors import DatabaseUnusable, InvalidOption, escaped_text

if TYPE_CHECKING:
    from tracker.ledger import Ledger
    from tracker.storage.database import Database


def command_group(name: str, about: str) -> tuple[typer.Typer, Callable[[typer.Typer], None]]:
    """Return a group of commands, and the function that adds it to the program."""
    group = typer.Typer(help=about, no_args_is_help=True)
    return group, partial(typer.Typer.add_typer, typer_instance=group, name=name)


SomeProject = Annotated[
    str | None,
    typer.Argument(metavar="[PROJECT]", help="Project name; all projects if left out."),
]
ProjectOption = Annotated[
    str | None,
    typer.Option("--project", "-p", metavar="PROJECT", help="Project name, as an option."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def measure_option_names(names: list[str] | None) -> list[str] | None:
    """Measures as they are called in full."""
    if not names:
        return names
    from tracker.measures.citations import full_measure_name

    return [full_measure_name(name) for name in names]


Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        metavar="NAME",
        callback=measure_option_names,
        help="Only this measure (repeatable); short names such as alpha and ac1 will do.",
    ),
]


def ledger_of_command(context: typer.Context) -> Ledger:
    """Return the ledger that ``--database``, the environment or the default names.

    Raises DatabaseUnusable for one in memory.
    """
    from tracker.ledger import Ledger, ledger_database_url

    url = ledger_database_url(context.find_root().params.get("database"))
    made = Ledger(url, notice=_warning_once())
    if made.database.in_memory:
        raise DatabaseUnusable(
            "a database in memory keeps nothing from one command to the next",
            "name a file: --database sqlite:///FILE",
        )
    asked = context.find_root().params
    if asked.get("schema"):
        made.database.use_schema(asked["schema"])
    made.database.wait = asked.get("wait")
    # The command's end will ask it.
    context.find_root().obj = made.database
    return made


def _warning_once() -> Callable[[str], None]:
    """Return `warn` for a command that asks several things: what it has said it does not repeat."""
    said: set[str] = set()

    def notice(sentence: str) -> None:
        if sentence not in said:
            said.add(sentence)
            warn(sentence)

    return notice


def database_of_url(url: str) -> Database:
    """Return the database that a command names beside its own."""
    from tracker.ledger import Ledger

    return Ledger(url, notice=warn).database


def project_argument_or_option(argument: str | None, option: str | None) -> str | None:
    """Return the project named as an argument or by ``--project``; raises InvalidOption for two."""
    if argument and option and argument != option:
        raise InvalidOption(f"two projects are named: {argument!r} and {option!r}")
    return argument or option


def confirm_command(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be taken back; ends the command where it is refused."""
    if not yes and not typer.confirm(escaped_text(question), err=True):
        warn("nothing was changed")
        raise typer.Exit(1)
