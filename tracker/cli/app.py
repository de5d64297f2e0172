"""The command ``tracker``: its subcommands, and errors as exit codes."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from tracker.cli import (
    agreement,
    annotator,
    audit,
    category,
    database,
    demo,
    history,
    importing,
    item,
    project,
    simulate,
    status,
)
from tracker.errors import TrackerError

__all__ = ["app", "main"]

_EPILOG = "Start with: tracker demo"

app = typer.Typer(
    name="tracker",
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
history.register(app)
audit.register(app)
simulate.register(app)
project.register(app)
annotator.register(app)
category.register(app)
item.register(app)
database.register(app)


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
        app()
    except TrackerError as error:
        typer.echo(f"tracker: {error}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("tracker: interrupted; nothing was stored", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has enough; the interpreter must not complain as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
