"""Options of commands about figures over time."""

from __future__ import annotations

from typing import Annotated

import typer

from tracker.cli.context import full_names
from tracker.cli.project_options import LARGEST

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
        callback=full_names,
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
