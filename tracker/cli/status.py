"""``tracker status``."""

from __future__ import annotations

import typer

from tracker.cli.context import AsCsv, AsJson, ProjectOption, SomeProject, hint, opened, show
from tracker.cli.context import some_project as chosen

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(status)


def status(
    context: typer.Context,
    argument: SomeProject = None,
    project: ProjectOption = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """How far a project is, or all that are running: items, answers, coverage, pace, flags."""
    from tracker.catalogue.projects import find_project, list_projects
    from tracker.progress import project_status
    from tracker.report.status import status_view

    name = chosen(argument, project)
    with opened(context).database.read() as connection:
        projects = list_projects(connection) if name is None else [find_project(connection, name)]
        found = [project_status(connection, one) for one in projects]
    told = [one.to_dict() for one in found]
    flat = ("answers_per_item", "last_import")
    show(
        {"projects": told} if name is None else told[0],
        as_json=as_json,
        as_csv=as_csv,
        rows=[{key: value for key, value in one.items() if key not in flat} for one in told],
        view=[status_view(found)],
    )
    if not found:
        hint("there is no project yet: tracker import FILE --project NAME, or: tracker demo")
