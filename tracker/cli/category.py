"""``tracker category``."""

from __future__ import annotations

from typing import Annotated

import typer

from tracker.cli.context import (
    AsCsv,
    AsJson,
    opened,
    say,
    show,
)
from tracker.cli.naming import ProjectArgument, about_project

__all__ = ["register"]

categories = typer.Typer(help="List, order, merge and rename categories.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(categories, name="category")


@about_project(categories, "list")
def list_(
    context: typer.Context,
    project: ProjectArgument,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List a project's categories in order, with the number of labels that stand."""
    from tracker.catalogue.categories import labels_by_category
    from tracker.report.cells import count, table

    with opened(context).reading(project) as (connection, found):
        labels = labels_by_category(connection, found)
    rows = [{"category": name, "labels": number} for name, number in labels.items()]
    cells = [(name, count(number)) for name, number in labels.items()]
    show(
        {"project": found.name, "closed": found.closed, "categories": rows},
        as_json=as_json,
        as_csv=as_csv,
        rows=rows,
        view=[table(("category", "labels"), cells)],
    )


@about_project(categories, "order")
def order(
    context: typer.Context,
    project: ProjectArgument,
    names: Annotated[str, typer.Argument(metavar="A,B,C", help="Every category, in order.")],
    as_json: AsJson = False,
) -> None:
    """Set the order of the categories, by which ordinal scales rank them.

    Example: `tracker category order reviews negative,neutral,positive`
    """
    from tracker.catalogue.settings import order_categories

    with opened(context).writing(project) as (connection, found):
        listed = order_categories(connection, found, names.split(","))
    show(
        {"project": found.name, "categories": listed},
        as_json=as_json,
        view=[f"the order in {found.name}: {', '.join(listed)}"],
    )


@about_project(categories, "rename")
def rename(
    context: typer.Context,
    project: ProjectArgument,
    old: Annotated[str, typer.Argument(metavar="CATEGORY")],
    new: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
) -> None:
    """Rename a category; its labels follow."""
    from tracker.catalogue.categories import rename_category

    with opened(context).writing(project) as (connection, found):
        rename_category(connection, found, old, new)
    say(f"{old} is now {new.strip()} in {found.name}")
