"""``tracker history``: figures over time, recorded or rebuilt, and what their course says."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli.context import (
    ProjectArgument,
    ledger_of_command,
    measure_option_names,
    with_project_argument,
)
from tracker.cli.options import CURVE, question_heading
from tracker.cli.output import Output, print_result
from tracker.cli.terminal import hint, warn
from tracker.core.errors import InvalidOption
from tracker.core.operations import LARGEST
from tracker.counts.choosing import Answers, answers_to_one

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracker.history.curve import Curve
    from tracker.history.monitor import Watched
    from tracker.history.snapshot import History
    from tracker.ledger import Ledger


_TREND_OF = "krippendorff_alpha"
_SHOWN = ("krippendorff_alpha", "percent_agreement")
"""The measures of a curve that people see if they name none."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    with_project_argument(app)(history)


@dataclass(frozen=True)
class _Asked:
    """What was asked of which project, and how to print the answer."""

    ledger: Ledger
    project: str
    every: str | None
    window: str
    measures: list[str]
    last: int
    answers: Answers
    interval: str | None
    output: Output

    @property
    def for_people(self) -> bool:
        return self.output.for_people

    def heading(self) -> Iterator[RenderableType]:
        """Yield the question, if the project asks several."""
        return question_heading(self.ledger, self.project, self.answers["questions"])

    def found(self) -> History | Curve:
        """Return all of the history that was asked for."""
        return self.ledger.history(
            self.project,
            self.every,
            window=self.window,
            measures=self.measures,
            interval=self.interval,
            **answers_to_one(self.answers),
        )


def history(
    context: typer.Context,
    project: ProjectArgument,
    every: Every = None,
    window: Window = "all",
    measure: Shown = None,
    last: Last = 40,
    interval: Intervals = None,
    trend: Trend = False,
    watch_for: WatchFor = None,
    *,
    answers: Annotated[Answers, CURVE],
    output: Output = Output(),
) -> None:
    """Show the curve of the recorded snapshots, or rebuild it from the labels.

    A snapshot keeps the selection it was taken with, so options that choose answers need --every.
    The curve joins snapshots with the same settings. docs/history.md explains trends and alarms,
    and how often they are false.

    Examples:
    - `tracker history reviews`
    - `tracker history reviews --every week`
    - `tracker history reviews --every day --window 7d --json`
    - `tracker history reviews --measure gwet_ac1 --measure percent_agreement`
    - `tracker history reviews --trend --watch-for drop`
    - `tracker history rubric --question tone`

    Next: `tracker compare reviews last~1 last`
    """
    if output.name == "csv" and (trend or watch_for is not None):
        raise InvalidOption("a trend has no rows for CSV", "use --json, or leave out --csv")
    measures = list(dict.fromkeys(measure or []))
    asked = _Asked(
        ledger_of_command(context),
        project,
        every,
        window,
        measures,
        last,
        answers,
        interval,
        output,
    )
    names = _several(asked) if not trend and watch_for is None else []
    if names:
        _by_question(asked, names)
        return
    watched = _watched(asked, trend, watch_for) if trend or watch_for is not None else None
    if asked.every is None:
        _recorded(asked, watched)
    else:
        _rebuilt(asked, asked.every, watched)
    if watched is not None:
        _around(asked, watched)


def _several(asked: _Asked) -> Sequence[str]:
    """Return the questions that a table of several is of; none for a page about one."""
    named = asked.answers["questions"]
    names = named or asked.ledger.question_names(asked.project)
    return names if len(names) > 1 else []


def _by_question(asked: _Asked, names: Sequence[str]) -> None:
    """Print the main figure of each question, a row for each snapshot or period."""
    from tracker.history.tables import history_by_question_view, snapshot_csv_rows

    found = asked.ledger.history_by_question(
        asked.project,
        asked.every,
        asked.window,
        measures=asked.measures,
        interval=asked.interval,
        **(asked.answers | {"questions": names}),
    )
    print_result(
        found.to_dict(),
        asked.output,
        rows=[
            {"question": name, **row}
            for name, one in found.questions.items()
            for row in snapshot_csv_rows(one.to_dict())
        ]
        + [one.to_dict() for one in found.unfit],
        view=history_by_question_view(found, asked.measures, asked.last),
    )
    words = shlex.join([asked.project, "--question", next(iter(found.questions))])
    hint(f"next: tracker history {words}")


