"""``tracker snapshot`` and ``tracker history``: the record over time."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from tracker.cli.context import AsCsv, AsJson, ProjectArgument, hint, opened, show
from tracker.cli.selecting import (
    Annotators,
    ExcludedAnnotators,
    ExcludeFlagged,
    Since,
    Until,
    Where,
    selecting,
)

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(snapshot)
    app.command()(history)


def snapshot(
    context: typer.Context,
    project: ProjectArgument,
    name: Annotated[str | None, typer.Option(help="A name to find it by.")] = None,
    note: Annotated[str | None, typer.Option(metavar="TEXT", help="Why it was taken.")] = None,
    annotator: Annotators = None,
    exclude_annotator: ExcludedAnnotators = None,
    exclude_flagged: ExcludeFlagged = False,
    since: Since = None,
    until: Until = None,
    where: Where = None,
    as_json: AsJson = False,
) -> None:
    """Record the project's figures and tallies as they are now; a record never changes.

    Which answers were chosen is recorded with them.

    Examples: `tracker snapshot reviews --name "guideline v2"`,
    `tracker snapshot reviews --name Dutch --where language=nl --exclude-flagged`
    """
    chosen = selecting(annotator, exclude_annotator, exclude_flagged, since, until, where)
    found = opened(context).snapshot(project, name=name, note=note, **chosen)
    if as_json:
        show(found.to_dict(), as_json=True)
        return
    typer.echo(str(found.id))
    hint(f"next: tracker history {project}")


def history(
    context: typer.Context,
    project: ProjectArgument,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """The recorded snapshots, oldest first, with their curve."""
    from tracker.report.history import history_view

    found = opened(context).history(project)
    told = found.to_dict()
    rows = [
        {key: one[key] for key in ("snapshot", "name", "taken_at")}
        | {"selection": one["selection"] and json.dumps(one["selection"], ensure_ascii=False)}
        | one["counts"]
        | {measure["measure"]: measure["value"] for measure in one["measures"]}
        | {f"rate of {row['category']}": row["rate"] for row in one["categories"]}
        for one in told["snapshots"]
    ]
    show(told, as_json=as_json, as_csv=as_csv, rows=rows, view=history_view(found))
    if not found.snapshots:
        hint(f"no snapshot yet: tracker snapshot {project}")
