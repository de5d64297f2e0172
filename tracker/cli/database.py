"""``tracker database``: the schema's revision, integrity, backup."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from tracker.cli.context import command_group, database_of_url, ledger_of_command
from tracker.cli.output import AsJson, Output, print_json, print_result
from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import hint, progress_bars_wanted, say, warn
from tracker.core.errors import Refused
from tracker.render.nouns import count_noun

databases, register = command_group("database", "Upgrade, check and back up the database.")


@databases.command("upgrade")
def upgrade_database_command(context: typer.Context) -> None:
    """Upgrade the schema to this program's revision; create the database if there is none.

    Example:
    - `tracker database upgrade`

    Next: `tracker database check`
    """
    database = ledger_of_command(context).database
    before = database.require_known()
    database.upgrade()
    came = "already at" if before == database.head else f"{before or 'empty'} →"
    say(f"{database}: {came} {database.head}")


@databases.command("current")
@flatten_option_groups
def current_revision_command(context: typer.Context, output: Output = Output()) -> None:
    """Print the schema's revision and the one this program needs.

    Example:
    - `tracker database current`

    Next: `tracker database upgrade`
    """
    database = ledger_of_command(context).database
    revision = database.revision()
    payload = {"database": str(database), "revision": revision, "head": database.head}
    state = f"{database}: {revision or 'empty'} (head: {database.head})"
    print_result(payload, output, view=[state])


@databases.command("check")
def check_database_command(context: typer.Context, as_json: AsJson = False) -> None:
    """Look for damage, broken references and rows that no constraint can forbid.

    Examples:
    - `tracker database check`
    - `tracker database check --json`

    Next: `tracker database backup copy.db`
    """
    database = ledger_of_command(context).database
    problems = database.check()
    if as_json:
        print_json({"database": str(database), "problems": problems})
    else:
        for problem in problems:
            say(problem)
        warn(count_noun(len(problems), "problem")) if problems else hint("no problems found")
    if problems:
        raise typer.Exit(1)


@databases.command("vacuum")
def vacuum_database_command(context: typer.Context) -> None:
    """Write the database's files anew, without anything that was deleted.

    Nobody else can write meanwhile; on Postgres nobody can read either.

    Example:
    - `tracker database vacuum`

    Next: `tracker database check`
    """
    database = ledger_of_command(context).database
    database.vacuum()
    say(f"{database}: nothing that was deleted is left in its files")


@databases.command("copy")
def copy_database_command(
    context: typer.Context,
    target: Annotated[
        str, typer.Argument(metavar="URL", help="Database to copy into: new, or without projects.")
    ],
    as_json: AsJson = False,
) -> None:
    """Copy the whole ledger into another database, SQLite or Postgres: record, history and seals.

    Users, their passwords and tokens are not copied.

    Examples:
    - `tracker database copy postgresql:///labels`
    - `tracker --database postgresql:///labels database copy sqlite:///labels.db`

    Next: `tracker --database postgresql:///labels database check`
    """
    database = ledger_of_command(context).database
    other = database_of_url(target)
    with _shown_progress() as progress:
        rows = database.copy_to(other, progress)
    if as_json:
        print_json({"database": str(other), "rows": rows})
    else:
        say(f"{other} is a copy of {database}: {sum(rows.values()):,} rows")
        hint(f"next: tracker --database {quote(str(other))} database check")


@databases.command("copy-for-counting", hidden=True)
def _refuse_copy_for_counting() -> None:
    raise Refused("no copy for counting is kept", "export labels P --partitioned FOLDER")


@contextmanager
def _shown_progress() -> Iterator[Callable[[str, int], None]]:
    """What is being copied, on a terminal; nothing anywhere else."""
    if not progress_bars_wanted():
        yield lambda _name, _number: None
        return
    from rich.console import Console

    with Console(stderr=True).status("copying") as status:
        yield lambda name, number: status.update(f"copying {name}: {number:,} rows")


@databases.command("backup")
def backup_database_command(
    context: typer.Context,
    target: Annotated[str, typer.Argument(metavar="FILE", help="New file to write.")],
) -> None:
    """Copy the database while it is in use (SQLite; for Postgres: pg_dump).

    Example:
    - `tracker database backup copy.db`

    Next: `tracker --database sqlite:///copy.db database check`
    """
    database = ledger_of_command(context).database
    database.backup(Path(target))
    say(f"{target} is a copy of {database}")
