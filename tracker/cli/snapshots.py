"""``tracker snapshots``: the records themselves, listed, shown, verified, thinned out."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import typer

from tracker.cli.context import ProjectArgument, ledger_of_command, with_project_argument
from tracker.cli.history import Last
from tracker.cli.operations import operation_group
from tracker.cli.output import Output, print_result
from tracker.cli.terminal import hint, warn
from tracker.ledger.history import Snapshots

if TYPE_CHECKING:
    from tracker.ledger import Ledger


snapshots, register = operation_group(
    "snapshots", "List, show, verify and thin out snapshots.", Snapshots
)


@with_project_argument(snapshots, "list")
def list_snapshots_command(
    context: typer.Context,
    project: ProjectArgument,
    last: Last = 40,
    output: Output = Output(),
) -> None:
    """List a project's snapshots, oldest first, with their counts, selections and notes.

    Examples:
    - `tracker snapshots list reviews`
    - `tracker snapshots list reviews --last 0`

    Next: `tracker snapshots show reviews last`
    """
    from tracker.history.snapshot_tables import snapshots_view
    from tracker.history.tables import snapshot_csv_rows

    ledger = ledger_of_command(context)
    if len(ledger.question_names(project)) > 1:
        _list_by_question(ledger, project, last or None, output)
        return
    if not output.for_people:
        payload = ledger.history(project).to_dict()
        print_result(payload, output, rows=snapshot_csv_rows(payload))
        return
    found = ledger.overview(project, last=last or None)
    print_result(None, output, view=snapshots_view(found))
    if not found.total:
        hint(f"no snapshot yet: tracker snapshot {shlex.quote(project)}")
        return
    if len(found.shown) < found.total:
        warn(f"the last {len(found.shown):,} of {found.total:,}; for all: --last 0")
    hint(f"next: tracker snapshots show {shlex.quote(project)} last")


def _list_by_question(ledger: Ledger, project: str, last: int | None, output: Output) -> None:
    """Print the main figure of each question, a row for each snapshot."""
    from tracker.history.snapshot_tables import snapshots_by_question_view
    from tracker.history.tables import snapshot_csv_rows

    found = ledger.history_by_question(project)
    payload = found.to_dict()
    rows = [
        {"question": one["question"], **row}
        for one in payload["questions"]
        for row in snapshot_csv_rows(one)
    ]
    print_result(payload, output, rows=rows, view=snapshots_by_question_view(found, last))
    hint(f"next: tracker snapshots show {shlex.quote(project)} last")
