"""The command ``tracker``: its subcommands, and errors as exit codes."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tracker.cli import (
    agreement,
    annotator,
    audit,
    category,
    compare,
    conformance,
    database,
    demo,
    export,
    flags,
    gate,
    history,
    importing,
    item,
    project,
    simulate,
    snapshot,
    snapshots,
    status,
)
from tracker.errors import TrackerError

__all__ = ["app", "main"]

_EPILOG = "Start with: tracker demo"


class _Commands(TyperGroup):
    """The commands; what ends one from outside is met before the parser calls it a failure."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for, its output written out."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            typer.echo("tracker: interrupted; what was under way is not stored", err=True)
            raise typer.Exit(130) from None
        except BrokenPipeError:
            # The reader of our output has enough; the interpreter must not complain as it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        return result


app = typer.Typer(
    name="tracker",
    cls=_Commands,
    help="Learn whether annotators agree, on what, since when, and whom to talk to.",
    epilog=_EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

demo.register(app)
importing.register(app)
status.register(app)
agreement.register(app)
snapshot.register(app)
snapshots.register(app)
history.register(app)
compare.register(app)
audit.register(app)
flags.register(app)
gate.register(app)
export.register(app)
simulate.register(app)
project.register(app)
annotator.register(app)
category.register(app)
item.register(app)
database.register(app)
conformance.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tracker {version('tracker')}")
        raise typer.Exit


@app.callback()
def options(
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="sqlite:///FILE or postgresql://… "
            "(else TRACKER_DATABASE_URL, else sqlite:///tracker.db).",
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Options of every command."""


def main() -> None:
    """Run the command line; ends the process with the contract's exit code."""
    try:
        app(prog_name="tracker")
    except TrackerError as error:
        typer.echo(f"tracker: {error}", err=True)
        sys.exit(error.exit_code)
