"""What is asked about the history of figures, and of snapshots, as every face asks for it."""

from __future__ import annotations

from typing import Annotated, Final, TypedDict

from tracker.agreement.asking import SHORT_NAMES, Computing, Measured
from tracker.core.operations import Option
from tracker.counts.choosing import Answers, Choosing

PERIODS: Final = ("day", "week", "month")


SHOWN: Final = {
    "measures": f"Show this measure (repeatable); {SHORT_NAMES}",
    "since": "With --every: start of the curve.",
    "until": "With --every: end of the curve.",
}
"""What options of figures mean to a history, by the names of parameters."""


class Curving(TypedDict, total=False):
    """A curve that is rebuilt from the labels' own times."""

    every: Annotated[
        str | None,
        Option(
            "Rebuild the curve from the labels' own times, with a point at the end of each period.",
            metavar="|".join(PERIODS), words=PERIODS, examples=("week",),
        ),
    ]  # fmt: skip
    window: Annotated[
        str,
        Option(
            "With --every: the answers behind each point: all up to it, those of the last days, or "
            "those of the items that most recently got a second answer.",
            "all", metavar="all|7d|last-500-items",
        ),
    ]  # fmt: skip
    interval: Annotated[
        str | None,
        Option("With --every: interval method, as in tracker agreement.", metavar="asymmetric|t"),
    ]


Last = Annotated[
    int,
    Option(
        "Number of rows in the table, 0 for all; JSON and CSV always have all.",
        40, metavar="N", least=0, faces=frozenset({"command"}),
    ),
]  # fmt: skip


class Watching(TypedDict, total=False):
    """What the course of the first measure is searched for."""

    trend: Annotated[
        bool,
        Option(
            "Report whether the first --measure (default: alpha) rises or falls and when its level "
            "changed, from each week's own answers, or each period's of --every.",
            False,
        ),
    ]
    watch_for: Annotated[
        str | None,
        Option("Report alarms for this change of its level.", metavar="drop|rise|change"),
    ]


class Settings(Computing, Choosing, total=False):
    """How the figures of a snapshot are computed, and of which answers."""


class HistoryAsked(Curving, Measured, Watching, Answers, total=False):
    """All that can be asked about the history of a project, of which people see the last rows."""

    last: Last
