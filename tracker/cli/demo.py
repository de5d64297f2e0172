"""``tracker demo``: the whole tour on built-in data."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tracker.cli.context import ledger_of_command
from tracker.cli.output import print_result
from tracker.cli.report import report_file
from tracker.cli.terminal import is_database_file, new_output_file, progress_bars_wanted, say
from tracker.core.errors import InvalidOption

if TYPE_CHECKING:
    from tracker.ledger import Ledger
    from tracker.simulate.demo.year import Week


# -- ``tracker demo --year``: a scripted year of a project, and what its record tells of it -------


PROJECT: Final = "year"
_COMPARED: Final = (
    ("..guideline v2", "guideline v2..2025-07-31", "Was the guideline of May worth it?"),
    ("2025-07", "2025-09", "What happened in August and September?"),
    ("2025-09", "2025-10", "What did the revision of October change?"),
)
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


def demo_year_tour(ledger: Ledger, at: str) -> None:
    """Make the project and show its year; ``at`` names the database in commands."""
    from tracker.history.tables import history_view

    _say(
        "1. A year of a project",
        "Reviews come in every week, and a growing crowd and a model answer. All answers carry\n"
        "their own time; a snapshot is taken of the end of each month.",
    )
    _make(ledger)
    print_result(None, view=history_view(ledger.overview(PROJECT)))
    _tell(ledger)
    _watch(ledger)
    for number, (one, other, question) in enumerate(_COMPARED, 4):
        _compare(ledger, f"{number}. {question}", one, other)
    _verify(ledger)
    _say("What now", "Look around:")
    for command in (
        f"history {PROJECT} --every week --watch-for change",
        f"compare {PROJECT} 2025-07 2025-09",
        f"agreement {PROJECT} --as-of 2025-05-04 --by category",
        f"audit {PROJECT} --limit 0 --evidence 5",
        f"snapshots verify {PROJECT}",
        f"gate {PROJECT} --init",
    ):
        say(f"  tracker --database {at} {command}")


def _make(ledger: Ledger) -> None:
    """Import the weeks, with a snapshot of the end of each month, and what managers noted."""
    from tracker.simulate.demo.year import NOTES, simulate_demo_year

    month = 1
    for week in _with_bar(list(simulate_demo_year())):
        made = ledger.import_rows(week.rows, PROJECT, f"{week.end:%Y-%m-%d}.csv")
        for warning in made.warnings:
            say(f"Said as the file came in: {warning}")
        if week.end.month != month:
            end = week.end.replace(day=1, hour=0) - timedelta(microseconds=1)
            ledger.snapshot(PROJECT, name=f"{end:%Y-%m}", as_of=end)
            month = week.end.month
    for moment, text in NOTES:
        ledger.notes.add(PROJECT, text, moment)


def _with_bar(weeks: list[Week]) -> Iterator[Week]:
    """Yield the weeks, with a bar on a terminal."""
    if not progress_bars_wanted():
        yield from weeks
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(weeks, "a year goes by", console=Console(stderr=True), transient=True)


def _tell(ledger: Ledger) -> None:
    from tracker.audit.tables import verdict_view

    _say("2. What is plainly wrong, unasked", f"tracker status {PROJECT}")
    print_result(None, view=verdict_view(ledger.verdict(PROJECT)["verdict"]))
    say("All that went wrong in this year, and what shows more of it:")
    for what, command in _PLANTED:
        say(f"  {what:<60}tracker {command}")


def _watch(ledger: Ledger) -> None:
    from tracker.history.snapshot_tables import watched_view

    _say(
        "3. When did it happen?",
        "Each week's own answers, watched for a change of alpha.",
    )
    print_result(None, view=watched_view(ledger.monitor(PROJECT, watch_for="change")))


def _compare(ledger: Ledger, title: str, one: str, other: str) -> None:
    from tracker.compare.tables import compare_causes_view

    _say(title, f"tracker compare {PROJECT} {_quoted(one)} {_quoted(other)}")
    print_result(None, view=compare_causes_view(ledger.compare(PROJECT, one, other)))


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text


def _verify(ledger: Ledger) -> None:
    found = ledger.verify(PROJECT)
    _say("7. Can the record be trusted?")
    say(
        f"{found.snapshots} snapshots: digests and seals as they were chained, and "
        f"{found.recomputed} counted again from the labels as they were known: "
        f"{len(found.faults)} faults."
    )
    last = list(ledger.history(PROJECT).snapshots)[-1]
    say(f"The digest of the last, the same on any database: {last.digest}")


_WEEKS = 4


def register(app: typer.Typer) -> None:
    """Add the command."""
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
    year: Annotated[
        bool,
        typer.Option("--year", help="Show a scripted year of a project instead (half a minute)."),
    ] = False,
) -> None:
    """Take a tour in a few seconds: import, assess, record and audit published examples.

    It goes to --database if that is given, else to a new file in this folder.

    Examples:
    - `tracker demo`
    - `tracker demo --year`

    Next: `tracker import answers.csv -p mine`
    """
    from tracker.ledger import Ledger

    given: str | None = context.find_root().params.get("database")
    if output is None and given is not None:
        ledger = ledger_of_command(context)
        at = quote(str(ledger.database))
        if ledger.projects.list() and not force:
            raise InvalidOption(
                f"{ledger.database} holds projects already", "to add to them: --force"
            )
    else:
        file = Path(output) if output is not None else _fresh_file()
        ledger, at = Ledger(f"sqlite:///{file}"), quote(str(file))
        if is_database_file(file) and not force:
            raise InvalidOption(
                f"{file} is a database already", "name another file, or add to this one: --force"
            )
    if year:
        demo_year_tour(ledger, at)
        _report(ledger, PROJECT)
        return
    _sandwich(ledger)
    _experiments(ledger)
    _turk(ledger)
    _crowd(ledger)
    _say("What now")
    say(f"All of this is in {at}. Look around in it:")
    for command in (
        "status",
        "agreement mixed",
        "agreement turk --by pair",
        "item show 'document 2' -p turk",
        "audit crowd --all",
        "history crowd",
    ):
        say(f"  tracker --database {at} {command}")
    _report(ledger, "crowd")
    say("Then your own answers, a row each with item, annotator and category:")
    say("  tracker import answers.csv --project mine")
    say("  tracker agreement mine")


def _fresh_file() -> Path:
    return _free(Path("tracker-demo.db"))


def _free(path: Path) -> Path:
    """Return a path that is free: this one, or the same with a number behind its name."""
    numbered = (path.with_name(f"{path.stem}-{n}{path.suffix}") for n in range(2, 1000))
    return next(one for one in (path, *numbered) if not one.exists())


def _report(ledger: Ledger, project: str) -> None:
    """Write a page about a project beside the database, and say to open it."""
    beside = ledger.database.file or Path("tracker-demo.db")
    file = _free(beside.with_suffix(".html"))
    with new_output_file(file) as made:
        made.write(report_file(ledger, project, "html"))
    say(f"A page about {project} to look at, and to send; open it: {file}")


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
        "yet where one of them said 'not', the other did so in 73% of the cases only.",
    )
    ledger.import_rows(demo_sandwich_rows(), "sandwich")
    print_result(None, view=agreement_view(ledger.agreement("sandwich")))
    ledger.snapshot("sandwich", name="as published")


def _experiments(ledger: Ledger) -> None:
    from tracker.render.cells import bar_cell, figure_cell, interval_cell
    from tracker.render.tables import table
    from tracker.simulate.crowds import simulate_experiment
    from tracker.simulate.demo.year import PUBLISHED_RATES

    _say(
        "2. Three experiments",
        "Three annotators, 1,000 items, three categories. In 'mixed' they agree on category 0,\n"
        "and one of them knows no category 2: an average would hide it.",
    )
    rows = []
    for name, published in PUBLISHED_RATES.items():
        ledger.import_rows(simulate_experiment(name, 1000, 0), name)
        found = ledger.agreement(name)
        rows += [
            (
                name,
                found.categories[rate.category],
                figure_cell(rate.rate),
                interval_cell(rate.ci_low, rate.ci_high),
                figure_cell(known),
                bar_cell(rate.rate),
            )
            for rate, known in zip(found.rates, published, strict=True)
        ]
    columns = ("experiment", "category", "rate", "95% interval", "published", "rate ")
    print_result(None, view=[table(columns, rows, names=2)])


def _turk(ledger: Ledger) -> None:
    from tracker.agreement.breakdown_tables import items_view, pairs_view
    from tracker.agreement.tables import agreement_view
    from tracker.audit.tables import audit_view
    from tracker.simulate.demo.year import demo_turk_files

    _say(
        "3. Eighteen workers, six reviews",
        "The Mechanical Turk experiment, rebuilt to be consistent with every published figure\n"
        "(the original table is a picture). Worker Q is always positive; is that proof?",
    )
    ledger.import_file(demo_turk_files(), "turk")
    print_result(None, view=agreement_view(ledger.agreement("turk")))
    pairs = [p for p in ledger.by_pair("turk").pairs if p.annotators == ("P", "Q")]
    print_result(None, view=[*pairs_view(pairs), items_view(ledger.by_item("turk"))])
    print_result(None, view=list(audit_view(ledger.audit("turk")))[:-1])


def _crowd(ledger: Ledger) -> None:
    from tracker.audit.tables import audit_view
    from tracker.history.tables import history_view
    from tracker.simulate.demo.year import demo_crowd_weeks

    _say(
        "4. The same question with enough answers, over four weeks",
        "A simulated crowd of thirteen, one of whom always answers 'positive'.",
    )
    for week, rows in enumerate(demo_crowd_weeks(_WEEKS, 60), 1):
        ledger.import_rows(rows, "crowd")
        ledger.snapshot("crowd", name=f"week {week}")
    print_result(None, view=history_view(ledger.overview("crowd")))
    print_result(None, view=audit_view(ledger.audit("crowd", record=True)))
