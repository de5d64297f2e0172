"""What every measure returns: a value with its error, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tracker.measures.intervals import check_confidence

NO_OVERLAP: Final = "no_overlap"  # no item has two answers, so there is nothing to compare
SINGLE_CATEGORY: Final = "single_category"  # expected agreement is 1: chance explains it all
TOO_FEW_ITEMS: Final = "too_few_items"
TOO_FEW_ANNOTATORS: Final = "too_few_annotators"
NOT_APPLICABLE: Final = "not_applicable"  # the measure is not defined for this kind of project

Detail: TypeAlias = str | float | int | None

# Below this a standard error is the rounding of a zero. A real one is far greater: a single
# disagreement among ten million items still gives 1e-7.
NO_SPREAD: Final = 1e-12


@dataclass(frozen=True)
class Parts:
    """The parts that a coefficient is computed from.

    Attributes:
        observed: observed agreement, a share in [0, 1]; None if distances have no limit.
        expected: agreement expected by chance, likewise.
        observed_disagreement: alpha's D_o, in the unit of its distance.
        expected_disagreement: alpha's D_e, likewise.
    """

    observed: float | None = None
    expected: float | None = None
    observed_disagreement: float | None = None
    expected_disagreement: float | None = None


@dataclass(frozen=True)
class Coefficient:
    """One measure's figure for one selection of items.

    Attributes:
        measure: the measure's name in the registry.
        value: the coefficient, or None if it cannot be computed.
        undefined: why ``value`` is None, one of the reasons above; None if there is a value.
        observed: observed agreement, a share in [0, 1], where the measure has one.
        expected: agreement expected by chance, likewise.
        standard_error: of ``value`` over a sample of items; None for a single item.
        ci_low: lower confidence bound; None if the data say nothing about the spread.
        ci_high: upper confidence bound, likewise.
        confidence: the level of the bounds, in (0, 1).
        items: the items that entered the value.
        method: how the bounds came to be: "Wilson", "posterior", "log" or "t" (see
            `confidence_bounds`), "one-sided exact" (a perfect figure, whose error of 0 says
            nothing), "bootstrap", …; None if there are none.
        details: what else belongs to the figure: ``weights``, alpha's ``scale`` or ``distance``
            with ``observed_disagreement`` and ``expected_disagreement`` in its unit, the
            ``true_positives``, ``precision`` and ``recall`` of spans.

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
    method: str | None = None
    details: Mapping[str, Detail] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if (self.value is None) == (self.undefined is None):
            raise ValueError(f"{self.measure} needs either a value or a reason for having none")

    def to_dict(self) -> dict[str, Detail]:
        """Return the figure as the JSON of ``tracker agreement`` has it, key order included."""
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
            "method": self.method,
            **self.details,
        }
