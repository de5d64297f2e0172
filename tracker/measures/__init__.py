"""Measures of agreement: pure functions from tallies to coefficients.

`MEASURES` says of each what it is called, which tally it needs, where it comes from and how it
is defined. A new measure is one function and one entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tracker.measures.coefficient import Coefficient
from tracker.measures.krippendorff import krippendorff_alpha
from tracker.measures.pairs import cohen_kappa
from tracker.measures.patterns import fleiss_kappa, percent_agreement, scott_pi

__all__ = ["MEASURES", "Measure", "Needs"]

Needs: TypeAlias = Literal["patterns", "pairs"]


@dataclass(frozen=True)
class Measure:
    """One entry of the registry.

    Attributes:
        name: the name in commands and JSON.
        title: the name for people.
        needs: "patterns": call ``function(item_patterns, annotators=n, confidence=c)``;
            "pairs": call ``function(cross_table, confidence=c)`` for two annotators.
        function: computes the coefficient.
        formula: the definition in one line of plain text.
        source: the publication that defines it.
    """

    name: str
    title: str
    needs: Needs
    function: Callable[..., Coefficient]
    formula: str
    source: str


_ALL = (
    Measure(
        "percent_agreement",
        "Percent agreement",
        "patterns",
        percent_agreement,
        "Po = mean over items of the share of pairs of annotators who gave the same answer",
        "Fleiss (1971), Psychological Bulletin 76, 378-382",
    ),
    Measure(
        "scott_pi",
        "Scott's pi",
        "patterns",
        scott_pi,
        "(Po - Pe) / (1 - Pe), Pe = sum of the squared mean shares of the answers, two annotators",
        "Scott (1955), Public Opinion Quarterly 19, 321-325",
    ),
    Measure(
        "cohen_kappa",
        "Cohen's kappa",
        "pairs",
        cohen_kappa,
        "(Po - Pe) / (1 - Pe), Pe = sum of the products of the two annotators' own shares",
        "Cohen (1960), Educational and Psychological Measurement 20, 37-46",
    ),
    Measure(
        "fleiss_kappa",
        "Fleiss' kappa",
        "patterns",
        fleiss_kappa,
        "(Po - Pe) / (1 - Pe), Pe = sum of the squared mean shares of the answers",
        "Fleiss (1971), Psychological Bulletin 76, 378-382; varying numbers of answers: "
        "Gwet (2014), Handbook of Inter-Rater Reliability, chapter 2",
    ),
    Measure(
        "krippendorff_alpha",
        "Krippendorff's alpha",
        "patterns",
        krippendorff_alpha,
        "1 - Do / De, De = share of unequal pairs among all answers that can be compared",
        "Krippendorff (2011), Computing Krippendorff's Alpha-Reliability",
    ),
)

MEASURES: dict[str, Measure] = {measure.name: measure for measure in _ALL}
