"""What `import` and `item import` share: their options, and what they say at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.output import show_json
from tracker.cli.terminal import hint, say, warn
from tracker.core.errors import Refused

if TYPE_CHECKING:
    from tracker.imports.loader import ImportResult


Files = Annotated[
    list[str], typer.Argument(metavar="FILE…", help="CSV or TSV, also .gz; - for stdin.")
]
IntoProject = Annotated[
    str, typer.Option("--project", "-p", help="Project to import into; created if missing.")
]


@dataclass(frozen=True)
class ImportOptions:
    """The options that say how files are imported."""

    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Keep a column as an attribute of its items (repeatable)."
        ),
    ] = None
    create: Annotated[
        bool, typer.Option("--create/--no-create", help="Create the project if it does not exist.")
    ] = True
    skip_invalid: Annotated[
        bool,
        typer.Option(
            "--skip-invalid", help="Skip invalid rows instead of refusing the whole import."
        ),
    ] = False
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen; store nothing.")
    ] = False


def show_import(result: ImportResult, *, dry_run: bool, as_json: bool) -> None:
    """Say what an import did."""
    for sentence in result.warnings:
        warn(sentence)
    if as_json:
        show_json(result.to_dict())
        return
    counts = ", ".join(
        f"{getattr(result, fate):,} {fate}"
        for fate in ("inserted", "changed", "unchanged", "older", "rejected")
        if getattr(result, fate)
    )
    verb = "would import" if dry_run else f"import {result.id}:"
    say(f"{verb} {result.rows:,} rows into {result.project}: {counts or 'nothing'}")
    if result.gold is not None:
        told = ", ".join(f"{number:,} {fate}" for fate, number in result.gold.items() if number)
        say(f"truths: {told or 'nothing'}")
    if result.rejected:
        _show_rejections(result, as_json=False)
    if not dry_run:
        hint(f"next: tracker agreement {quote(result.project)}")


@contextmanager
def rejections_shown(*, as_json: bool) -> Iterator[None]:
    """Show the rows that an import is refused for; raises the error to end with."""
    from tracker.imports.loader import Rejected

    try:
        yield
    except Rejected as error:
        rejected = error.result.rejected
        if as_json or rejected > 1:
            _show_rejections(error.result, as_json=as_json)
        if as_json or rejected == 1:
            raise
        raise Refused(f"{rejected:,} rows cannot be taken", error.mend) from None


def _show_rejections(result: ImportResult, *, as_json: bool) -> None:
    if as_json:
        show_json(result.to_dict())
        return
    for example, number in sorted(result.alike, key=lambda one: -one[1])[:20]:
        say(f"{number:,} rows, such as {example}" if number > 1 else str(example), err=True)
    if len(result.alike) > 20:
        say(f"… and rows of {len(result.alike) - 20} more kinds", err=True)
