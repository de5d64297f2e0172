"""Calibration of confidences in the terminal and as flat rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType

from tracker.agreement.gold import GOLD, Calibrations
from tracker.core.results import ByQuestion
from tracker.measures.accuracy import Calibration
from tracker.render.agreement import unfit_questions_view
from tracker.render.cells import Text, bar_cell, count_cell, figure_cell, share_cell
from tracker.render.filter import selection_view, selections_view
from tracker.render.tables import table


def calibration_csv_rows(found: Calibrations) -> list[dict[str, Any]]:
    """Return a flat row for each bin of each annotator, and of all, whose name is empty."""
    rows = []
    for name, kind, one in [*found.annotators, (None, None, found.pooled)]:
        figures = {k: v for k, v in one.to_dict().items() if k in _WHOLE}
        rows += [
            {"annotator": name, "kind": kind, **figures, **each.to_dict()} for each in one.bins
        ]
    return rows


_WHOLE = ("brier_score", "expected_calibration_error")


def calibration_by_question_csv_rows(found: ByQuestion[Calibrations]) -> list[dict[str, Any]]:
    """Return the rows of each question, then a row for each that has none and why."""
    rows = [
        {"question": name, **row}
        for name, one in found.questions.items()
        for row in calibration_csv_rows(one)
    ]
    return rows + [one.to_dict() for one in found.unfit]


def calibration_by_question_view(found: ByQuestion[Calibrations]) -> Iterator[RenderableType]:
    """Yield a row per question, the worst calibrated first: all of its annotators pooled."""
    first = next(iter(found.questions.values()))
    yield Text.assemble((found.project, "bold"), f"  confidence against {_truth(first)}")
    yield from selections_view({name: one.selection for name, one in found.questions.items()})
    yield table(
        ("question", *_FIGURES, "worst annotator", "its ECE"),
        [(name, *_cells(one.pooled), *_worst(one)) for name, one in found.questions.items()],
    )
    yield from unfit_questions_view(found.unfit)


def _worst(found: Calibrations) -> tuple[str, str]:
    if not found.annotators:
        return "-", "-"
    worst = found.annotators[0]
    return worst.annotator, figure_cell(worst.calibration.expected_calibration_error)


_FIGURES = ("answers", "confidence", "right", "Brier score", "ECE")


def _cells(one: Calibration) -> tuple[str, ...]:
    return (
        count_cell(one.answers),
        share_cell(one.confidence),
        share_cell(one.accuracy),
        figure_cell(one.brier_score),
        figure_cell(one.expected_calibration_error),
    )


def _truth(found: Calibrations) -> str:
    return "the reference" if found.against == GOLD else "the majority of the others"


def calibration_view(found: Calibrations) -> Iterator[RenderableType]:
    """Yield a row per annotator, the worst calibrated first, and the reliability table of all."""
    truth = _truth(found)
    yield Text.assemble((found.project, "bold"), f"  confidence against {truth}")
    yield from selection_view(found.selection)
    if not found.pooled.answers:
        yield Text(f"No answer with a confidence can be compared with {truth}.")
        return
    yield table(
        ("annotator", "kind ", *_FIGURES),
        [
            (name, kind, *_cells(one))
            for name, kind, one in [*found.annotators, ("all", "", found.pooled)]
        ],
    )
    yield table(
        ("confidence", "answers", "mean", "right", " "),
        [
            (
                f"{one.low:.1f} to {one.high:.1f}",
                count_cell(one.answers),
                share_cell(one.confidence),
                share_cell(one.accuracy),
                bar_cell(one.accuracy),
            )
            for one in found.pooled.bins
        ],
    )
