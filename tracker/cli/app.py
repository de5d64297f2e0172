"""The command ``tracker``: its subcommands, and errors as exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from tracker.errors import TrackerError

__all__ = ["app", "main"]

_EPILOG = "Start with: tracker demo"
_MARKUP: Final = "markdown"
# The commands in the order of the help, each with the module that holds it.
_MODULES = {
    "demo": "demo",
    "import": "importing",
    "imports": "importing",
    "status": "status",
    "agreement": "agreement",
    "snapshot": "snapshot",
    "snapshots": "snapshots",
    "history": "history",
    "compare": "compare",
    "audit": "audit",
    "flags": "flags",
    "gate": "gate",
    "export": "export",
    "simulate": "simulate",
    "project": "project",
    "annotator": "annotator",
    "category": "category",
    "item": "item",
    "database": "database",
    "conformance": "conformance",
}


class _ByName(Mapping[str, Any]):
    """The commands by name; a module is imported only when one of its commands is asked for."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            part = typer.Typer(rich_markup_mode=_MARKUP)
            import_module(f"tracker.cli.{_MODULES[name]}").register(part)
            self._loaded |= typer.main.get_group(part).commands
        return self._loaded[name]


class _Commands(TyperGroup):
    """The commands; what ends one from outside is met before the parser calls it a failure."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _ByName()

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
    rich_markup_mode=_MARKUP,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
