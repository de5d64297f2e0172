"""``tracker demo --year``: a scripted year of a project, and what its record tells of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from tracker.cli.output import print_result
from tracker.cli.terminal import progress_bars_wanted, say

if TYPE_CHECKING:
    from tracker.ledger import Ledger
    from tracker.simulate.demo.year import Week


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


def _say(title: str, text: str = "") -> None:
    say()
    say(title, bold=True)
    if text:
        say(text)


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
