"""``tracker snapshots``: the records themselves, listed, shown, verified, thinned out."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.context import (
    ProjectArgument,
    Yes,
    command_group,
    confirm_command,
    ledger_of_command,
    with_project_argument,
)
from tracker.cli.history import Last
from tracker.cli.options import QuestionNames
from tracker.cli.output import Output, print_result
from tracker.cli.terminal import hint, progress_bar, warn

if TYPE_CHECKING:
    from tracker.history.prune import Fate
    from tracker.ledger import Ledger


snapshots, register = command_group("snapshots", "List, show, verify and thin out snapshots.")


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
        told = ledger.history(project).to_dict()
        print_result(told, output, rows=snapshot_csv_rows(told))
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
    told = found.to_dict()
    rows = [
        {"question": one["question"], **row}
        for one in told["questions"]
        for row in snapshot_csv_rows(one)
    ]
    print_result(told, output, rows=rows, view=snapshots_by_question_view(found, last))
    hint(f"next: tracker snapshots show {shlex.quote(project)} last")


@with_project_argument(snapshots, "show")
def show_snapshot_command(
    context: typer.Context,
    project: ProjectArgument,
    which: Annotated[
        str,
        typer.Argument(
            metavar="SNAPSHOT", help="Number or name; last; last~2 is two before the last."
        ),
    ],
    question: QuestionNames = None,
    output: Output = Output(),
) -> None:
    """Show everything about one snapshot: figures, settings, what was known, open flags.

    Examples:
    - `tracker snapshots show reviews last`
    - `tracker snapshots show reviews "guideline v2" --json`
    - `tracker snapshots show rubric last --question tone`

    Next: `tracker compare reviews last~1 last`
    """
    from tracker.history.snapshot_tables import snapshot_pages_view

    found = ledger_of_command(context).snapshot_pages(project, which, questions=question or ())
    print_result(
        None if output.for_people else found.to_dict(), output, view=snapshot_pages_view(found)
    )
    number = found.first.record.id
    if output.for_people and number != found.first.last:
        hint(f"what changed since: tracker compare {shlex.quote(project)} {number} last")


@with_project_argument(snapshots, "verify")
def verify_snapshots_command(
    context: typer.Context,
    project: ProjectArgument,
    chain_only: Annotated[
        bool,
        typer.Option("--chain-only", help="Check digests and seals only; do not recount (fast)."),
    ] = False,
    expect: Annotated[
        str | None,
        typer.Option(
            metavar="DIGEST", help="Fail unless the ledger once had this digest, noted down before."
        ),
    ] = None,
    output: Output = Output(),
) -> None:
    """Verify that the record is unchanged and that the ledger still produces it.

    Every change seals the ledger with a digest, which is printed: note it down elsewhere, and give
    it as `--expect` later. The digest and the seal of each snapshot are made again from what is
    stored and the snapshot before; then all is recounted from the ledger as it was known.
    Exits with 1 if something differs, and names the first bad snapshot.

    Examples:
    - `tracker snapshots verify reviews`
    - `tracker snapshots verify reviews --chain-only`
    - `tracker snapshots verify reviews --expect 3f0c…`

    Next: `tracker snapshots list reviews`
    """
    from tracker.history.snapshot_tables import verified_snapshots_view

    with progress_bar("verifying") as progress:
        found = ledger_of_command(context).verify(
            project, chain_only=chain_only, expect=expect, progress=progress
        )
    print_result(
        found.to_dict(), output, view=verified_snapshots_view(found, chain_only=chain_only)
    )
    if found.faults:
        first = found.faults[0].snapshot
        warn(
            f"the first bad snapshot is {first}; see: "
            f"tracker snapshots show {shlex.quote(project)} {first}"
        )
    if not found.passed:
        raise typer.Exit(1)
    if not found.snapshots:
        hint(f"no snapshot yet: tracker snapshot {shlex.quote(project)}")
    elif chain_only:
        hint(f"to count again, too: tracker snapshots verify {shlex.quote(project)}")


@with_project_argument(snapshots, "prune", guess=False)
def prune_snapshots_command(
    context: typer.Context,
    project: ProjectArgument,
    keep: Annotated[
        str,
        typer.Option(
            metavar="daily:30,weekly:52",
            help="Keep the newest snapshot of each of N hours, days, weeks, months "
            "or years (hourly:N, …, yearly:N), and the last N (last:N).",
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen; change nothing.")
    ] = False,
    yes: Yes = False,
    output: Output = Output(),
) -> None:
    """Thin out snapshots: figures and tallies are deleted; rows and the chain of digests stay.

    Named snapshots are kept, and so is the last one of each combination of settings; the rules
    apply to each combination separately.

    Examples:
    - `tracker snapshots prune reviews --keep daily:30,weekly:52 --dry-run`
    - `tracker snapshots prune reviews --keep last:10,monthly:24 --yes`

    Next: `tracker snapshots verify reviews --chain-only`
    """
    from tracker.history.snapshot_tables import prune_plan_view

    ledger = ledger_of_command(context)
    fates = ledger.prune(project, keep, dry_run=True)
    gone = _thinned(fates)
    if gone and not dry_run:
        if output.for_people and not yes:
            print_result(None, output, view=prune_plan_view(fates, done=False))
        confirm_command(
            f"Thin out {gone:,} of {len(fates):,} snapshots of {project}, for good?", yes=yes
        )
        fates = ledger.prune(project, keep)
        gone = _thinned(fates)
    told = {
        "project": project,
        "keep": keep,
        "dry_run": dry_run,
        "kept": len(fates) - gone,
        "thinned": gone,
        "snapshots": [fate.to_dict() for fate in fates],
    }
    print_result(told, output, view=prune_plan_view(fates, done=not dry_run))
    quoted = shlex.quote(project)
    if dry_run and gone:
        hint(f"nothing was changed; to do it: tracker snapshots prune {quoted} --keep {keep}")
    elif gone:
        hint(f"next: tracker snapshots verify {quoted} --chain-only")
    else:
        hint("no snapshot is thinned out by these rules")


def _thinned(fates: list[Fate]) -> int:
    return sum(fate.kept_by is None for fate in fates)
