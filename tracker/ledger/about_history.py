"""Answers about the course of figures as the faces give them: as JSON, as rows, and for people."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from tracker.core.errors import InvalidOption
from tracker.core.operations import part_of
from tracker.core.results import Answer
from tracker.counts.choosing import Choosing, answers_to_one
from tracker.history.asking import Curving

if TYPE_CHECKING:
    from tracker.history.asking import HistoryAsked
    from tracker.history.by_question import HistoryByQuestion
    from tracker.history.curve import Curve
    from tracker.history.monitor import Watched
    from tracker.history.snapshot import History
    from tracker.ledger import Ledger

_TREND_OF: Final = "krippendorff_alpha"
_SHOWN: Final = ("krippendorff_alpha", "percent_agreement")
"""The measures of a curve that people see if they name none."""


@dataclass(frozen=True)
class HistoryRequest:
    """What is asked about the history of a project."""

    ledger: Ledger
    project: str
    asked: HistoryAsked

    @property
    def is_watching(self) -> bool:
        """Whether a trend or alarms are asked for."""
        return self.asked["trend"] or self.asked["watch_for"] is not None

    def history(self, measures: Sequence[str]) -> History | Curve:
        """Return all of the history of one question."""
        curve: Curving = part_of(Curving, self.asked)
        chosen = answers_to_one(self.asked)
        return self.ledger.history(self.project, measures=measures, **curve, **chosen)

    def watched(self) -> Watched | None:
        """Return the course of the first measure, if it is asked for."""
        if not self.is_watching:
            return None
        return self.ledger.monitor(
            self.project,
            (self.asked["measures"] or [_TREND_OF])[0],
            self.asked["every"] or "week",
            trends=self.asked["trend"],
            watch_for=self.asked["watch_for"],
            **answers_to_one(self.asked),
        )


def history_answer(
    ledger: Ledger, project: str, asked: HistoryAsked, *, for_people: bool
) -> Answer:
    """Return the snapshots or the curve of one question, or of each of several.

    People see the last rows only: ``for_people`` only they are read.
    """
    request, names = HistoryRequest(ledger, project, asked), asked["questions"]
    if not request.is_watching and len(names) != 1:
        names = names or ledger.question_names(project)
        if len(names) > 1:
            return _each_question(request, names)
    if not for_people:

        def payload() -> dict[str, Any]:
            watched, history = request.watched(), request.history(asked["measures"])
            return history.to_dict() | ({} if watched is None else watched.to_dict())

        return Answer(payload, lambda: _rows(request, payload))
    watched = request.watched()
    every = asked["every"]
    view, warnings, hints = (
        _recorded(request, watched) if every is None else _rebuilt(request, watched)
    )
    if watched is not None:
        hints += _around(request, watched)
    return Answer(dict, tuple, lambda: view, warnings, hints=hints)


def _rows(request: HistoryRequest, payload: Callable[[], dict[str, Any]]) -> list[dict[str, Any]]:
    from tracker.history.tables import snapshot_csv_rows

    if request.is_watching:
        raise InvalidOption("a trend has no rows for CSV", "use --json, or leave out --csv")
    return snapshot_csv_rows(payload())


def _each_question(request: HistoryRequest, names: Sequence[str]) -> Answer:
    """Return the main figure of each question, a row for each snapshot or period."""
    from tracker.history.tables import history_by_question_view

    asked, measures = request.asked, request.asked["measures"]
    curve: Curving = part_of(Curving, asked)
    chosen: Choosing = part_of(Choosing, asked)
    result = request.ledger.history_by_question(
        request.project, measures=measures, questions=names, **curve, **chosen
    )
    words = shlex.join([request.project, "--question", next(iter(result.questions))])
    return Answer(
        result.to_dict,
        lambda: _rows_by_question(result),
        lambda: history_by_question_view(result, measures, asked["last"]),
        hints=[f"next: tracker history {words}"],
    )


def _rows_by_question(result: HistoryByQuestion) -> list[dict[str, Any]]:
    from tracker.history.tables import snapshot_csv_rows

    return [
        {"question": name, **row}
        for name, history in result.questions.items()
        for row in snapshot_csv_rows(history.to_dict())
    ] + [question.to_dict() for question in result.unfit]


def snapshots_answer(ledger: Ledger, project: str, last: int | None, *, for_people: bool) -> Answer:
    """Return the snapshots with their counts, or of several questions the main figure of each."""
    from tracker.history.snapshot_tables import snapshots_by_question_view, snapshots_view
    from tracker.history.tables import snapshot_csv_rows

    quoted = shlex.quote(project)
    shown = [f"next: tracker snapshots show {quoted} last"]
    if len(ledger.question_names(project)) > 1:
        result = ledger.history_by_question(project)
        return Answer(
            result.to_dict,
            lambda: _rows_by_question(result),
            lambda: snapshots_by_question_view(result, last),
            hints=shown,
        )
    if not for_people:
        payload = ledger.history(project).to_dict()
        return Answer(lambda: payload, lambda: snapshot_csv_rows(payload))
    overview = ledger.overview(project, last=last)
    return Answer(
        dict,
        tuple,
        lambda: snapshots_view(overview),
        _cut(len(overview.shown), overview.total),
        hints=shown
        if overview.total
        else [f"no snapshot yet: tracker snapshot {shlex.quote(project)}"],
    )


_Shown = tuple[list[Any], list[str], list[str]]


def _recorded(request: HistoryRequest, watched: Watched | None) -> _Shown:
    """Return what people see of the snapshots: of ten thousand, a page."""
    from tracker.history.tables import history_view

    overview = request.ledger.overview(
        request.project,
        measures=request.asked["measures"],
        last=request.asked["last"] or None,
        window=request.asked["window"],
        interval=request.asked["interval"],
        **answers_to_one(request.asked),
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


def _rebuilt(request: HistoryRequest, watched: Watched | None) -> _Shown:
    """Return what people see of the curve from the labels' own times."""
    from tracker.history.tables import curve_view

    measures, last = request.asked["measures"] or _SHOWN, request.asked["last"]
    curve = cast("Curve", request.history(measures))
    project, hints, points = shlex.quote(request.project), [], len(curve.points)
    if not points:
        hints = [f"no answer in that time: tracker status {project}"]
    elif watched is None:
        hints = [f"next: tracker history {project} --trend --watch-for drop"]
    view = [*curve_view(curve, measures, last), *_watched_view(watched)]
    return view, _cut(last or points, points), hints


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
