"""``tracker project``."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tracker.cli import notes
from tracker.cli.context import Yes, confirm_command, ledger_of_command
from tracker.cli.output import AsJson, Output, flatten_option_groups, print_json, print_result
from tracker.cli.project_argument import (
    NewProject,
    ProjectArgument,
    Settings,
    with_project_argument,
)
from tracker.cli.terminal import hint, say, warn

if TYPE_CHECKING:
    from rich.console import RenderableType


_ANSWERS = {
    "one": "one category per answer",
    "several": "several categories per answer",
    "spans": "spans of a text",
}

projects = typer.Typer(
    help="Create, set, list, show, rename, archive and delete projects; note events.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    notes.register(projects)
    app.add_typer(projects, name="project")


@with_project_argument(projects, "create", guess=False)
def create_project_command(
    context: typer.Context,
    project: ProjectArgument,
    settings: NewProject = NewProject(),
    as_json: AsJson = False,
) -> None:
    """Create a project; `import` creates one too, with the same options.

    Example:
    - `tracker project create reviews --categories yes,no --wanted 3`

    Next: `tracker import answers.csv -p reviews`
    """
    made = ledger_of_command(context).projects.create(project, settings.options)
    if as_json:
        print_json(made.to_dict())
        return
    say(f"created {made.project.name}: {_ANSWERS[made.answers]}, {made.scale} scale")
    hint(f"next: tracker import FILE --project {quote(made.project.name)}")


@projects.command("list")
@flatten_option_groups
def list_projects_command(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Include archived projects.")] = False,
    output: Output = Output(),
) -> None:
    """List the projects by name.

    Example:
    - `tracker project list --all`

    Next: `tracker status`
    """
    rows = [one.to_dict() for one in ledger_of_command(context).projects.list(archived=everything)]
    print_result({"projects": rows}, output=output, rows=rows, view=_projects_table(rows))
    if not rows:
        hint("there is no project yet: tracker import FILE --project NAME, or: tracker demo")


def _projects_table(rows: list[dict[str, Any]]) -> Iterator[RenderableType]:
    from tracker.render.tables import table

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


@with_project_argument(projects, "show")
def show_project_command(
    context: typer.Context, project: ProjectArgument, output: Output = Output()
) -> None:
    """Show a project's settings and its categories.

    Example:
    - `tracker project show reviews`

    Next: `tracker project set reviews --wanted 3`
    """
    from tracker.render.tables import table

    settings = ledger_of_command(context).projects.show(project)
    found, told = settings.question, settings.to_dict()
    rows = [
        ("project", found.project.name),
        ("answers", _ANSWERS[found.answers]),
        *([("offsets", found.offsets)] if found.answers == "spans" else []),
        ("scale", found.scale),
        ("categories", ", ".join(settings.categories) or "none yet"),
        ("other categories", "refused" if found.categories_fixed else "accepted"),
        (
            "wanted",
            "-" if found.target_answers is None else f"{found.target_answers} answers per item",
        ),
        ("made", told["created_at"][:10]),
        ("archived", (told["archived_at"] or "no")[:10]),
    ]
    print_result(told, output, view=[table((" ", " "), rows)])


@with_project_argument(projects, "set")
def set_project_command(
    context: typer.Context,
    project: ProjectArgument,
    settings: Settings = Settings(),
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

    Examples:
    - `tracker project set reviews --wanted 3`
    - `tracker project set reviews --scale ordinal --categories low,mid,high`

    Next: `tracker status reviews`
    """
    made, categories = changed = ledger_of_command(context).projects.set(
        project,
        wanted=settings.wanted,
        scale=settings.scale,
        categories=settings.names,
        opened=open_,
        dry_run=dry_run,
    )
    if as_json:
        print_json(changed.to_dict())
        return
    name = made.project.name
    target = f"a target of {made.target_answers}" if made.target_answers else "no target number of"
    say(
        f"{name} {'would have' if dry_run else 'has'} {target} answers per item, {made.scale} "
        f"scale; categories: {', '.join(categories) or 'none yet'}; "
        f"others are {'refused' if made.categories_fixed else 'accepted'}"
    )
    if made.scale == "ordinal" and settings.scale and settings.names is None and categories:
        warn(
            f"on an ordinal scale the order counts; if it is not {' < '.join(categories)}: "
            f"tracker category order {quote(made.project.name)} A,B,C"
        )
    if not dry_run:
        hint(f"next: tracker status {quote(name)}")


@with_project_argument(projects, "rename")
def rename_project_command(
    context: typer.Context,
    project: ProjectArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
) -> None:
    """Rename a project.

    Example:
    - `tracker project rename reviews product-reviews`

    Next: `tracker project list`
    """
    made = ledger_of_command(context).projects.rename(project, name)
    say(f"{project} is now {made.name}")


@with_project_argument(projects, "archive")
def archive_project_command(
    context: typer.Context,
    project: ProjectArgument,
    restore: Annotated[
        bool, typer.Option("--restore", help="Put the project back on the list.")
    ] = False,
) -> None:
    """Take a project off the list of active ones; nothing is deleted.

    Examples:
    - `tracker project archive reviews`
    - `tracker project archive reviews --restore`

    Next: `tracker project list --all`
    """
    found = ledger_of_command(context).projects.archive(project, restore=restore)
    say(f"{found.name} is {'active again' if restore else 'archived'}")


@with_project_argument(projects, "delete", guess=False)
def delete_project_command(
    context: typer.Context, project: ProjectArgument, yes: Yes = False
) -> None:
    """Permanently delete a project with its answers, snapshots and flags.

    Example:
    - `tracker project delete reviews`

    Next: `tracker project list`
    """
    known = ledger_of_command(context).projects
    name = known.find(project).project.name
    confirm_command(f"Permanently delete {name} with everything in it?", yes=yes)
    known.delete(name)
    say(f"{name} is deleted")
