"""Figures over time in the terminal: their curves, then a row for each snapshot or period."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import RenderableType

from tracker.agreement.result import Assessment
from tracker.agreement.tables import undefined_line, unfit_questions_view
from tracker.history.by_question import AgreementByQuestion, HistoryByQuestion
from tracker.history.columns import (
    answers_of_snapshot,
    history_columns,
    moment_columns,
    period_columns,
    period_row,
    question_columns,
    snapshot_row,
)
from tracker.history.curve import Curve, Point
from tracker.history.overview import Overview
from tracker.history.plot import Figure, Plot, are_steady, day_cell, history_note_text
from tracker.history.snapshot import History, SnapshotRecord
from tracker.measures.registry import MEASURES
from tracker.measures.words import figure_reading_words, figure_title_words
from tracker.projects.notes import NoteInfo
from tracker.projects.questions import QuestionInfo
from tracker.render.blocks import listing_table
from tracker.render.cells import Text, level_cell, minute_cell
from tracker.render.filter import selection_view, selections_view
from tracker.render.nouns import count_noun

_NONE: Final[Figure] = (None, None)

_LAST, _MEASURES = 12, 4  # of a history in a notebook

_SHORT = {"krippendorff_alpha": "alpha", "percent_agreement": "raw agreement"}


def snapshot_csv_rows(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the JSON of a history as flat rows, one per snapshot, for CSV."""
    return [
        {key: snapshot[key] for key in ("snapshot", "name", "note", "taken_at", "as_of")}
        | {
            "selection": snapshot["selection"]
            and json.dumps(snapshot["selection"], ensure_ascii=False)
        }
        | snapshot["counts"]
        | {measure["measure"]: measure["value"] for measure in snapshot["measures"]}
        | {f"rate of {row['category']}": row["rate"] for row in snapshot["categories"]}
        | _own_csv_cells(snapshot.get("own"))
        for snapshot in payload["snapshots"]
    ]


