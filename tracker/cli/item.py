"""``tracker item``."""

from __future__ import annotations

from typing import Annotated

import typer

from tracker.cli.context import opened, opened_ledger, warn
from tracker.cli.output import AsJson, Output, show, show_json
from tracker.cli.project_argument import ProjectArgument, about_project
from tracker.cli.project_options import LARGEST

__all__ = ["register"]

items = typer.Typer(help="List and register items; show the answers to one.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(items, name="item")


@about_project(items, "list")
def list_(
    context: typer.Context,
    project: ProjectArgument,
    limit: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=LARGEST, help="Maximum number of items; 0 for all."),
    ] = 100,
    output: Output = Output(),
) -> None:
    """List a project's items in import order, with the number of their annotators."""
    from tracker.projects.items import list_items
    from tracker.render.cells import count, table

    with opened(context).reading(project) as (connection, found):
        rows = list_items(connection, found, limit or None)
    show(
        {"project": found.name, "items": rows},
        output=output,
        rows=rows,
        view=[
            table(("item", "annotators"), [(row["item"], count(row["annotators"])) for row in rows])
        ],
    )
    if len(rows) == limit:
        warn(f"the first {limit}; for all: --limit 0")


@items.command("import")
def import_(
    context: typer.Context,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="CSV or TSV, also .gz; - for stdin.")
    ],
    project: Annotated[
        str, typer.Option("--project", "-p", help="Project to import into; created if missing.")
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="ROLE=COLUMN", help="Which column is the item or the text."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Keep a column as an attribute of its items (repeatable)."
        ),
    ] = None,
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
    """Register items that have no answers yet, as one import that can be taken back.

    Status and coverage count them. Importing the list again changes nothing.

    Examples: `tracker item import items.csv -p reviews --keep source`
    """
    from tracker.cli.imports import say_result, shown
    from tracker.imports.loader import Rejected

    try:
        result = opened_ledger(context).import_items(
            files,
            project,
            columns=columns or (),
            keep=keep or (),
            create=create,
            skip_invalid=skip_invalid,
            dry_run=dry_run,
        )
    except Rejected as error:
        raise shown(error, as_json=as_json) from None
    if as_json:
        show_json(result.to_dict())
    else:
        say_result(result, dry_run=dry_run)


@about_project(items, "show")
def show_(
    context: typer.Context,
    project: ProjectArgument,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="The item's key.")],
    output: Output = Output(),
) -> None:
    """Show who said what about an item, when, and what was superseded or undone."""
    from tracker.projects.items import find_item
    from tracker.render.items import item_view

    with opened(context).reading(project) as (connection, found):
        record = find_item(connection, found, item)
    show(
        {"project": found.name} | record.to_dict(),
        output=output,
        rows=record.labels,
        view=item_view(record),
    )
