"""``tracker category``."""

from __future__ import annotations

from typing import Annotated

import typer

from tracker.cli.context import Yes, confirm, opened, say
from tracker.cli.output import Output, show
from tracker.cli.project_argument import ProjectArgument, about_project

__all__ = ["register"]

categories = typer.Typer(help="List, order, merge and rename categories.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(categories, name="category")


@about_project(categories, "list")
def list_(
    context: typer.Context,
    project: ProjectArgument,
    output: Output = Output(),
) -> None:
    """List a project's categories in order, with the number of labels that stand."""
    from tracker.projects.categories import labels_by_category
    from tracker.render.cells import count, table

    with opened(context).reading(project) as (connection, found):
        labels = labels_by_category(connection, found)
    rows = [{"category": name, "labels": number} for name, number in labels.items()]
    cells = [(name, count(number)) for name, number in labels.items()]
    show(
        {"project": found.name, "closed": found.closed, "categories": rows},
        output=output,
        rows=rows,
        view=[table(("category", "labels"), cells)],
    )


@about_project(categories, "order")
def order(
    context: typer.Context,
    project: ProjectArgument,
    names: Annotated[str, typer.Argument(metavar="A,B,C", help="Every category, in order.")],
    output: Output = Output(),
) -> None:
    """Set the order of the categories, by which ordinal scales rank them.

    Example: `tracker category order reviews negative,neutral,positive`
    """
    from tracker.projects.settings import order_categories

    with opened(context).writing(project) as (connection, found):
        listed = order_categories(connection, found, names.split(","))
    show(
        {"project": found.name, "categories": listed},
        output,
        view=[f"the order in {found.name}: {', '.join(listed)}"],
    )


@about_project(categories, "merge")
def merge(
    context: typer.Context,
    project: ProjectArgument,
    category: Annotated[str, typer.Argument(metavar="CATEGORY", help="The one to end.")],
    into: Annotated[str, typer.Argument(metavar="INTO", help="Whose its answers become.")],
    yes: Yes = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how many labels; store nothing.")
    ] = False,
    output: Output = Output(),
) -> None:
    """Merge a category into another: its answers, past and to come, count as the other's.

    To take it back: tracker category split. --known-at shows what was before.

    Example: `tracker category merge reviews Positive positive`
    """
    from tracker.projects.category_merge import merge_categories
    from tracker.projects.project import find_project

    if not dry_run:
        confirm(f"Merge {category!r} into {into!r}?", yes=yes)
    with opened(context).database.write(keep=not dry_run) as connection:
        found = find_project(connection, project)
        labels = merge_categories(connection, found, category, into)
    verb = "would be" if dry_run else "are"
    show(
        {"project": found.name, "category": category.strip(), "into": into.strip()}
        | {"labels": labels},
        output,
        view=[f"{labels:,} labels {category.strip()} {verb} {into.strip()} in {found.name}"],
    )


@about_project(categories, "split")
def split(
    context: typer.Context,
    project: ProjectArgument,
    category: Annotated[str, typer.Argument(metavar="CATEGORY", help="One that was merged.")],
    output: Output = Output(),
) -> None:
    """Take a merge back: the category has its own answers again.

    Example: `tracker category split reviews Positive`
    """
    from tracker.projects.category_merge import split_category

    with opened(context).writing(project) as (connection, found):
        whose = split_category(connection, found, category)
    show(
        {"project": found.name, "category": category.strip(), "from": whose},
        output,
        view=[f"{category.strip()} is apart from {whose} again in {found.name}"],
    )


@about_project(categories, "rename")
def rename(
    context: typer.Context,
    project: ProjectArgument,
    old: Annotated[str, typer.Argument(metavar="CATEGORY")],
    new: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
) -> None:
    """Rename a category; its labels follow."""
    from tracker.projects.categories import rename_category

    with opened(context).writing(project) as (connection, found):
        rename_category(connection, found, old, new)
    say(f"{old} is now {new.strip()} in {found.name}")
