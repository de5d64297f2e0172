"""The figures of a project at one moment, and their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracker.measures.coefficient import Coefficient
from tracker.measures.gold import GoldAgreement
from tracker.measures.rates import CategoryRate, Summary, summary
from tracker.tally import ItemPatterns

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Assessment", "Counts"]


@dataclass(frozen=True)
class Counts:
    """What an assessment rests on; items and answers of annotators whose answers count."""

    items: int
    items_compared: int
    annotators: int
    answers: int
    labels: int

    def to_dict(self) -> dict[str, int]:
        """The counts as JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class Assessment:
    """The figures of a project at one moment, with the tallies they follow from.

    ``rates`` are in the declared or sorted order of the categories, whose names ``categories``
    holds by id. ``patterns`` is empty for a project of spans, which has no item patterns.
    """

    project: str
    scale: str
    counts: Counts
    measures: tuple[Coefficient, ...]
    rates: tuple[CategoryRate, ...]
    categories: Mapping[int, str]
    gold: GoldAgreement | None
    patterns: ItemPatterns

    @property
    def summary(self) -> Summary:
        """The lowest, mean and median category rate."""
        return summary(self.rates)

    def measure(self, name: str) -> Coefficient:
        """The coefficient of that name; raises KeyError where it was not asked for."""
        for coefficient in self.measures:
            if coefficient.measure == name:
                return coefficient
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """The contract's JSON of ``tracker agreement``."""
        return {
            "project": self.project,
            "as_of": None,
            "scale": self.scale,
            **self.figures(),
            "gold": None if self.gold is None else self.gold.to_dict(),
        }

    def figures(self) -> dict[str, Any]:
        """Counts, measures, categories and summary, as `history` gives them too."""
        return {
            "counts": self.counts.to_dict(),
            "measures": [_measure_dict(coefficient) for coefficient in self.measures],
            "categories": [_rate_dict(rate, self.categories) for rate in self.rates],
            "summary": self._summary_dict(),
        }

    def _summary_dict(self) -> dict[str, Any]:
        summed = self.summary
        lowest = summed.lowest
        return {
            "lowest": None
            if lowest is None
            else {"category": self.categories[lowest.category], "rate": lowest.rate},
            "mean": summed.mean,
            "median": summed.median,
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per measure, then one per category (its rate as the value)."""
        import pandas as pd

        figures = self.figures()
        rates = [
            {"measure": "category_rate", "value": row["rate"], "items": None} | row
            for row in figures["categories"]
        ]
        return pd.DataFrame([*figures["measures"], *rates])


def _measure_dict(coefficient: Coefficient) -> dict[str, Any]:
    told = coefficient.to_dict()
    if coefficient.measure == "krippendorff_alpha":
        told["scale"] = "nominal"
    return told


def _rate_dict(rate: CategoryRate, names: Mapping[int, str]) -> dict[str, Any]:
    return {
        "category": names[rate.category],
        "labels": rate.labels,
        "agreements": rate.agreements,
        "potential_agreements": rate.potential_agreements,
        "rate": rate.rate,
        "standard_error": rate.standard_error,
        "ci_low": rate.ci_low,
        "ci_high": rate.ci_high,
        "specific_agreement": rate.specific_agreement,
        "undefined": rate.undefined,
    }
