"""The registry of measures: names, formulas, sources, and when each is undefined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from tracker.measures import chance_corrected
from tracker.measures.citations import SOURCES, Publication
from tracker.measures.conger import conger_kappa
from tracker.measures.estimate import Estimate, Redrawn
from tracker.measures.krippendorff import krippendorff_alpha, resampled_krippendorff_alpha
from tracker.measures.sample import Sample
from tracker.measures.spans.f1 import SPAN_MEASURES

Needs: TypeAlias = Literal["patterns", "marginals", "pair", "pairs", "documents"]
Answers: TypeAlias = Literal["one", "several", "spans"]

_GWET: Final = "Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed."
_NONE: Final = {
    "too_few_items": "there are no answers",
    "too_few_annotators": "fewer than two annotators answered",
    "no_overlap": "no item has two answers",
}
_CHANCE: Final = _NONE | {"single_category": "all answers are the same, so that chance agrees too"}
_ONE_POSSIBLE: Final = _NONE | {"single_category": "there is only one category to choose"}
_SPANS: Final = {
    "too_few_items": "there are no answers",
    "no_overlap": "no document was seen by two annotators",
    "single_category": "nobody marked anything, so that there is nothing to find",
}


@dataclass(frozen=True)
class Measure:
    """An entry of the registry of measures.

    Attributes:
        name: as ``--measure`` has it.
        title: as people read it.
        needs: the tallies that it is computed from.
        formula: how, in a line.
        source: where it comes from, in words.
        publication: the same as BibTeX.
        undefined: when it has no value, by reason.
        answers: the kinds of projects that it fits.
        weighted: whether it takes weights.
        function: the measure of a sample; None if it follows from more than that.
        redrawn: its values in samples drawn anew, for the bootstrap; None if it depends on who
            answered what.
        share: whether it is a share, from 0 to 1; others have chance at 0.
        no_interval: why it never has an interval; empty for a measure that has.
    """

    name: str
    title: str
    needs: Needs
    formula: str
    source: str
    publication: Publication = field(hash=False)
    undefined: dict[str, str] = field(hash=False)
    answers: tuple[Answers, ...] = ("one", "several")
    weighted: bool = False
    function: Callable[[Sample], Estimate] | None = None
    redrawn: Redrawn | None = None
    share: bool = False
    no_interval: str = ""

    @property
    def cite(self) -> str:
        """The key of its publication."""
        return self.publication.key


_ALL = (
    Measure(
        "percent_agreement",
        "Percent agreement",
        "patterns",
        "Po = mean over items of the share of pairs of annotators who gave the same answer",
        "Fleiss (1971), Psychological Bulletin 76, 378-382",
        SOURCES["fleiss1971"],
        _NONE,
        weighted=True,
        function=chance_corrected.percent_agreement,
        redrawn=Sample.mean_agreement,
        share=True,
    ),
    Measure(
        "scott_pi",
        "Scott's pi",
        "patterns",
        "(Po - Pe) / (1 - Pe), Pe = sum of the squared mean shares of the answers, two annotators",
        "Scott (1955), Public Opinion Quarterly 19, 321-325",
        SOURCES["scott1955"],
        _CHANCE | {"not_applicable": "there are more than two annotators"},
        weighted=True,
        function=chance_corrected.scott_pi,
        redrawn=chance_corrected.resampled_chance_corrected("fleiss"),
    ),
    Measure(
        "cohen_kappa",
        "Cohen's kappa",
        "pair",
        "(Po - Pe) / (1 - Pe), Pe = sum of the products of the two annotators' own shares",
        "Cohen (1960), Educational and Psychological Measurement 20, 37-46",
        SOURCES["cohen1960"],
        _CHANCE | {"not_applicable": "only for exactly two annotators"},
        weighted=True,
    ),
    Measure(
        "light_kappa",
        "Light's kappa",
        "pairs",
        "mean of Cohen's kappas of all pairs of annotators",
        "Light (1971), Psychological Bulletin 76, 365-377",
        SOURCES["light1971"],
        _NONE
        | {
            "no_overlap": "two of the annotators share no item",
            "single_category": "the kappa of a pair is undefined",
        },
        weighted=True,
    ),
    Measure(
        "conger_kappa",
        "Conger's kappa",
        "marginals",
        "(Po - Pe) / (1 - Pe), Pe = mean over pairs of annotators of the products of their own "
        "shares",
        f"Conger (1980), Psychological Bulletin 88, 322-328; missing answers: {_GWET}",
        SOURCES["conger1980"],
        _CHANCE,
        weighted=True,
        function=conger_kappa,
    ),
    Measure(
        "fleiss_kappa",
        "Fleiss' kappa",
        "patterns",
        "(Po - Pe) / (1 - Pe), Pe = sum of the squared mean shares of the answers",
        "Fleiss (1971), Psychological Bulletin 76, 378-382; varying numbers of answers: "
        f"{_GWET}, chapter 2",
        SOURCES["fleiss1971"],
        _CHANCE,
        weighted=True,
        function=chance_corrected.fleiss_kappa,
        redrawn=chance_corrected.resampled_chance_corrected("fleiss"),
    ),
    Measure(
        "krippendorff_alpha",
        "Krippendorff's alpha",
        "patterns",
        "1 - Do / De, Do = mean distance of the answers to an item, De = of all answers that can "
        "be compared",
        "Krippendorff (2011), Computing Krippendorff's Alpha-Reliability",
        SOURCES["krippendorff2011"],
        _CHANCE | {"not_applicable": "no order of the categories; see tracker category order"},
        function=krippendorff_alpha,
        redrawn=resampled_krippendorff_alpha,
    ),
    Measure(
        "gwet_ac1",
        "Gwet's AC1",
        "patterns",
        "(Po - Pe) / (1 - Pe), Pe = sum of p (1 - p) over the q categories / (q - 1)",
        "Gwet (2008), British Journal of Mathematical and Statistical Psychology 61, 29-48",
        SOURCES["gwet2008"],
        _ONE_POSSIBLE,
        answers=("one",),
        weighted=True,
        function=chance_corrected.gwet_ac1,
        redrawn=chance_corrected.resampled_chance_corrected("gwet"),
    ),
    Measure(
        "gwet_ac2",
        "Gwet's AC2",
        "patterns",
        "AC1 with weights: Pe = (sum of all weights) / (q (q - 1)) times the sum of p (1 - p)",
        f"{_GWET}, chapter 5",
        SOURCES["gwet2014"],
        _ONE_POSSIBLE,
        answers=("one",),
        weighted=True,
        function=chance_corrected.gwet_ac1,
        redrawn=chance_corrected.resampled_chance_corrected("gwet"),
    ),
    Measure(
        "brennan_prediger",
        "Brennan-Prediger",
        "patterns",
        "(Po - Pe) / (1 - Pe), Pe = 1 / q for q categories (with weights, their mean)",
        "Brennan and Prediger (1981), Educational and Psychological Measurement 41, 687-699",
        SOURCES["brennan1981"],
        _ONE_POSSIBLE,
        answers=("one",),
        weighted=True,
        function=chance_corrected.brennan_prediger,
        redrawn=chance_corrected.resampled_chance_corrected("uniform"),
    ),
    *(
        Measure(
            name,
            title,
            "documents",
            SPAN_MEASURES[name],
            "Hripcsak and Rothschild (2005), J. Am. Med. Inform. Assoc. 12, 296-298",
            SOURCES["hripcsak2005"],
            _SPANS | {"too_few_annotators": "fewer than two annotators answered"},
            answers=("spans",),
            share=True,
        )
        for name, title in (
            ("span_f1_exact", "Span F1, exact"),
            ("span_f1_unlabelled", "Span F1, unlabelled"),
            ("span_f1_overlap", "Span F1, overlap"),
            ("token_f1", "Token F1"),
            ("token_f1_unlabelled", "Token F1, unlabelled"),
        )
    ),
    Measure(
        "unitizing_alpha",
        "Alpha for unitizing",
        "documents",
        "1 - Do / De over all stretches that were marked and between, each by the square of its "
        "length",
        "Krippendorff (1995), Sociological Methodology 25, 47-76",
        SOURCES["krippendorff1995"],
        _SPANS
        | {
            "too_few_annotators": "fewer than two annotators answered",
            "not_applicable": "the length of a document is not known, or spans that one annotator "
            "gave the same category overlap",
        },
        answers=("spans",),
        no_interval="its source gives no standard error",
    ),
)

MEASURES: dict[str, Measure] = {measure.name: measure for measure in _ALL}
