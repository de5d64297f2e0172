"""``tracker demo``: the whole tour on built-in data."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tracker.cli.context import ledger_of_command
from tracker.cli.output import print_result
from tracker.cli.terminal import is_database_file, new_output_file, progress_bar, say, steps_shown
from tracker.core.errors import InvalidOption

if TYPE_CHECKING:
    from tracker.ledger import Ledger

PROJECT: Final = "year"
_GUIDELINE: Final = ("..guideline v2", "guideline v2..2025-07-31")
_PLANTED: Final = (
    ("From the end of November on everybody hurries.", f"agreement {PROJECT} --since 2025-11-24"),
    ("Reviews of the delivery: half of the crowd says off topic.", f"audit {PROJECT}"),
    ("Dutch reviews are read badly.", f"agreement {PROJECT} --by slice"),
    ("Rico called everything positive.", f"annotator report rico -p {PROJECT}"),
    ("Lea has two keys the wrong way round.", f"annotator report lea -p {PROJECT}"),
    ("Eva's column slipped by one row in June.", f"agreement {PROJECT} --by import"),
    ("Hal pasted what the model said.", f"agreement {PROJECT} --by model"),
    ("A second shop brought texts that were there.", f"item duplicates {PROJECT}"),
)
"""What goes wrong in the year, and the command that shows more of it."""
_NEXT: Final = (
    "status",
    "agreement turk --by pair",
    "item show 'document 2' -p turk",
    f"history {PROJECT} --every week --watch-for change",
    f"compare {PROJECT} 2025-07 2025-09",
    f"agreement {PROJECT} --as-of 2025-05-04 --by category",
    f"flags list {PROJECT}",
)


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    context: typer.Context,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="SQLite file to create, whatever --database is."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Add to a database that is there already.")
    ] = False,
) -> None:
    """Take a tour: two published examples, then a year of a project in which much goes wrong.

    It imports, assesses, records, audits and compares, in a quarter of a minute, and goes to
    --database if that is given, else to a new file in this folder.

    Examples:
    - `tracker demo`
    - `tracker demo -o tour.db`

    Next: `tracker import answers.csv -p mine`
    """
    ledger, at = _new_ledger(context, output, force=force)
    _sandwich(ledger)
    _turk(ledger)
    _year(ledger)
    _say("What now")
    say(f"All of this is in {at}. Look around in it:")
    for command in _NEXT:
        say(f"  tracker --database {at} {command}")
    say(f"The same in a browser: tracker --database {at} serve")
    _report(ledger)
    say("Then your own answers, a row each with item, annotator and category:")
    say("  tracker import answers.csv --project mine")
    say("  tracker agreement mine")


def _new_ledger(context: typer.Context, output: str | None, *, force: bool) -> tuple[Ledger, str]:
    """Return the ledger that the tour goes to, and how commands name its database."""
    from tracker.ledger import Ledger

    database: str | None = context.find_root().params.get("database")
    if output is None and database is not None:
        ledger = ledger_of_command(context)
        if ledger.projects.list() and not force:
            raise InvalidOption(
                f"{ledger.database} holds projects already", "to add to them: --force"
            )
        return ledger, quote(str(ledger.database))
    file = Path(output) if output is not None else _free(Path("tracker-demo.db"))
    ledger = Ledger(f"sqlite:///{file}")
    if is_database_file(file) and not force:
        raise InvalidOption(
            f"{file} is a database already", "name another file, or add to this one: --force"
        )
    return ledger, quote(str(file))


def _free(path: Path) -> Path:
    numbered = (path.with_name(f"{path.stem}-{n}{path.suffix}") for n in range(2, 1000))
    return next(file for file in (path, *numbered) if not file.exists())


def _report(ledger: Ledger) -> None:
    """Write a page about the year beside the database, and say to open it."""
    from tracker.report.gathered import Asked
    from tracker.report.report import report_file

    beside = ledger.database.file or Path("tracker-demo.db")
    path = _free(beside.with_suffix(".html"))
    with new_output_file(path) as file, steps_shown() as step:
        file.write(report_file(ledger, Asked(PROJECT), "html", step))
    say(f"A page about {PROJECT} to look at, and to send; open it: {path}")


def _say(title: str, text: str = "") -> None:
    say()
    say(title, bold=True)
    if text:
        say(text)


def _sandwich(ledger: Ledger) -> None:
    from tracker.agreement.tables import agreement_view
    from tracker.simulate.demo.year import demo_sandwich_rows

    _say(
        "1. Agreement per category",
        "Two annotators, 1,000 items: is it a sandwich (1) or not (0)? Raw agreement is 85%,\n"
        "yet if one of them said 'not', the other did so in 73% of the cases only.",
    )
    ledger.import_rows(demo_sandwich_rows(), "sandwich")
    print_result(None, view=agreement_view(ledger.agreement("sandwich")))
    ledger.snapshot("sandwich", name="as published")


def _turk(ledger: Ledger) -> None:
    from tracker.agreement.breakdown_tables import items_view, pairs_view
    from tracker.agreement.tables import agreement_view
    from tracker.audit.tables import audit_view
    from tracker.simulate.demo.year import demo_turk_files

    _say(
        "2. Eighteen workers, six reviews",
        "The Mechanical Turk experiment, rebuilt to be consistent with every published figure\n"
        "(the original table is a picture). Worker Q is always positive; is that proof?",
    )
    ledger.import_file(demo_turk_files(), "turk")
    print_result(None, view=agreement_view(ledger.agreement("turk")))
    pairs = ledger.by_pair("turk").pairs.of("P", "Q")
    print_result(None, view=[*pairs_view(pairs), items_view(ledger.by_item("turk"))])
    print_result(None, view=list(audit_view(ledger.audit("turk")))[:-1])


def _year(ledger: Ledger) -> None:
    """Show the scripted year: its history, what is wrong, when and why it changed, its record."""
    from tracker.audit.tables import verdict_view
    from tracker.compare.tables import compare_causes_view
    from tracker.history.snapshot_tables import watched_view
    from tracker.history.tables import history_view

    _say(
        "3. A year of a project",
        "Reviews come in every week, and a growing crowd and a model answer. All answers carry\n"
        "their own time; a snapshot is taken of the end of each month.",
    )
    _import_year(ledger)
    print_result(None, view=history_view(ledger.overview(PROJECT)))

    _say("4. What is plainly wrong, unasked", f"tracker status {PROJECT}")
    ledger.audit(PROJECT, record=True)
    print_result(None, view=verdict_view(ledger.verdict(PROJECT)))
    say("All that went wrong in this year, and what shows more of it:")
    for event, command in _PLANTED:
        say(f"  {event:<60}tracker {command}")

    _say("5. When did it happen?", "Each week's own answers, watched for a change of alpha.")
    print_result(None, view=watched_view(ledger.monitor(PROJECT, watch_for="change")))

    before, after = _GUIDELINE
    _say("6. Was the guideline of May worth it?", f'tracker compare {PROJECT} "{before}" "{after}"')
    print_result(None, view=compare_causes_view(ledger.compare(PROJECT, before, after)))

    verification = ledger.verify(PROJECT)
    last = list(ledger.history(PROJECT).snapshots)[-1]
    _say("7. Can the record be trusted?")
    say(
        f"{verification.snapshots} snapshots: digests and seals as they were chained, and "
        f"{verification.recomputed} counted again from the labels as they were known: "
        f"{len(verification.faults)} faults."
    )
    say(f"The digest of the last, the same on any database: {last.digest}")


def _import_year(ledger: Ledger) -> None:
    """Import the weeks, with a snapshot of the end of each month, and what managers noted."""
    from tracker.simulate.demo.year import NOTES, simulate_demo_year

    weeks, month = list(simulate_demo_year()), 1
    with progress_bar("a year goes by") as progress:
        for number, week in enumerate(weeks, 1):
            result = ledger.import_rows(week.rows, PROJECT, f"{week.end:%Y-%m-%d}.csv")
            for warning in result.warnings:
                say(f"Said as the file came in: {warning}")
            if week.end.month != month:
                end = week.end.replace(day=1, hour=0) - timedelta(microseconds=1)
                ledger.snapshot(PROJECT, name=f"{end:%Y-%m}", as_of=end)
                month = week.end.month
            if progress is not None:
                progress(number, len(weeks))
    for moment, text in NOTES:
        ledger.notes.add(PROJECT, text, moment)
