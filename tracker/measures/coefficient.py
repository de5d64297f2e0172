"""What every measure returns: a value with its error, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tracker.measures.intervals import bounds_without_spread, check_confidence, interval

__all__ = [
    "NOT_APPLICABLE",
    "NO_OVERLAP",
    "SINGLE_CATEGORY",
    "TOO_FEW_ANNOTATORS",
    "TOO_FEW_ITEMS",
    "Coefficient",
    "estimate",
    "interval",
    "single_category",
]

NO_OVERLAP: Final = "no_overlap"  # no item has two answers, so there is nothing to compare
SINGLE_CATEGORY: Final = "single_category"  # expected agreement is 1: chance explains it all
TOO_FEW_ITEMS: Final = "too_few_items"
TOO_FEW_ANNOTATORS: Final = "too_few_annotators"
NOT_APPLICABLE: Final = "not_applicable"  # the measure is not defined for this kind of project

# Below this a standard error is the rounding of a zero. A real one is far greater: a single
# disagreement among ten million items still gives 1e-7.
_NO_SPREAD: Final = 1e-12


@dataclass(frozen=True)
class Coefficient:
    """One measure's figure for one selection of items.

    Attributes:
        measure: the measure's name in the registry.
        value: the coefficient, or None where it cannot be computed.
        undefined: why ``value`` is None, one of the reasons above; None where there is a value.
        observed: observed agreement, a share in [0, 1], where the measure has one.
        expected: agreement expected by chance, likewise.
        standard_error: of ``value`` over a sample of items; None for a single item.
        ci_low: lower confidence bound; None where the data say nothing about the spread.
        ci_high: upper confidence bound, likewise.
        confidence: the level of the bounds, in (0, 1).
        items: the items that entered the value.

    Raises:
        InvalidOption: the confidence level is not in (0, 1).
        ValueError: there are both a value and a reason for having none, or neither.
    """

    measure: str
    value: float | None
    undefined: str | None = None
    observed: float | None = None
    expected: float | None = None
    standard_error: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    confidence: float = 0.95
    items: int = 0

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if (self.value is None) == (self.undefined is None):
            raise ValueError(f"{self.measure} needs either a value or a reason for having none")

    def to_dict(self) -> dict[str, str | float | int | None]:
        """The figure as the JSON of ``tracker agreement`` has it, key order included."""
        return {
            "measure": self.measure,
            "value": self.value,
            "standard_error": self.standard_error,
            "ci_low": self.ci_low,
            "ci_high": self.ci_high,
            "confidence": self.confidence,
            "items": self.items,
            "undefined": self.undefined,
            "observed": self.observed,
            "expected": self.expected,
        }


def estimate(
    measure: str,
    value: float,
    standard_error: float,
    *,
    observed: float,
    expected: float | None,
    items: int,
    compared: int,
    confidence: float,
) -> Coefficient:
    """A defined coefficient with the bounds that its error supports.

    Args:
        measure: the measure's name.
        value: the coefficient.
        standard_error: its linearised standard error; ignored below two items compared.
        observed: observed agreement.
        expected: expected agreement, or None for a measure without a chance term, whose values
            are shares in [0, 1].
        items: items that entered the value; t has one degree of freedom less.
        compared: those of them with two answers or more.
        confidence: in (0, 1).

    Returns:
        The coefficient. One item compared: no error and no bounds. An error of 0: bounds from
        `bounds_without_spread` for a plain agreement; for a perfect one corrected for chance
        the same bound of the observed agreement with the expected one held; otherwise none.

    Raises:
        InvalidOption: the confidence level is not in (0, 1).
    """
    check_confidence(confidence)
    error: float | None = standard_error
    bounds: tuple[float, float] | tuple[None, None] = (None, None)
    if compared < 2:
        error = None
    elif standard_error >= _NO_SPREAD:
        least = 0.0 if expected is None else -1.0
        bounds = interval(value, standard_error, items, confidence, low=least)
    elif expected is None:
        bounds = bounds_without_spread(value, compared, confidence)
    elif observed == 1:
        lowest, _ = bounds_without_spread(observed, compared, confidence)
        bounds = max(-1.0, (lowest - expected) / (1 - expected)), 1.0
    return Coefficient(
        measure=measure,
        value=value,
        observed=observed,
        expected=expected,
        standard_error=error,
        ci_low=bounds[0],
        ci_high=bounds[1],
        confidence=confidence,
        items=items,
    )


def single_category(measure: str, items: int, confidence: float) -> Coefficient:
    """Nothing but one category was given: agreement is certain, and 0 / 0 is no coefficient."""
    return Coefficient(measure, None, SINGLE_CATEGORY, 1.0, 1.0, confidence=confidence, items=items)