def _own_csv_cells(own: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the figures of what came since the point before, and their intervals."""
    if own is None:
        return {}
    return {"own_items": own["items"], "own_answers": own["answers"]} | {
        "_".join(["own", figure["measure"], *end]): figure[name]
        for figure in own["measures"]
        for name, end in (("value", []), ("ci_low", ["ci_low"]), ("ci_high", ["ci_high"]))
    }


def recorded_history_view(history: History) -> Iterator[RenderableType]:
    """Yield the last snapshots of a history, oldest first."""
    total, shown = len(history.snapshots), history.snapshots[-_LAST:]
    earlier = f", the last {len(shown)}" if total > len(shown) else ""
    yield Text(f"{history.project}  {count_noun(total, 'snapshot')}{earlier}")
    if shown:
        measures = [measure.measure for measure in shown[-1].assessment.measures][:_MEASURES]
        rows = [snapshot_row(record, measures) for record in shown]
        yield listing_table(history_columns(measures), rows)


def snapshots_title(overview: Overview) -> Text:
    """Return the project's name, and how many snapshots it has."""
    thinned = f", {overview.thinned:,} more thinned out" if overview.thinned else ""
    return Text.assemble(
        (overview.project, "bold"), f"  {count_noun(overview.total, 'snapshot')}{thinned}"
    )


def history_view(overview: Overview) -> Iterator[RenderableType]:
    """Yield recorded snapshots: the parts of the page, in order."""
    yield snapshots_title(overview)
    own = overview.own
    yield _plot(
        overview.moments[-len(own) :] if own else (),
        {measure: _recorded_figures(overview, own, measure) for measure in overview.measures},
        overview.notes,
        overview.zone,
    )
    if overview.apart and len(overview.moments) > 1:
        yield Text(
            f"Not on the curve: {count_noun(overview.apart, 'snapshot')} "
            f"with other settings or answers.",
            style="dim",
        )
    if not overview.shown:
        return
    rows = [snapshot_row(record, overview.measures) for record in overview.shown]
    hidden = len(overview.shown) < overview.total
    noted = _with_notes(
        rows,
        overview.notes,
        hidden,
        lambda note: {"moment": note.at, "name": history_note_text(note)},
    )
    yield listing_table(history_columns(overview.measures), list(noted))


def curve_view(curve: Curve, measures: Sequence[str], last: int | None) -> Iterator[RenderableType]:
    """Yield a rebuilt curve: the parts of the page, in order; ``last`` rows, or all."""
    points, zone = curve.points, curve.zone
    window = "" if curve.window == "all" else f", of the last {curve.window} each"
    window = window.replace("last last-", "last ").replace("-items", " items")
    yield Text.assemble(
        (curve.project, "bold"),
        f"  {count_noun(len(points), curve.every)} from the labels{window}",
    )
    if not points:
        return
    yield from selection_view(points[-1].assessment.selection)
    moments = [point.moment for point in points]
    yield _plot(
        moments, {m: _figures([p.own for p in points], m) for m in measures}, curve.notes, zone
    )
    shown = points[-last:] if last else points
    hidden = len(shown) < len(points)
    rows = [
        {
            "moment": point.moment,
            "day": day_cell(point.moment, zone),
            **period_row(point.own, point.assessment, measures[0]),
        }
        for point in shown
    ]
    noted = _with_notes(
        rows,
        curve.notes,
        hidden,
        lambda note: {"day": day_cell(note.at, zone), "note": history_note_text(note)},
    )
    of_all = "so far" if curve.window == "all" else curve.window.replace("-", " ")
    level = level_cell(points[-1].own.main.confidence)
    yield listing_table(period_columns(curve.every, measures, level, of_all), list(noted))


def _recorded_figures(
    overview: Overview, own: Sequence[Assessment | None], measure: str
) -> list[Figure]:
    """Return the figures of what came since the snapshot before; those of all if there are none."""
    figures = _figures([assessment for assessment in own if assessment is not None], measure)
    if len(figures) == len(own) and any(value is not None for value, _ in figures[1:]):
        return figures
    return [(value, None) for value in overview.values[measure][-len(own) :]]


def _figures(assessments: Iterable[Assessment], measure: str) -> list[Figure]:
    """Return a measure's values with their errors, point by point."""
    return [
        next(
            ((m.value, m.standard_error) for m in assessment.measures if m.measure == measure),
            _NONE,
        )
        for assessment in assessments
    ]


def _plot(
    moments: Sequence[int],
    figures: Mapping[str, Sequence[Figure]],
    notes: Sequence[NoteInfo],
    zone: str | None = None,
) -> Plot:
    titles = {measure: _SHORT.get(measure, MEASURES[measure].title) for measure in figures}
    curves = {titles[measure]: [value for value, _ in curve] for measure, curve in figures.items()}
    steady = {titles[measure] for measure, curve in figures.items() if are_steady(curve)}
    return Plot(moments, curves, notes, zone, steady)


def _with_notes(
    rows: Sequence[Mapping[str, Any]],
    notes: Iterable[NoteInfo],
    hidden: bool,
    row_of: Callable[[NoteInfo], dict[str, Any]],
) -> Iterator[Mapping[str, Any]]:
    """Yield the rows, and between them the notes; none older than hidden rows."""
    left = [note for note in notes if not hidden or note.at > rows[0]["moment"]]
    for row in rows:
        while left and left[0].at <= row["moment"]:
            yield row_of(left.pop(0))
        yield row
    yield from map(row_of, left)


# -- The questions of a project in one table, the weakest first -----------------------------------


def agreement_by_question_view(
    agreement: AgreementByQuestion,
) -> Iterator[RenderableType]:
    """Yield a row per question: its main figure, its weakest category, what changed."""
    first = agreement.questions[0]
    number = count_noun(len(agreement.questions) + len(agreement.unfit), "question")
    yield Text.assemble((agreement.project, "bold"), f"  {number}, weakest first")
    yield from selections_view(
        {question.question.name: question.assessment.selection for question in agreement.questions}
    )
    rows = [
        question.row()
        | {
            "kind": question_kind_text(question.question),
            "measure": figure_title_words(question.main.to_dict()),
        }
        for question in agreement.questions
    ]
    yield listing_table(question_columns(level_cell(first.main.confidence)), rows)
    for question in agreement.questions:
        if question.main.value is None:
            yield undefined_line(question.question.name, figure_reading_words(question.main))
    yield from unfit_questions_view(agreement.unfit)
    yield Text("Change: since the last snapshot of the same choice of answers.", style="dim")


def history_by_question_view(
    histories: HistoryByQuestion, measures: Sequence[str], last: int | None
) -> Iterator[RenderableType]:
    """Yield a row per moment with the main figure of each question, the ``last`` rows or all."""
    number = count_noun(len(histories.questions) + len(histories.unfit), "question")
    yield Text.assemble((histories.project, "bold"), f"  {number}")
    measure_of: dict[str, str] = {}
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for name, history in histories.questions.items():
        for point in history:
            assessment = point.own if isinstance(point, Point) else point.assessment
            known = {measure.measure: measure for measure in assessment.measures}
            main = known.get(measures[0]) if measures else assessment.main
            when = _when(point)
            row = rows.setdefault(when, dict(zip(("as_of", "snapshot"), when, strict=True)))
            if isinstance(point, SnapshotRecord):
                row["selection"] = answers_of_snapshot(point)
            if main is not None:
                row[f"figure of {name}"] = main.value
                measure_of.setdefault(name, f"{name}: {MEASURES[main.measure].title}")
    shown = sorted(rows)[-last:] if last else sorted(rows)
    titles = {name: measure_of.get(name, name) for name in histories.questions}
    yield listing_table(moment_columns(titles), [rows[when] for when in shown])
    yield from unfit_questions_view(histories.unfit)


def _when(point: SnapshotRecord | Point) -> tuple[str, int]:
    """Return what questions have in common: a snapshot's minute and number, or a period's day."""
    if isinstance(point, SnapshotRecord):
        return minute_cell(point.moment), point.id
    return day_cell(point.moment), 0


def question_kind_text(question: QuestionInfo) -> str:
    """Return how a question is answered: its scale, or that an answer has several labels."""
    return question.scale if question.answers == "one" else question.answers