def _watched(asked: _Asked, trends: bool, watch_for: str | None) -> Watched:
    """Return the course of the first measure."""
    return asked.ledger.monitor(
        asked.project,
        (asked.measures or [_TREND_OF])[0],
        asked.every or "week",
        trends=trends,
        watch_for=watch_for,
        **answers_to_one(asked.answers),
    )


def _recorded(asked: _Asked, watched: Watched | None) -> None:
    """Print the snapshots; of ten thousand, people see a page."""
    from tracker.history.tables import history_view

    if not asked.for_people:
        _print(asked, asked.found(), watched)
        return
    found = asked.ledger.overview(
        asked.project,
        measures=asked.measures,
        last=asked.last or None,
        window=asked.window,
        interval=asked.interval,
        **answers_to_one(asked.answers),
    )
    print_result(
        None, asked.output, view=[*asked.heading(), *history_view(found), *_sentences(watched)]
    )
    quoted = shlex.quote(asked.project)
    if len(found.shown) < found.total:
        warn(f"the last {len(found.shown):,} of {found.total:,}; for all: --last 0")
    if not found.total:
        hint(f"no snapshot yet: tracker snapshot {quoted}")
    elif watched is None and found.total == 1:
        hint(f"to draw a curve from the labels: tracker history {quoted} --every week")
    elif watched is None:
        hint(f"next: tracker compare {quoted} last~1 last")


def _rebuilt(asked: _Asked, every: str, watched: Watched | None) -> None:
    """Print the curve from the labels' own times."""
    from tracker.history.tables import curve_view

    if not asked.for_people:
        _print(asked, asked.found(), watched)
        return
    found = asked.ledger.history(
        asked.project,
        every,
        window=asked.window,
        measures=asked.measures or _SHOWN,
        interval=asked.interval,
        **answers_to_one(asked.answers),
    )
    print_result(
        None,
        asked.output,
        view=[
            *asked.heading(),
            *curve_view(found, asked.measures or _SHOWN, asked.last),
            *_sentences(watched),
        ],
    )
    total, quoted = len(found.points), shlex.quote(asked.project)
    if asked.last and asked.last < total:
        warn(f"the last {asked.last:,} of {total:,}; for all: --last 0")
    if not total:
        hint(f"no answer in that time: tracker status {quoted}")
    elif watched is None:
        hint(f"next: tracker history {quoted} --trend --watch-for drop")


def _print(asked: _Asked, found: History | Curve, watched: Watched | None) -> None:
    """Print all of it, for a program."""
    from tracker.history.tables import snapshot_csv_rows

    told = found.to_dict()
    if watched is not None:
        told |= watched.to_dict()
    print_result(told, asked.output, rows=snapshot_csv_rows(told))


def _sentences(watched: Watched | None) -> list[RenderableType]:
    from tracker.history.snapshot_tables import watched_view

    return [] if watched is None else list(watched_view(watched))


def _around(asked: _Asked, watched: Watched) -> None:
    """Print how to look into the last change."""
    from tracker.history.snapshot_tables import alarm_days_text

    days = alarm_days_text(watched)
    if days is not None:
        before, after = days
        hint(f"next: tracker compare {shlex.quote(asked.project)} ..{before} {after}..")


Every = Annotated[
    str | None,
    typer.Option(
        metavar="day|week|month",
        help="Rebuild the curve from the labels' own times, with a point at the "
        "end of each period.",
    ),
]
Window = Annotated[
    str,
    typer.Option(
        metavar="all|7d|last-500-items",
        help="With --every: the answers behind each point: all up to it, those of "
        "the last days, or those of the items that most recently got a "
        "second answer.",
    ),
]
Shown = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        metavar="NAME",
        callback=measure_option_names,
        help="Show this measure (repeatable); short names such as alpha and ac1 will do.",
    ),
]
Last = Annotated[
    int,
    typer.Option(
        "--last",
        metavar="N",
        min=0,
        max=LARGEST,
        help="Number of rows in the table, 0 for all; JSON and CSV always have all.",
    ),
]
Intervals = Annotated[
    str | None,
    typer.Option(
        "--interval",
        metavar="asymmetric|t",
        help="With --every: interval method, as in tracker agreement.",
    ),
]
Trend = Annotated[
    bool,
    typer.Option(
        "--trend",
        help="Report whether the first --measure (default: alpha) rises or falls "
        "and when its level changed, from each week's own answers, or each "
        "period's of --every.",
    ),
]
WatchFor = Annotated[
    str | None,
    typer.Option(metavar="drop|rise|change", help="Report alarms for this change of its level."),
]
