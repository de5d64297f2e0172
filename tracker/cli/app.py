"""The command ``tracker``: its subcommands, and errors as exit codes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from tracker.cli.exit_codes import exit_failure
from tracker.cli.terminal import be_quiet, drop_output, prepare_terminal, say, say_error
from tracker.core.errors import Refused
from tracker.core.version import VERSION
from tracker.render.escape import escaped_message_line

_EPILOG = "Start with: tracker demo"
_MARKUP: Final = "markdown"
# The commands in the order of the help, by its panels; each with the module that holds it.
_PANELS: Final = {
    "Bring answers in": {
        "demo": "demo",
        "import": "imports",
        "sync": "sync",
        "imports": "imports",
        "formats": "formats",
        "simulate": "simulate",
    },
    "Look": {
        "status": "figures",
        "agreement": "figures",
        "audit": "figures",
        "history": "figures",
        "compare": "figures",
        "judge": "judge",
        "plan": "figures",
        "estimate": "estimate",
        "panel": "estimate",
        "digest": "digest",
        "plot": "plot",
    },
    "Work": {
        "assign": "assignments",
        "assignments": "assignments",
        "round": "round",
        "adjudicate": "adjudicate",
        "rules": "rules",
        "pay": "pay",
    },
    "Record": {"snapshot": "snapshot", "snapshots": "snapshots", "flags": "flags", "gate": "gate"},
    "Share": {"report": "report", "export": "export", "serve": "serve"},
    "Manage": {
        "project": "project",
        "question": "question",
        "annotator": "annotator",
        "category": "category",
        "item": "item",
    },
    "Administer": {
        "user": "user",
        "token": "token",
        "webhook": "webhook",
        "database": "database",
        "conformance": "conformance",
    },
}
_MODULES = {name: module for panel in _PANELS.values() for name, module in panel.items()}
_PANEL_OF = {name: title for title, panel in _PANELS.items() for name in panel}


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
            commands = typer.main.get_group(part).commands
            for title, command in commands.items():
                command.rich_help_panel = _PANEL_OF[title]  # type: ignore[attr-defined]
            self._loaded |= commands
        return self._loaded[name]


class _Commands(TyperGroup):
    """The commands; what ends one from outside is met before the parser calls it a failure."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _ByName()

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with _usage_visible():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        try:
            with _usage_visible():
                result = super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            raise typer.Exit(_interrupted(stored=_stored(ctx))) from None
        except BrokenPipeError:
            drop_output()  # its reader has enough
            raise typer.Exit(0) from None
        except OSError as error:
            if error.filename is not None or not _stored(ctx):
                raise
            drop_output()  # the rest would fail again, and say less
            raise Refused(f"{_OUTPUT}: {error.strerror}", "what was asked is stored") from None
        return result


_OUTPUT = "standard output cannot be written"


@contextmanager
def _usage_visible() -> Iterator[None]:
    """Let what the parser says of a wrong word quote nothing that acts on the terminal."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):
            text = escaped_message_line(error.format_message())
            error.format_message = lambda: text
        raise


def _stored(context: Any) -> bool:
    """Return whether the command has committed what it had to store."""
    return bool(getattr(context.obj, "stored", False))


def _interrupted(*, stored: bool) -> int:
    """Say what an interrupt left behind; returns the exit code."""
    sentence = "what was asked is stored" if stored else "what was under way is not stored"
    say_error([f"tracker: interrupted; {sentence}"])
    return 0 if stored else 130


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
        say(f"tracker {VERSION}")
        raise typer.Exit


@app.callback()
def common_command_options(
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="sqlite:///FILE or postgresql://… Default: TRACKER_DATABASE_URL, "
            "else sqlite:///tracker.db.",
        ),
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The schema on Postgres that holds the ledger (else the role's usual one); "
            "also ?schema=NAME in the URL.",
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print results and errors only: no hints, no bars.")
    ] = False,
    wait: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            max=1_000_000,
            help="How long to wait while others use the database (else 10 on SQLite).",
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What counts: native, the database itself; duckdb, in this process; auto, "
            "DuckDB if it is installed and the question heavy. Default: TRACKER_ENGINE, else auto.",
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
    be_quiet(quiet)


def main() -> None:
    """Run the command line; ends the process with the contract's exit code."""
    prepare_terminal()
    # Matrices are small: a thread for each core spins longer than it computes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        try:
            app(prog_name="tracker")
        finally:
            sys.stdout.flush()
            gc.freeze()  # to search all for cycles at the end takes a tenth of a listing
    except KeyboardInterrupt:
        sys.exit(_interrupted(stored=False))
    except Exception as error:
        failure = exit_failure(error)
        if isinstance(error, OSError) and error.filename is None:
            drop_output()
        with suppress(OSError):
            say_error([f"tracker: {failure.message}", failure.mend])
        sys.exit(failure.exit_code)
