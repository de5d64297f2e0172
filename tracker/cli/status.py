"""``tracker status``."""

from __future__ import annotations

import typer

from tracker.cli.context import AsCsv, AsJson, ProjectOption, SomeProject, hint, opened_ledger, show
from tracker.cli.context import some_project as chosen
from tracker.cli.filter_options import AsOf, KnownAt

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(status)


def status(
    context: typer.Context,
    argument: SomeProject = None,
    project: ProjectOption = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show the progress of a project, or of all active ones: items, answers, coverage, pace, flags.

    Examples: `tracker status`, `tracker status reviews --as-of 2026-03-31`
    """
    from tracker.projects.project import list_projects
    from tracker.render.status import pace_lines, status_view

    name = chosen(argument, project)
    ledger = opened_ledger(context)
    with ledger.database.read() as connection:
        running = list_projects(connection) if name is None else ()
    names = [one.name for one in running] if name is None else [name]
    found = [ledger.status(one, as_of=as_of, known_at=known_at) for one in names]
    told = [one.to_dict() for one in found]
    flat = ("answers_per_item", "last_import")
    show(
        {"projects": told} if name is None else told[0],
        as_json=as_json,
        as_csv=as_csv,
        rows=[{key: value for key, value in one.items() if key not in flat} for one in told],
        view=[status_view(found), *pace_lines(found)],
    )
    if not found:
        hint("there is no project yet: tracker import FILE --project NAME, or: tracker demo")
