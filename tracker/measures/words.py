"""Words for figures: titles, reasons, readings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tracker.measures.benchmarks import benchmark_of, krippendorff_reading, landis_koch
from tracker.measures.intervals import NOT_APPLICABLE, TOO_FEW_ITEMS, WITHOUT_SPREAD, Coefficient
from tracker.measures.registry import MEASURES

REASONS: Final = {
    "no_overlap": "no item has two answers",
    "single_category": "all answers are one category",
    "too_few_items": "too few items",
    "too_few_annotators": "fewer than two annotators",
    "not_applicable": "does not apply to this project",
    "no_spread": "the figures do not vary",
}


def undefined_in_words(undefined: str | None) -> str:
    return REASONS.get(undefined or "", "")


def measure_title_words(measure: str) -> str:
    """Return a measure's name as people write it; that of one that is not known as it is."""
    return MEASURES[measure].title if measure in MEASURES else measure


def figure_title_words(figure: Mapping[str, Any]) -> str:
    """Return a measure's name with what else names the figure: weights, scale or distance.

    ``figure`` is a `Coefficient` as JSON.
    """
    words = [str(figure[name]) for name in ("scale", "distance") if name in figure]
    weights = figure.get("weights")
    if weights not in {None, "identity"}:
        words.append(f"{weights} weights")
    title = MEASURES[figure["measure"]].title
    return f"{title}, {', '.join(words)}" if words else title


def interval_undefined(figure: Coefficient) -> str | None:
    """Return why a figure with a value has no interval; None if it has one."""
    if figure.value is None or figure.ci_low is not None:
        return None
    if MEASURES[figure.measure].no_interval:
        return NOT_APPLICABLE
    return TOO_FEW_ITEMS if figure.standard_error is None else WITHOUT_SPREAD


def no_interval_words(measure: str, undefined: str) -> str:
    """Return a reason of `interval_undefined` in words."""
    never = MEASURES[measure].no_interval
    why = "its error is 0" if undefined == WITHOUT_SPREAD else undefined_in_words(undefined)
    return f"no interval: {never or why}"


def figure_reading_words(figure: Coefficient) -> str:
    """Return customary words for the value, or why there is none.

    In brackets the word that it deserves with 95% probability, if that is a lesser one.
    """
    if figure.value is None:
        reasons = MEASURES[figure.measure].undefined
        return reasons.get(figure.undefined or "", undefined_in_words(figure.undefined))
    about = MEASURES[figure.measure]
    unbounded = interval_undefined(figure)
    if unbounded is not None:
        return no_interval_words(figure.measure, unbounded)
    if about.share or about.needs == "documents":  # their size has no customary reading
        return ""
    plain = landis_koch(figure.value)
    sure = benchmark_of(figure).word
    if figure.standard_error == 0 and figure.ci_low is not None:
        sure = landis_koch(figure.ci_low)
    careful = ""
    if sure is not None and sure != plain:
        careful = " (may be poor)" if sure == "poor" else f" ({sure} at least)"
    return f"{plain}{careful}; {krippendorff_reading(figure.value)}"
