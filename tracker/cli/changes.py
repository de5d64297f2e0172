"""``tracker project changes``: who changed what, and when."""

from __future__ import annotations

from typing import Annotated

import typer

from tracker.cli.context import ProjectArgument, ledger_of_command, with_project_argument
from tracker.cli.output import Output, print_result
from tracker.cli.terminal import warn
from tracker.core.operations import LARGEST


def register(projects: typer.Typer) -> None:
    """Add the command to those of projects."""
    with_project_argument(projects)(changes)


def changes(
    context: typer.Context,
    project: ProjectArgument,
    limit: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=LARGEST, help="Maximum number of changes; 0 for all."),
    ] = 100,
    output: Output = Output(),
) -> None:
    """List who changed what in a project and when, newest first.

    Imports, settings, snapshots, acts on findings. Names are known of changes in the dashboard or
    with a token, and of acts on findings.

    Example:
    - `tracker project changes reviews --limit 20`

    Next: `tracker imports list -p reviews`
    """
    from tracker.counts.trail import trail_as_json
    from tracker.render.cells import minute_cell
    from tracker.render.tables import table

    found = ledger_of_command(context).projects.changes(project, limit or None)
    told = trail_as_json(project, found)
    rows = told["changes"]
    print_result(
        told,
        output=output,
        rows=rows,
        view=[
            table(
                ("at ", "by ", "what "),
                [(minute_cell(row["at"]), row["by"] or "-", row["what"]) for row in rows],
            )
        ],
    )
    if found.next:
        warn(f"the last {limit}; for all: --limit 0")
