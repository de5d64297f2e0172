"""``tracker import`` and ``tracker imports``: recording, and taking it back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tracker.cli.context import (
    ProjectOption,
    SomeProject,
    Yes,
    confirm,
    hint,
    opened,
    opened_ledger,
    say,
    some_project,
    warn,
)
from tracker.cli.options import grouped
from tracker.cli.output import AsJson, Output, show, show_json
from tracker.cli.project_options import (
    LARGEST,
    Answers,
    Categories,
    Offsets,
    Scale,
    Wanted,
    project_options,
)
from tracker.cli.terminal import bars_wanted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracker.core.errors import Refused
    from tracker.imports.loader import ImportResult, Progress, Rejected

__all__ = ["register", "say_result", "shown"]

imports = typer.Typer(help="List, show and undo imports.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("import")(import_files)
    app.add_typer(imports, name="imports")


def import_files(
    context: typer.Context,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="CSV or TSV, also .gz; - for stdin.")
    ],
    project: Annotated[
        str, typer.Option("--project", "-p", help="Project to import into; created if missing.")
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="ROLE=COLUMN",
            help="Column that holds a role: item, annotator, category, … (repeatable).",
        ),
    ] = None,
    wide: Annotated[
        bool, typer.Option("--wide", help="The file has one column per annotator.")
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Keep a column as an attribute of its items (repeatable)."
        ),
    ] = None,
    answers: Answers = None,
    scale: Scale = None,
    categories: Categories = None,
    wanted: Wanted = None,
    offsets: Offsets = None,
    create: Annotated[
        bool, typer.Option("--create/--no-create", help="Create the project if it does not exist.")
    ] = True,
    skip_invalid: Annotated[
        bool,
        typer.Option(
            "--skip-invalid", help="Skip invalid rows instead of refusing the whole import."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen; store nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import answers from files into a project, as one unit that can be undone.

    Importing a file again changes nothing. A corrected answer replaces the old one, which is kept.

    Examples: `tracker import answers.csv -p reviews`,
    `tracker import wide.csv -p reviews --wide --map item=document`
    """
    from tracker.imports.loader import Rejected

    ledger = opened_ledger(context)
    try:
        with _progress_bar() as progress:
            result = ledger.import_file(
                files,
                project,
                options=project_options(answers, scale, offsets, categories, wanted),
                columns=columns or (),
                wide=wide,
                keep=keep or (),
                create=create,
                skip_invalid=skip_invalid,
                dry_run=dry_run,
                progress=progress,
            )
    except Rejected as error:
        raise shown(error, as_json=as_json) from None
    for sentence in result.warnings:
        warn(sentence)
    if as_json:
        show_json(result.to_dict())
        return
    say_result(result, dry_run=dry_run)


def say_result(result: ImportResult, *, dry_run: bool) -> None:
    """Say what an import did."""
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
        hint(f"next: tracker agreement {_quoted(result.project)}")


def _quoted(name: str) -> str:
    import shlex

    return shlex.quote(name)


def shown(error: Rejected, *, as_json: bool) -> Refused:
    """The error to end with, once the rows that were refused are shown."""
    from tracker.core.errors import Refused

    if as_json or error.result.rejected > 1:
        _show_rejections(error.result, as_json=as_json)
    if as_json or error.result.rejected == 1:
        return error
    return Refused(f"{error.result.rejected:,} rows cannot be taken", error.mend)


def _show_rejections(result: ImportResult, *, as_json: bool) -> None:
    if as_json:
        show_json(result.to_dict())
        return
    for example, number in sorted(result.alike, key=lambda one: -one[1])[:20]:
        say(f"{number:,} rows, such as {example}" if number > 1 else str(example), err=True)
    if len(result.alike) > 20:
        say(f"… and rows of {len(result.alike) - 20} more kinds", err=True)


@contextmanager
def _progress_bar() -> Iterator[Progress | None]:
    """A bar on a terminal; nothing anywhere else."""
    if not bars_wanted():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("importing"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("import", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@imports.command("list")
@grouped
def list_(
    context: typer.Context,
    argument: SomeProject = None,
    project: ProjectOption = None,
    output: Output = Output(),
) -> None:
    """List the imports of a project, or of all, oldest first."""
    from tracker.imports.undo import list_imports
    from tracker.projects.project import find_project

    name = some_project(argument, project)
    with opened(context).database.read() as connection:
        number = None if name is None else find_project(connection, name).id
        found = [one.to_dict() for one in list_imports(connection, number)]
    rows = [
        one | {"sources": " ".join(source["name"] for source in one["sources"])} for one in found
    ]
    show({"imports": found}, output=output, rows=rows, view=_imports_table(rows))


def _imports_table(rows: list[dict[str, Any]]) -> Iterator[RenderableType]:
    from tracker.render.cells import count, table

    counts = ("rows", "inserted", "changed", "unchanged", "older", "rejected")
    cells = [
        (
            str(row["import"]),
            row["project"],
            row["recorded_at"][:19],
            *(count(row[name]) for name in counts),
            (row["undone_at"] or "")[:19],
            row["sources"],
        )
        for row in rows
    ]
    heads = ("import", "project", "recorded ", *counts, "undone ", "sources ")
    yield table(heads, cells, left=2)


@imports.command("show")
@grouped
def show_(
    context: typer.Context,
    number: Annotated[
        int, typer.Argument(metavar="IMPORT", max=LARGEST, help="The import's number.")
    ],
    output: Output = Output(),
) -> None:
    """Show one import: its files, their digests, and the outcome of its rows."""
    from tracker.imports.undo import find_import
    from tracker.render.cells import table

    with opened(context).database.read() as connection:
        found = find_import(connection, number).to_dict()
    rows = [(key, str(value)) for key, value in found.items() if key != "sources"]
    rows += [(source["name"], f"sha256 {source['sha256']}") for source in found["sources"]]
    show(found, output, view=[table(("", " "), rows)])


@imports.command("undo")
def undo(
    context: typer.Context,
    number: Annotated[
        int, typer.Argument(metavar="IMPORT", max=LARGEST, help="The import's number.")
    ],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Undo an import as if it had never happened; the answers it replaced stand again."""
    from tracker.imports.undo import find_import, undo_import

    ledger = opened(context)
    with ledger.database.read() as connection:
        found = find_import(connection, number)
    confirm(f"Undo import {number} into {found.project} ({found.counts['rows']:,} rows)?", yes=yes)
    with ledger.database.write() as connection:
        told = undo_import(connection, number).to_dict()
    if as_json:
        show_json(told)
    else:
        say(f"import {number} is undone; it stays in: tracker imports list")
