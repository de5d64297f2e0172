"""``tracker user``: who may sign in to the dashboard, and as what."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tracker.cli.context import Yes, command_group, confirm_command, ledger_of_command
from tracker.cli.output import Output, print_result
from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import hint, say, warn
from tracker.core.errors import InvalidOption
from tracker.core.operations import LARGEST

users, register = command_group("user", "List, add, set and remove who may sign in to `serve`.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")]
Annotators = Annotated[
    list[str] | None,
    typer.Option(
        "--annotator",
        metavar="PROJECT:NAME",
        help="An annotator whose own report the user may see (repeatable).",
    ),
]
FromInput = Annotated[
    bool,
    typer.Option("--password-stdin", help="Read the password from standard input, one line."),
]
ROLES = "annotator|viewer|manager|admin"


@users.command("add")
def add_user_command(
    context: typer.Context,
    name: Name,
    role: Annotated[str, typer.Option(metavar=ROLES, help="What the user may do.")],
    annotator: Annotators = None,
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
    made = ledger.users.add(name, role, password=password, annotators=annotator or ())
    say(f"added {made.name}: {made.role}")
    hint("next: tracker serve")


@users.command("list")
@flatten_option_groups
def list_users_command(context: typer.Context, output: Output = Output()) -> None:
    """List the users with their roles and the annotators whose reports they may see.

    Example:
    - `tracker user list`

    Next: `tracker token list`
    """
    from tracker.render.tables import table

    rows = [one.to_dict() for one in ledger_of_command(context).users.list()]
    bound = [", ".join(f"{p['project']}:{p['annotator']}" for p in one["annotators"])
             for one in rows]  # fmt: skip
    flat = [one | {"annotators": text} for one, text in zip(rows, bound, strict=True)]
    print_result(
        {"users": rows},
        output,
        rows=flat,
        view=[
            table(
                ("user", "role ", "password ", "annotators "),
                [
                    (one["user"], one["role"], "yes" if one["password"] else "no", text)
                    for one, text in zip(rows, bound, strict=True)
                ],
            )
        ],
    )


@users.command("set")
def set_user_command(
    context: typer.Context,
    name: Name,
    role: Annotated[
        str | None, typer.Option(metavar=ROLES, help="What the user may do from now on.")
    ] = None,
    annotator: Annotators = None,
) -> None:
    """Give a user another role, or other annotators in place of those they had.

    Examples:
    - `tracker user set ada --role manager`
    - `tracker user set bob --annotator reviews:bob --annotator "second round:bob"`

    Next: `tracker user list`
    """
    if role is None and annotator is None:
        raise InvalidOption("nothing to set", "give --role or --annotator")
    found = ledger_of_command(context).users.set(name, role=role, annotators=annotator)
    say(f"{found.name}: {found.role}")


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
    found = ledger.users.show(name)
    if remove and password_stdin:
        raise InvalidOption("--remove goes without --password-stdin", "leave out one of them")
    password = None if remove else _password(from_input=password_stdin)
    ledger.users.set_password(name, password)
    has = "no password any more" if remove else "a new password"
    say(f"{found.name} has {has}, and is signed out everywhere")


@users.command("remove")
def remove_user_command(context: typer.Context, name: Name, yes: Yes = False) -> None:
    """Remove a user with their tokens; they are signed out everywhere.

    What they changed keeps their name in the change log.

    Example:
    - `tracker user remove bob`

    Next: `tracker user list`
    """
    ledger = ledger_of_command(context)
    ledger.users.show(name)
    confirm_command(f"remove the user {name!r} and their tokens?", yes=yes)
    ledger.users.remove(name)
    say(f"removed {name}")
    if not ledger.users.any():
        warn("no user is left: `tracker serve` lets in whoever uses this machine, and nobody else")


@users.command("log")
@flatten_option_groups
def access_log_command(
    context: typer.Context,
    limit: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=LARGEST, help="Maximum number of acts; 0 for all."),
    ] = 100,
    output: Output = Output(),
) -> None:
    """List what was done to users, tokens and webhooks and when, newest first.

    Names are known of what is done with a token, as in `tracker project changes`.

    Example:
    - `tracker user log --limit 20`

    Next: `tracker token list`
    """
    from tracker.projects.users import access_sentence
    from tracker.render.cells import minute_cell
    from tracker.render.tables import table

    found = ledger_of_command(context).users.log(limit + 1 if limit else None)
    shown = found[: limit or None]
    rows = [one.to_dict() | {"what": access_sentence(one)} for one in shown]
    cells = [(minute_cell(row["at"]), row["by"] or "-", row["what"]) for row in rows]
    print_result({"changes": rows}, output, rows=rows, view=[table(("at ", "by ", "what "), cells)])
    if len(found) > len(shown):
        warn(f"the last {limit}; for all: --limit 0")


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
