"""``tracker token``: what programs show in place of a user's password."""

from __future__ import annotations

from typing import Annotated

import typer

from tracker.cli.context import command_group, ledger_of_command
from tracker.cli.output import Output, print_result
from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import hint, say, say_data
from tracker.cli.user import ROLES

tokens, register = command_group("token", "List, add and revoke the tokens of users' programs.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The token's name.")]


@tokens.command("add")
def add_token_command(
    context: typer.Context,
    name: Name,
    role: Annotated[
        str, typer.Option(metavar=ROLES, help="What it allows: no more than the user may do.")
    ],
    user: Annotated[str, typer.Option(metavar="NAME", help="The user it acts for.")],
    expires: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When it ends: 90d, 12h, 4w or a date (else never)."),
    ] = None,
) -> None:
    """Make a token and print it, this once: only a digest of it is stored.

    Examples:
    - `tracker token add nightly --role viewer --user ada`
    - `tracker token add ci --role manager --user ada --expires 90d`

    Next: `tracker token list`
    """
    made = ledger_of_command(context).tokens.add(name, role, user, expires=expires)
    say_data(made.secret)
    hint("keep it now: it is not shown again. Send it as: Authorization: Bearer TOKEN")


@tokens.command("list")
@flatten_option_groups
def list_tokens_command(context: typer.Context, output: Output = Output()) -> None:
    """List the tokens with their users, roles, ends, and the day of their last use.

    Example:
    - `tracker token list`

    Next: `tracker token revoke nightly`
    """
    from tracker.render.cells import minute_cell
    from tracker.render.tables import table

    rows = [one.to_dict() for one in ledger_of_command(context).tokens.list()]
    print_result(
        {"tokens": rows},
        output,
        rows=rows,
        view=[
            table(
                ("token", "user ", "role ", "expires ", "last used "),
                [
                    (
                        one["token"],
                        one["user"],
                        one["role"],
                        "never" if one["expires_at"] is None else minute_cell(one["expires_at"]),
                        one["last_used"] or "never",
                    )
                    for one in rows
                ],
            )
        ],
    )


@tokens.command("revoke")
def revoke_token_command(context: typer.Context, name: Name) -> None:
    """Revoke a token: from now on it is worth nothing.

    Example:
    - `tracker token revoke nightly`

    Next: `tracker token list`
    """
    found = ledger_of_command(context).tokens.revoke(name)
    say(f"revoked {found.name} of {found.user}")
