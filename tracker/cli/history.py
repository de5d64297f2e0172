"""``tracker history``: figures over time, recorded or rebuilt, and what their course says."""

from __future__ import annotations

from typing import Annotated

import typer

from tracker.agreement.asking import Measured
from tracker.cli.context import ProjectArgument, ledger_of_command, with_project_argument
from tracker.cli.options import CURVE, question_heading
from tracker.cli.output import Output, print_answer
from tracker.core.errors import InvalidOption
from tracker.core.operations import LARGEST
from tracker.counts.choosing import Answers
from tracker.history.asking import Curving, Watching

SHOWN_MEASURE = "Show this measure (repeatable); short names such as alpha and ac1 will do."

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


def register(app: typer.Typer) -> None:
    """Add the command."""
    with_project_argument(app)(history)


def history(
    context: typer.Context,
    project: ProjectArgument,
    curve: Curving,
    measured: Annotated[Measured, {"measures": SHOWN_MEASURE}],
    watching: Watching,
    answers: Annotated[Answers, CURVE],
    last: Last = 40,
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
    from tracker.ledger.about_history import HistoryRequest, history_answer

    ledger = ledger_of_command(context)
    request = HistoryRequest(ledger, project, curve, watching, measured["measures"], answers, last)
    if output.name == "csv" and request.is_watching:
        raise InvalidOption("a trend has no rows for CSV", "use --json, or leave out --csv")
    answer = history_answer(request, for_people=output.for_people)
    print_answer(answer, output, question_heading(ledger, project, answers["questions"]))
