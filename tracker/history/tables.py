"""Figures over time in the terminal: their curves, then a row for each snapshot or period."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, TypeAlias

from rich.console import RenderableType

from tracker.agreement.result import Assessment
from tracker.agreement.tables import _undefined_line, unfit_questions_view
from tracker.history.by_question import AgreementByQuestion, HistoryByQuestion, QuestionAgreement
from tracker.history.curve import Curve, Point
from tracker.history.overview import Overview
from tracker.history.plot import Figure, Plot, are_steady, day_cell, history_note_text
from tracker.history.snapshot import History, SnapshotRecord
from tracker.measures.intervals import Coefficient
from tracker.measures.registry import MEASURES
from tracker.measures.words import figure_reading_words, figure_title_words
from tracker.projects.notes import NoteInfo
from tracker.projects.questions import QuestionInfo
from tracker.render.cells import (
    Text,
    count_cell,
    figure_cell,
    interval_cell,
    level_cell,
    minute_cell,
)
from tracker.render.filter import selection_in_words, selection_view, selections_view
from tracker.render.nouns import count_noun
from tracker.render.tables import table

Row: TypeAlias = tuple[str, ...]
_NONE: Final[Figure] = (None, None)

_LAST, _MEASURES = 12, 4  # of a history in a notebook

_SHORT = {"krippendorff_alpha": "alpha", "percent_agreement": "raw agreement"}
_SHORTER = _SHORT | {"percent_agreement": "raw"}


def snapshot_csv_rows(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the JSON of a history as flat rows, one per snapshot, for CSV."""
    return [
        {key: one[key] for key in ("snapshot", "name", "note", "taken_at", "as_of")}
        | {"selection": one["selection"] and json.dumps(one["selection"], ensure_ascii=False)}
        | one["counts"]
        | {measure["measure"]: measure["value"] for measure in one["measures"]}
        | {f"rate of {row['category']}": row["rate"] for row in one["categories"]}
        | _own_csv_cells(one.get("own"))
        for one in payload["snapshots"]
    ]


