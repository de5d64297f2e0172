"""Calibration of confidences in the terminal and as flat rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType

from tracker.agreement.calibration import GOLD, Calibrations
from tracker.render.cells import Text, bar_cell, count_cell, figure_cell, share_cell
from tracker.render.filter import selection_view
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


def calibration_view(found: Calibrations) -> Iterator[RenderableType]:
    """Yield a row per annotator, the worst calibrated first, and the reliability table of all."""
    truth = "the reference" if found.against == GOLD else "the majority of the others"
    yield Text.assemble((found.project, "bold"), f"  confidence against {truth}")
    yield from selection_view(found.selection)
    if not found.pooled.answers:
        yield Text(f"No answer with a confidence can be compared with {truth}.")
        return
    yield table(
        ("annotator", "kind ", "answers", "confidence", "right", "Brier score", "ECE"),
        [
            (
                name,
                kind,
                count_cell(one.answers),
                share_cell(one.confidence),
                share_cell(one.accuracy),
                figure_cell(one.brier_score),
                figure_cell(one.expected_calibration_error),
            )
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
