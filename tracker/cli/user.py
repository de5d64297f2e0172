"""``tracker user``: who may sign in to the dashboard, and as what."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tracker.cli.context import ledger_of_command
from tracker.cli.operations import operation_group
from tracker.cli.terminal import hint, say
from tracker.core.errors import InvalidOption
from tracker.ledger.users import ROLES, Users

users, register = operation_group(
    "user", "List, add, set and remove who may sign in to `serve`.", Users
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")]
FromInput = Annotated[
    bool,
    typer.Option("--password-stdin", help="Read the password from standard input, one line."),
]


@users.command("add")
def add_user_command(
    context: typer.Context,
    name: Name,
    role: Annotated[str, typer.Option(metavar=ROLES, help="What the user may do.")],
    annotator: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROJECT:NAME",
            help="An annotator whose own report the user may see (repeatable).",
        ),
    ] = None,
    password_stdin: FromInput = False,
    no_password: Annotated[
        bool, typer.Option("--no-password", help="Let them sign in by OpenID Connect only.")
    ] = False,
) -> None:
    """Add a user; the password is asked for, and is never part of the command line.

    Examples:
    - `tracker user add ada --role admin`
    - `tracker user add bob --role annotator --annotator reviews:bob`

    Next: `tracker serve`
    """
    if no_password and password_stdin:
        raise InvalidOption("--no-password and --password-stdin cannot be combined")
    ledger = ledger_of_command(context)
    ledger.users.check_new(name, role)  # before the password is typed twice
    password = None if no_password else _password(from_input=password_stdin)
    user = ledger.users.add(name, role, password=password, annotators=annotator or ())
    say(f"added {user.name}: {user.role}")
    hint("next: tracker serve")


@users.command("password")
def set_password_command(
    context: typer.Context,
    name: Name,
    password_stdin: FromInput = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="They have none, and sign in by OpenID Connect.")
    ] = False,
) -> None:
    """Give a user another password; they are signed out everywhere. Their tokens stay.

    Examples:
    - `tracker user password ada`
    - `tracker user password ada --remove`

    Next: `tracker token list`
    """
    ledger = ledger_of_command(context)
    user = ledger.users.show(name)
    if remove and password_stdin:
        raise InvalidOption("--remove goes without --password-stdin", "leave out one of them")
    password = None if remove else _password(from_input=password_stdin)
    ledger.users.set_password(name, password)
    has = "no password any more" if remove else "a new password"
    say(f"{user.name} has {has}, and is signed out everywhere")


def _password(*, from_input: bool) -> str:
    """Return a password: a line of standard input, or asked for twice, unseen."""
    if from_input:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise InvalidOption(
            "the password is asked for at a terminal, and there is none",
            "give it on standard input: --password-stdin",
        )
    asked: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return asked
