"""``tracker audit`` and ``tracker flags``: findings about annotators' answers."""

from __future__ import annotations

from typing import Annotated

import typer

from tracker.cli.context import (
    AsCsv,
    AsJson,
    ProjectArgument,
    ProjectOption,
    SomeProject,
    hint,
    opened,
    show,
    some_project,
)
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

flags = typer.Typer(help="The findings that audits recorded.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(audit)
    app.add_typer(flags, name="flags")


def audit(
    context: typer.Context,
    project: ProjectArgument,
    everything: Annotated[bool, typer.Option("--all", help="Show what is clear, too.")] = False,
    alpha: Annotated[
        float, typer.Option(help="Of what is flagged, at most this share by chance.")
    ] = 0.05,
    record: Annotated[
        bool, typer.Option("--record", help="Store the findings that stand up.")
    ] = False,
    fail_on: Annotated[
        str | None,
        typer.Option(metavar="flagged[:KIND]", help="Exit with 1 where there is such a finding."),
    ] = None,
    annotator: Annotators = None,
    exclude_annotator: ExcludedAnnotators = None,
    exclude_flagged: ExcludeFlagged = False,
    since: Since = None,
    until: Until = None,
    where: Where = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Test each annotator's answers against the co-annotators of the same items.

    Examples: `tracker audit reviews`, `tracker audit reviews --record --fail-on flagged`,
    `tracker audit reviews --since 7d --exclude-annotator bo`
    """
    from tracker.auditing import failing
    from tracker.report.audit import audit_view

    ledger = opened(context)
    chosen = selecting(annotator, exclude_annotator, exclude_flagged, since, until, where)
    found = ledger.audit(project, alpha=alpha, record=record, **chosen)
    fails = failing(found, fail_on) if fail_on is not None else []
    told = found.to_dict(clear=everything)
    rows = [
        {"annotator": one["annotator"]}
        | {key: value for key, value in flag.items() if key != "refit"}
        for one in told["annotators"]
        for flag in one["flags"]
    ]
    show(
        told,
        as_json=as_json,
        as_csv=as_csv,
        rows=rows,
        view=audit_view(found, clear=everything),
    )
    if record:
        hint(f"recorded; see: tracker flags list {project}")
    if fails:
        hint(f"{len(fails)} findings fail the check {fail_on}")
        raise typer.Exit(1)


@flags.command("list")
def list_(
    context: typer.Context,
    argument: SomeProject = None,
    project: ProjectOption = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List the recorded findings of a project."""
    from tracker.flags import open_flags
    from tracker.report.cells import table

    with opened(context).reading(some_project(argument, project)) as (connection, found):
        rows = open_flags(connection, found)
    show(
        {"project": found.name, "flags": rows},
        as_json=as_json,
        as_csv=as_csv,
        rows=rows,
        view=[
            table(
                ("flag", "annotator", "kind ", "severity ", "last seen ", "why "),
                [
                    (
                        str(row["flag"]),
                        row["annotator"],
                        row["kind"],
                        row["severity"],
                        row["last_seen_at"][:10],
                        row["why"],
                    )
                    for row in rows
                ],
                left=2,
            )
        ],
    )
    if not rows:
        hint(f"none recorded: tracker audit {found.name} --record")
