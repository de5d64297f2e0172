"""``tracker item``."""

from __future__ import annotations

from typing import Annotated

import typer

from tracker.cli.context import (
    AsCsv,
    AsJson,
    opened,
    show,
    warn,
)
from tracker.cli.naming import ProjectArgument, about_project

__all__ = ["register"]

items = typer.Typer(help="List items, and show what was said of one.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(items, name="item")


@about_project(items, "list")
def list_(
    context: typer.Context,
    project: ProjectArgument,
    limit: Annotated[int, typer.Option(metavar="N", help="How many to list; 0 for all.")] = 100,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List a project's items in the order of their import, with their annotators' number."""
    from tracker.catalogue.items import list_items
    from tracker.report.cells import count, table

    with opened(context).reading(project) as (connection, found):
        rows = list_items(connection, found, limit or None)
    show(
        {"project": found.name, "items": rows},
        as_json=as_json,
        as_csv=as_csv,
        rows=rows,
        view=[
            table(("item", "annotators"), [(row["item"], count(row["annotators"])) for row in rows])
        ],
    )
    if len(rows) == limit:
        warn(f"the first {limit}; for all: --limit 0")


@about_project(items, "show")
def show_(
    context: typer.Context,
    project: ProjectArgument,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="The item's key.")],
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show who said what of an item, when, and what was superseded or taken back."""
    from tracker.catalogue.items import find_item
    from tracker.report.items import item_view

    with opened(context).reading(project) as (connection, found):
        record = find_item(connection, found, item)
    show(
        {"project": found.name} | record.to_dict(),
        as_json=as_json,
        as_csv=as_csv,
        rows=record.labels,
        view=item_view(record),
    )
