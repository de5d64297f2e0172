"""``tracker demo``: the whole tour on built-in data."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.context import ledger_of_command
from tracker.cli.demo_year import PROJECT, demo_year_tour
from tracker.cli.output import print_result
from tracker.cli.output_files import is_database_file, new_output_file
from tracker.cli.report import report_file
from tracker.cli.terminal import say
from tracker.core.errors import InvalidOption

if TYPE_CHECKING:
    from tracker.ledger import Ledger


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
