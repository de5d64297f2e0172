"""``tracker project``."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tracker.cli import changes
from tracker.cli.context import (
    NewProject,
    OpenCategories,
    ProjectArgument,
    Settings,
    Timezone,
    Yes,
    confirm_command,
    ledger_of_command,
    with_project_argument,
)
from tracker.cli.operations import add_operations
from tracker.cli.options import QuestionName
from tracker.cli.output import AsJson, Output, print_json, print_result
from tracker.cli.signatures import flatten_option_groups
from tracker.cli.terminal import hint, say, warn_if
from tracker.ledger.notes import Notes

if TYPE_CHECKING:
    from rich.console import RenderableType


projects = typer.Typer(
    help="Create, set, list, show, rename, archive and delete projects; note events; list changes.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add_operations(projects, Notes, "project")
    changes.register(projects)
    app.add_typer(projects, name="project")


@with_project_argument(projects, "create", guess=False)
def create_project_command(
    context: typer.Context,
    project: ProjectArgument,
    settings: NewProject = NewProject(),
    timezone: Timezone = None,
    as_json: AsJson = False,
) -> None:
    """Create a project; `import` creates one too, with the same options.

    Example:
    - `tracker project create reviews --categories yes,no --wanted 3`

    Next: `tracker import answers.csv -p reviews`
    """
    from tracker.projects.settings import ANSWERS, order_sentence

    made = ledger_of_command(context).projects.create(project, settings.options, timezone)
    if as_json:
        print_json(made.to_dict())
        return
    say(f"created {made.project.name}: {ANSWERS[made.answers]}, {made.scale} scale")
    if settings.names is None:
        warn_if(order_sentence(made, several=False))
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
    from tracker.history.status_json import projects_as_json

    found = ledger_of_command(context).projects.list(archived=everything)
    told = projects_as_json(found)
    several = len(found) > len(told["projects"])
    rows = [({"question": one.name} if several else {}) | one.to_dict() for one in found]
    print_result(told, output=output, rows=rows, view=_projects_table(rows))
    if not rows:
        hint("there is no project yet: tracker import FILE --project NAME, or: tracker demo")


def _projects_table(rows: list[dict[str, Any]]) -> Iterator[RenderableType]:
    from tracker.render.tables import table

    several = ["question "] if any("question" in row for row in rows) else []
    cells = [
        (
            row["project"],
            *(row["question"] for _ in several),
            row["answers"],
            row["scale"],
            str(row["wanted"] or "-"),
            row["created_at"][:10],
            (row["archived_at"] or "")[:10],
        )
        for row in rows
    ]
    yield table(("project", *several, "answers ", "scale ", "wanted", "made ", "archived "), cells)


@with_project_argument(projects, "show")
def show_project_command(
    context: typer.Context, project: ProjectArgument, output: Output = Output()
) -> None:
    """Show a project's settings and its categories.

    Example:
    - `tracker project show reviews`

    Next: `tracker project set reviews --wanted 3`
    """
    from tracker.projects.settings import question_settings_cells
    from tracker.render.tables import table

    settings = ledger_of_command(context).projects.settings(project)
    told = settings.to_dict()
    only = len(settings.questions) == 1
    rows = [("project", told["project"])]
    for one in settings.questions:
        rows += [] if only else [("question", one.question.name)]
        rows += question_settings_cells(one)
    rows += [("time zone", told["timezone"])]
    rows += [("made", told["created_at"][:10]), ("archived", (told["archived_at"] or "no")[:10])]
    print_result(told, output, view=[table((" ", " "), rows)])


@with_project_argument(projects, "set")
def set_project_command(
    context: typer.Context,
    project: ProjectArgument,
    settings: Settings = Settings(),
    open_: OpenCategories = False,
    timezone: Timezone = None,
    question: QuestionName = None,
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
    - `tracker project set reviews --timezone Europe/Berlin`

    Next: `tracker status reviews`
    """
    from tracker.projects.settings import order_sentence, settings_sentence

    changed = ledger_of_command(context).projects.set(
        project,
        question=question,
        wanted=settings.wanted,
        scale=settings.scale,
        categories=settings.names,
        opened=open_,
        timezone=timezone,
        dry_run=dry_run,
    )
    if as_json:
        print_json(changed.to_dict())
        return
    name = changed.question.project.name
    if timezone is not None:
        would = "would begin" if dry_run else "begin"
        say(f"days of {name} {would} at 00:00 in {changed.question.project.timezone or 'UTC'}")
    else:
        say(f"{name} {settings_sentence(changed, dry_run=dry_run)}")
    if settings.scale and not changed.ordered:
        several = question is not None
        warn_if(order_sentence(changed.question, changed.categories, several=several))
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
    name = known.find(project).name
    confirm_command(f"Permanently delete {name} with everything in it?", yes=yes)
    known.delete(name)
    say(f"{name} is deleted")
