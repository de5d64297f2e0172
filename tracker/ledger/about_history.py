"""Answers about the course of figures as the faces give them: as JSON, as rows, and for people."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tracker.core.results import Answer
from tracker.counts.choosing import answers_to_one

if TYPE_CHECKING:
    from tracker.counts.choosing import Answers
    from tracker.history.asking import Curving, Watching
    from tracker.history.curve import Curve
    from tracker.history.monitor import Watched
    from tracker.history.snapshot import History
    from tracker.ledger import Ledger

_TREND_OF: Final = "krippendorff_alpha"
_SHOWN: Final = ("krippendorff_alpha", "percent_agreement")
"""The measures of a curve that people see if they name none."""


@dataclass(frozen=True)
class HistoryRequest:
    """What is asked about the history of a project, of which people see the ``last`` rows."""

    ledger: Ledger
    project: str
    curve: Curving
    watching: Watching
    measures: Sequence[str]
    answers: Answers
    last: int

    @property
    def is_watching(self) -> bool:
        """Whether a trend or alarms are asked for."""
        return self.watching["trend"] or self.watching["watch_for"] is not None

    def history(self) -> History | Curve:
        """Return all of the history of one question."""
        chosen = answers_to_one(self.answers)
        return self.ledger.history(self.project, measures=self.measures, **self.curve, **chosen)

    def watched(self) -> Watched | None:
        """Return the course of the first measure, if it is asked for."""
        if not self.is_watching:
            return None
        return self.ledger.monitor(
            self.project,
            (self.measures or [_TREND_OF])[0],
            self.curve["every"] or "week",
            trends=self.watching["trend"],
            watch_for=self.watching["watch_for"],
            **answers_to_one(self.answers),
        )


def history_answer(request: HistoryRequest, *, for_people: bool) -> Answer:
    """Return the snapshots or the curve of one question, or of each of several.

    People see the last rows only: ``for_people`` only they are read.
    """
    names = request.answers["questions"]
    if not request.is_watching and len(names) != 1:
        names = names or request.ledger.question_names(request.project)
        if len(names) > 1:
            return _each_question(request, names)
    watched = request.watched()
    if not for_people:
        history = request.history()
        return Answer(lambda: _json(history, watched), lambda: _rows(history, watched))
    every = request.curve["every"]
    view, warnings, hints = (
        _recorded(request, watched) if every is None else _rebuilt(request, every, watched)
    )
    if watched is not None:
        hints += _around(request, watched)
    return Answer(dict, tuple, lambda: view, warnings, hints=hints)


def _json(history: History | Curve, watched: Watched | None) -> dict[str, Any]:
    return history.to_dict() | ({} if watched is None else watched.to_dict())


def _rows(history: History | Curve, watched: Watched | None) -> list[dict[str, Any]]:
    from tracker.history.tables import snapshot_csv_rows

    return snapshot_csv_rows(_json(history, watched))


def _each_question(request: HistoryRequest, names: Sequence[str]) -> Answer:
    """Return the main figure of each question, a row for each snapshot or period."""
    from tracker.history.tables import history_by_question_view, snapshot_csv_rows

    answers = request.answers | {"questions": names}
    result = request.ledger.history_by_question(
        request.project, measures=request.measures, **request.curve, **answers
    )

    def rows() -> list[dict[str, Any]]:
        return [
            {"question": name, **row}
            for name, history in result.questions.items()
            for row in snapshot_csv_rows(history.to_dict())
        ] + [question.to_dict() for question in result.unfit]

    words = shlex.join([request.project, "--question", next(iter(result.questions))])
    return Answer(
        result.to_dict,
        rows,
        lambda: history_by_question_view(result, request.measures, request.last),
        hints=[f"next: tracker history {words}"],
    )


_Shown = tuple[list[Any], list[str], list[str]]


def _recorded(request: HistoryRequest, watched: Watched | None) -> _Shown:
    """Return what people see of the snapshots: of ten thousand, a page."""
    from tracker.history.tables import history_view

    overview = request.ledger.overview(
        request.project,
        measures=request.measures,
        last=request.last or None,
        window=request.curve["window"],
        interval=request.curve["interval"],
        **answers_to_one(request.answers),
    )
    project, hints = shlex.quote(request.project), []
    if not overview.total:
        hints = [f"no snapshot yet: tracker snapshot {project}"]
    elif watched is None and overview.total == 1:
        hints = [f"to draw a curve from the labels: tracker history {project} --every week"]
    elif watched is None:
        hints = [f"next: tracker compare {project} last~1 last"]
    view = [*history_view(overview), *_watched_view(watched)]
    return view, _cut(len(overview.shown), overview.total), hints


def _rebuilt(request: HistoryRequest, every: str, watched: Watched | None) -> _Shown:
    """Return what people see of the curve from the labels' own times."""
    from tracker.history.tables import curve_view

    measures = request.measures or _SHOWN
    curve = request.ledger.history(
        request.project,
        every,
        window=request.curve["window"],
        measures=measures,
        interval=request.curve["interval"],
        **answers_to_one(request.answers),
    )
    project, hints, points = shlex.quote(request.project), [], len(curve.points)
    if not points:
        hints = [f"no answer in that time: tracker status {project}"]
    elif watched is None:
        hints = [f"next: tracker history {project} --trend --watch-for drop"]
    view = [*curve_view(curve, measures, request.last), *_watched_view(watched)]
    return view, _cut(request.last or points, points), hints


def _cut(shown: int, total: int) -> list[str]:
    return [f"the last {shown:,} of {total:,}; for all: --last 0"] if shown < total else []


def _watched_view(watched: Watched | None) -> Iterable[Any]:
    from tracker.history.snapshot_tables import watched_view

    return () if watched is None else watched_view(watched)


def _around(request: HistoryRequest, watched: Watched) -> list[str]:
    """Return how to look into the last change."""
    from tracker.history.snapshot_tables import alarm_days_text

    days = alarm_days_text(watched)
    if days is None:
        return []
    return [f"next: tracker compare {shlex.quote(request.project)} ..{days[0]} {days[1]}.."]
