"""``tracker project``."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tracker.cli import notes
from tracker.cli.context import Yes, confirm, hint, opened, say
from tracker.cli.options import grouped
from tracker.cli.output import AsJson, Output, show, show_json
from tracker.cli.project_argument import ProjectArgument, about_project
from tracker.cli.project_options import Answers, Categories, Offsets, Scale, Wanted, project_options

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["register"]

projects = typer.Typer(
    help="Create, set, list, show, rename, archive and delete projects; note events.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    notes.register(projects)
    app.add_typer(projects, name="project")


@about_project(projects, "create", guess=False)
def create(
    context: typer.Context,
    project: ProjectArgument,
    answers: Answers = None,
    scale: Scale = None,
    categories: Categories = None,
    wanted: Wanted = None,
    offsets: Offsets = None,
    as_json: AsJson = False,
) -> None:
    """Create a project; `import` creates one too, with the same options.

    Example: `tracker project create reviews --categories negative,neutral,positive --wanted 3`
    """
    from tracker.projects.project import create_project

    options = project_options(answers, scale, offsets, categories, wanted)
    with opened(context).database.write() as connection:
        made = create_project(connection, project, options)
    if as_json:
        show_json(made.to_dict())
        return
    say(f"made {made.name}: {made.answers} per item, {made.scale} scale")
    hint(f"next: tracker import FILE --project {quote(made.name)}")


@projects.command("list")
@grouped
def list_(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Include archived projects.")] = False,
    output: Output = Output(),
) -> None:
    """List the projects by name."""
    from tracker.projects.project import list_projects

    with opened(context).database.read() as connection:
        rows = [one.to_dict() for one in list_projects(connection, archived=everything)]
    show({"projects": rows}, output=output, rows=rows, view=_projects_table(rows))
    if not rows:
        hint("there is no project yet: tracker import FILE --project NAME, or: tracker demo")


def _projects_table(rows: list[dict[str, Any]]) -> Iterator[RenderableType]:
    from tracker.render.cells import table

    cells = [
        (
            row["project"],
            row["answers"],
            row["scale"],
            str(row["wanted"] or "-"),
            row["created_at"][:10],
            (row["archived_at"] or "")[:10],
        )
        for row in rows
    ]
    yield table(("project", "answers ", "scale ", "wanted", "made ", "archived "), cells)


@about_project(projects, "show")
def show_(context: typer.Context, project: ProjectArgument, output: Output = Output()) -> None:
    """Show a project's settings and its categories."""
    from tracker.projects.categories import category_names
    from tracker.render.cells import table

    with opened(context).reading(project) as (connection, found):
        names = list(category_names(connection, found).values())
    told = found.to_dict() | {"categories": names}
    rows = [
        ("project", found.name),
        ("answers", f"{found.answers} per item"),
        *([("offsets", found.offsets)] if found.answers == "spans" else []),
        ("scale", found.scale),
        ("categories", ", ".join(names) or "none yet"),
        ("other categories", "refused" if found.closed else "accepted"),
        ("wanted", "-" if found.wanted is None else f"{found.wanted} answers per item"),
        ("made", told["created_at"][:10]),
        ("archived", (told["archived_at"] or "no")[:10]),
    ]
    show(told, output, view=[table(("", " "), rows)])


@about_project(projects, "set")
def set_(
    context: typer.Context,
    project: ProjectArgument,
    wanted: Wanted = None,
    scale: Scale = None,
    categories: Categories = None,
    open_: Annotated[
        bool, typer.Option("--open", help="Accept categories that are not on the list.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the settings; store nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Change a project's settings; snapshots keep those they were taken with.

    A scale or a closed list that does not fit the answers is refused. --wanted 0 is no number.

    Examples: `tracker project set reviews --wanted 3`,
    `tracker project set reviews --scale ordinal --categories negative,neutral,positive`
    """
    from tracker.projects.categories import category_names
    from tracker.projects.project import find_project
    from tracker.projects.settings import set_project

    names = project_options(None, None, None, categories, None).categories
    with opened(context).database.write(keep=not dry_run) as connection:
        found = find_project(connection, project)
        made = set_project(
            connection, found, wanted=wanted, scale=scale, categories=names, opened=open_
        )
        told = made.to_dict() | {"categories": list(category_names(connection, made).values())}
    if as_json:
        show_json(told)
        return
    listed = f"{'only' if made.closed else 'at least'} {', '.join(told['categories']) or 'none'}"
    say(
        f"{made.name} {'would have' if dry_run else 'has'} {made.wanted or 'no number of'} wanted "
        f"answers per item, {made.scale} scale; categories: {listed}"
    )


@about_project(projects, "rename")
def rename(
    context: typer.Context,
    project: ProjectArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
) -> None:
    """Rename a project."""
    from tracker.projects.project import rename_project

    with opened(context).writing(project) as (connection, found):
        rename_project(connection, found, name)
    say(f"{found.name} is now {name.strip()}")


@about_project(projects, "archive")
def archive(
    context: typer.Context,
    project: ProjectArgument,
    restore: Annotated[
        bool, typer.Option("--restore", help="Put the project back on the list.")
    ] = False,
) -> None:
    """Take a project off the list of active ones; nothing is deleted."""
    from tracker.projects.project import archive_project

    with opened(context).writing(project) as (connection, found):
        archive_project(connection, found, archived=not restore)
    say(f"{found.name} is {'active again' if restore else 'archived'}")


@about_project(projects, "delete", guess=False)
def delete(context: typer.Context, project: ProjectArgument, yes: Yes = False) -> None:
    """Permanently delete a project with its answers, snapshots and flags."""
    from tracker.projects.project import purge_project

    ledger = opened(context)
    with ledger.reading(project) as (_, found):
        pass
    confirm(f"Permanently delete {found.name} with everything in it?", yes=yes)
    with ledger.writing(project) as (connection, found):
        purge_project(connection, found)
    say(f"{found.name} is deleted")
