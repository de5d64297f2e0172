"""A coefficient's formula with its numbers in it."""

from __future__ import annotations

from tracker.measures import MEASURES
from tracker.measures.coefficient import Coefficient


def with_numbers(figure: Coefficient) -> str:
    """Return how the numbers give the value, or why there is none."""
    if figure.value is None:
        return f"undefined: {MEASURES[figure.measure].undefined.get(figure.undefined or '', '')}"
    value = f"{figure.value:.6g}"
    if "expected_disagreement" in figure.details:
        within, overall = (
            figure.details[f"{part}_disagreement"] for part in ("observed", "expected")
        )
        return f"1 - {within:.6g} / {overall:.6g} = {value}"
    mean_of = {"percent_agreement": f"{figure.items:,} items", "light_kappa": "the pairs' kappas"}
    if figure.measure in mean_of:
        return f"mean of {mean_of[figure.measure]} = {value}"
    if "precision" in figure.details:
        return _harmonic_mean(figure)
    if figure.expected is None:
        return value
    chance = f"{figure.expected:.6g}"
    return f"({figure.observed:.6g} - {chance}) / (1 - {chance}) = {value}"


def _harmonic_mean(figure: Coefficient) -> str:
    """Return how an F1 follows from precision and recall."""
    precision, recall = figure.details["precision"], figure.details["recall"]
    if not figure.value:
        return "no true positive: 0"
    return (
        f"precision {precision:.6g}, recall {recall:.6g}: 2 x {precision:.6g} x {recall:.6g} "
        f"/ ({precision:.6g} + {recall:.6g}) = {figure.value:.6g}"
    )