def _own_csv_cells(own: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the figures of what came since the point before, and their intervals."""
    if own is None:
        return {}
    return {"own_items": own["items"], "own_answers": own["answers"]} | {
        "_".join(["own", one["measure"], *end]): one[name]
        for one in own["measures"]
        for name, end in (("value", []), ("ci_low", ["ci_low"]), ("ci_high", ["ci_high"]))
    }


def recorded_history_view(history: History) -> Iterator[RenderableType]:
    """Yield the last snapshots of a history, oldest first."""
    total, shown = len(history.snapshots), history.snapshots[-_LAST:]
    earlier = f", the last {len(shown)}" if total > len(shown) else ""
    yield Text(f"{history.project}  {count_noun(total, 'snapshot')}{earlier}")
    if shown:
        measures = [measure.measure for measure in shown[-1].assessment.measures][:_MEASURES]
        yield table(
            ("snapshot", "as of ", "name ", *history_figure_titles(measures)),
            [_snapshot(one, measures, False) for one in shown],
        )


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
    chosen = any(answers_of_snapshot(one) for one in overview.shown)
    new = _new_titles(overview)
    titles = ("snapshot", "as of ", "name ", *history_figure_titles(overview.measures), *new)
    rows = [
        (
            one.moment,
            _snapshot(
                one, overview.measures, chosen, _new_cells(one, overview.measures[0]) if new else ()
            ),
        )
        for one in overview.shown
    ]
    hidden = len(overview.shown) < overview.total
    yield table(
        (*titles, "only answers ") if chosen else titles,
        _with_notes(
            rows,
            overview.notes,
            hidden,
            lambda note: ("", minute_cell(note.at), history_note_text(note)),
        ),
    )


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
    noted = any(note.at > shown[0].moment or not hidden for note in curve.notes)
    rows = [
        (one.moment, (day_cell(one.moment, zone), *_blank(noted), *_point_cells(one, measures)))
        for one in shown
    ]
    of_all = "so far" if curve.window == "all" else curve.window.replace("-", " ")
    note = ["note "] if noted else []
    titles = (f"{curve.every} to ", *note, *_point_titles(points[-1], measures, of_all))
    yield table(
        titles,
        _with_notes(
            rows,
            curve.notes,
            hidden,
            lambda note: (day_cell(note.at, zone), history_note_text(note)),
        ),
    )


def _point_titles(point: Point, measures: Sequence[str], of_all: str) -> Row:
    """Return the titles of `_point_cells`; ``of_all`` is that of the figures beside a period's."""
    titles = [(_SHORTER.get(measure, MEASURES[measure].title), of_all) for measure in measures]
    level = f"{level_cell(point.own.main.confidence)} interval"
    return ("items", "answers", *_with_interval(titles, level), "weakest ", "rate")


def _point_cells(point: Point, measures: Sequence[str]) -> Row:
    """Return the figures of a period's own items, beside them the measures of all.

    The first has its interval.
    """
    own = {measure.measure: measure for measure in point.own.measures}
    lowest, first = point.own.summary.lowest, own[measures[0]]
    figures = [
        (
            figure_cell(own[measure].value),
            figure_cell(history_measure_value(point.assessment, measure)),
        )
        for measure in measures
    ]
    return (
        count_cell(point.own.counts.items),
        count_cell(point.own.counts.answers),
        *_with_interval(figures, interval_cell(first.ci_low, first.ci_high)),
        "" if lowest is None else point.own.categories[lowest.category],
        figure_cell(None if lowest is None else lowest.rate),
    )


def _with_interval(cells: Sequence[tuple[str, str]], interval: str) -> Iterator[str]:
    """Yield cells in pairs, an interval behind the first cell of all."""
    first, *others = chain.from_iterable(cells)
    yield from (first, interval, *others)


def _recorded_figures(
    overview: Overview, own: Sequence[Assessment | None], measure: str
) -> list[Figure]:
    """Return the figures of what came since the snapshot before; those of all if there are none."""
    figures = _figures([one for one in own if one is not None], measure)
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


def _blank(wanted: bool) -> tuple[str, ...]:
    return ("",) if wanted else ()


def _plot(
    moments: Sequence[int],
    figures: Mapping[str, Sequence[Figure]],
    notes: Sequence[NoteInfo],
    zone: str | None = None,
) -> Plot:
    titles = {measure: _SHORT.get(measure, MEASURES[measure].title) for measure in figures}
    curves = {titles[one]: [value for value, _ in curve] for one, curve in figures.items()}
    steady = {titles[measure] for measure, curve in figures.items() if are_steady(curve)}
    return Plot(moments, curves, notes, zone, steady)


def _with_notes(
    rows: Sequence[tuple[int, Row]], notes: Iterable[NoteInfo], hidden: bool, told: Any
) -> Iterator[Row]:
    """Yield the rows, and between them the notes; none older than hidden rows."""
    first, width = rows[0][0], len(rows[0][1])
    left = [note for note in notes if not hidden or note.at > first]
    for moment, row in rows:
        while left and left[0].at <= moment:
            yield _widened(told(left.pop(0)), width)
        yield row
    for note in left:
        yield _widened(told(note), width)


def _widened(row: Row, width: int) -> Row:
    return (*row, *[""] * (width - len(row)))


def history_measure_value(assessment: Assessment, measure: str) -> float | None:
    """Return a measure's value; None where there is none."""
    return next((one.value for one in assessment.measures if one.measure == measure), None)


def history_figure_titles(measures: Sequence[str]) -> Row:
    """Return the titles of `history_figure_cells`."""
    named = [_SHORTER.get(measure, MEASURES[measure].title) for measure in measures]
    return ("items", "answers", "annotators", *named, "weakest ", "rate")


def history_figure_cells(assessment: Assessment, measures: Sequence[str]) -> Row:
    """Return the figures of a row: counts, measures, the weakest category."""
    lowest = assessment.summary.lowest
    return (
        count_cell(assessment.counts.items),
        count_cell(assessment.counts.answers),
        count_cell(assessment.counts.annotators),
        *(figure_cell(history_measure_value(assessment, measure)) for measure in measures),
        "" if lowest is None else assessment.categories[lowest.category],
        figure_cell(None if lowest is None else lowest.rate),
    )


def answers_of_snapshot(one: SnapshotRecord) -> str:
    """Return which answers a snapshot is of, but for the moment, which is told beside it."""
    selection = one.assessment.selection
    if selection is None:
        return ""
    return selection_in_words({**selection, "as_of": None, "known_at": None})


def _snapshot(one: SnapshotRecord, measures: Sequence[str], chosen: bool, new: Row = ()) -> Row:
    cells = history_figure_cells(one.assessment, measures)
    words = [answers_of_snapshot(one)] if chosen else []
    return (str(one.id), minute_cell(one.moment), one.name or "", *cells, *new, *words)


def _new_titles(overview: Overview) -> Row:
    """Return the titles of `_new_cells`; none of spans."""
    return ("new items", "of new") if any(one.own for one in overview.shown) else ()


def _new_cells(one: SnapshotRecord, measure: str) -> Row:
    """Return the items that came since the snapshot before, and the first figure of them."""
    if one.own is None:
        return ("-", "-")
    value = history_measure_value(one.own, measure)
    return (count_cell(one.own.counts.items), figure_cell(value))


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
    columns = (
        "question",
        "kind ",
        "items",
        "measure ",
        "value",
        f"{level_cell(first.main.confidence)} interval",
        "weakest category",
        "rate",
        "change",
        "findings",
    )
    yield table(columns, [_row(question) for question in agreement.questions])
    for question in agreement.questions:
        if question.main.value is None:
            yield _undefined_line(question.question.name, figure_reading_words(question.main))
    yield from unfit_questions_view(agreement.unfit)
    yield Text("Change: since the last snapshot of the same choice of answers.", style="dim")


def history_by_question_view(
    histories: HistoryByQuestion, measures: Sequence[str], last: int | None
) -> Iterator[RenderableType]:
    """Yield a row per moment with the main figure of each question, the ``last`` rows or all."""
    number = count_noun(len(histories.questions) + len(histories.unfit), "question")
    yield Text.assemble((histories.project, "bold"), f"  {number}")
    figures: dict[tuple[str, int], dict[str, Coefficient]] = {}
    chosen: dict[tuple[str, int], str] = {}
    for name, history in histories.questions.items():
        for point in history:
            assessment = point.own if isinstance(point, Point) else point.assessment
            known = {measure.measure: measure for measure in assessment.measures}
            main = known.get(measures[0]) if measures else assessment.main
            row = figures.setdefault(_when(point), {})
            if isinstance(point, SnapshotRecord) and (answers := answers_of_snapshot(point)):
                chosen[_when(point)] = answers
            if main is not None:
                row[name] = main
    shown = sorted(figures)[-last:] if last else sorted(figures)
    titles = [_title(name, figures.values()) for name in histories.questions]
    selected = ["only answers "] if any(when in chosen for when in shown) else []
    rows = [
        (
            when[0],
            str(when[1] or "-"),
            *(
                figure_cell(figures[when][name].value) if name in figures[when] else ""
                for name in histories.questions
            ),
            *(chosen.get(when, "") for _ in selected),
        )
        for when in shown
    ]
    yield table(("as of ", "snapshot", *titles, *selected), rows)
    yield from unfit_questions_view(histories.unfit)


def _when(point: SnapshotRecord | Point) -> tuple[str, int]:
    """Return what questions have in common: a snapshot's minute and number, or a period's day."""
    if isinstance(point, SnapshotRecord):
        return minute_cell(point.moment), point.id
    return day_cell(point.moment), 0


def _title(name: str, figures: Iterable[Mapping[str, Coefficient]]) -> str:
    """Return a question's name with the measure that its column shows."""
    known = (MEASURES[row[name].measure].title for row in figures if name in row)
    measure = next(known, None)
    return name if measure is None else f"{name}: {measure}"


def question_kind_text(question: QuestionInfo) -> str:
    """Return how a question is answered: its scale, or that an answer has several labels."""
    return question.scale if question.answers == "one" else question.answers


def _row(one: QuestionAgreement) -> tuple[str, ...]:
    lowest = one.assessment.summary.lowest
    main = one.main
    return (
        one.question.name,
        question_kind_text(one.question),
        count_cell(one.assessment.counts.items_compared),
        figure_title_words(main),
        figure_cell(main.value),
        interval_cell(main.ci_low, main.ci_high),
        "-" if lowest is None else one.assessment.categories[lowest.category],
        figure_cell(None if lowest is None else lowest.rate),
        "-" if one.change is None else f"{one.change:+.3f}",
        count_cell(one.findings),
    )
