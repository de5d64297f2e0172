"""A project assessed: tallies counted, measures and rates computed, named and put in order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from tracker import counting
from tracker.catalogue.annotators import annotator_names
from tracker.catalogue.categories import category_names
from tracker.catalogue.items import item_names
from tracker.catalogue.names import near
from tracker.catalogue.projects import ProjectInfo
from tracker.counting import Selection
from tracker.errors import InvalidOption
from tracker.measures import MEASURES
from tracker.measures.coefficient import NOT_APPLICABLE, Coefficient
from tracker.measures.gold import GoldAgreement, against_gold
from tracker.measures.pairs import cohen_kappa
from tracker.measures.rates import CategoryRate, Summary, category_rates, summary
from tracker.schema import NONE_APPLIES
from tracker.tally import Answer, ItemPatterns

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Assessment", "Counts", "PairAgreement", "assess", "by_item", "by_pair"]


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


def assess(
    connection: Connection,
    project: ProjectInfo,
    *,
    measures: Sequence[str] = (),
    confidence: float = 0.95,
) -> Assessment:
    """The project's figures now; all measures, or those named.

    Raises InvalidOption for a measure that does not exist.
    """
    wanted = _check_measures(measures)
    selection = counting.select_answers(connection, project)
    annotators = counting.annotators_with_answers(connection, selection)
    names = category_names(connection, project)
    if project.answers == "spans":
        return _assess_spans(connection, selection, annotators, wanted, confidence)
    patterns = counting.item_patterns(connection, selection)
    coefficients = [
        MEASURES[name].function(patterns, annotators=len(annotators), confidence=confidence)
        if MEASURES[name].needs == "patterns"
        else _of_the_pair(connection, selection, annotators, confidence)
        for name in wanted
    ]
    return Assessment(
        project=project.name,
        scale=project.scale,
        counts=Counts(
            items=patterns.items,
            items_compared=patterns.items_compared,
            annotators=len(annotators),
            answers=patterns.answers,
            labels=patterns.labels,
        ),
        measures=tuple(coefficients),
        rates=tuple(category_rates(patterns, list(names), confidence)),
        categories=names,
        gold=_pooled_gold(connection, selection),
        patterns=patterns,
    )


def _check_measures(names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in MEASURES:
            raise InvalidOption(
                f"there is no measure {name!r}",
                near(name, MEASURES) or f"one of: {', '.join(MEASURES)}",
            )
    return list(dict.fromkeys(names)) or list(MEASURES)


def _of_the_pair(
    connection: Connection, selection: Selection, annotators: Sequence[int], confidence: float
) -> Coefficient:
    """Cohen's kappa of a project of exactly two annotators."""
    if len(annotators) != 2:
        return Coefficient("cohen_kappa", None, NOT_APPLICABLE, confidence=confidence)
    tallies = counting.pair_tallies(connection, selection)
    first, second = annotators
    return cohen_kappa(tallies.counts.get((first, second), {}), confidence)


def _assess_spans(
    connection: Connection,
    selection: Selection,
    annotators: Sequence[int],
    wanted: Sequence[str],
    confidence: float,
) -> Assessment:
    """Spans have no chance-corrected agreement on whole items: their counts only."""
    counts = counting.span_counts(connection, selection)
    return Assessment(
        project=selection.project.name,
        scale=selection.project.scale,
        counts=Counts(**counts, annotators=len(annotators)),
        measures=tuple(
            Coefficient(name, None, NOT_APPLICABLE, confidence=confidence) for name in wanted
        ),
        rates=(),
        categories=category_names(connection, selection.project),
        gold=None,
        patterns=ItemPatterns(),
    )


def _pooled_gold(connection: Connection, selection: Selection) -> GoldAgreement | None:
    tables, items = counting.confusions(connection, selection)
    if not tables:
        return None
    pooled: Counter[tuple[Answer, Answer]] = Counter()
    for table in tables.values():
        pooled.update(table)
    return against_gold(pooled, items)


# -- one row per pair, per item ------------------------------------------------------------


@dataclass(frozen=True)
class PairAgreement:
    """Two annotators on the items that both answered."""

    annotators: tuple[str, str]
    kappa: Coefficient

    def to_dict(self) -> dict[str, Any]:
        """The pair as JSON."""
        kappa = self.kappa
        return {
            "annotators": list(self.annotators),
            "items": kappa.items,
            "observed": kappa.observed,
            "expected": kappa.expected,
            "cohen_kappa": kappa.value,
            "standard_error": kappa.standard_error,
            "ci_low": kappa.ci_low,
            "ci_high": kappa.ci_high,
            "undefined": kappa.undefined,
        }


def by_pair(
    connection: Connection, project: ProjectInfo, *, confidence: float = 0.95
) -> list[PairAgreement]:
    """Cohen's kappa of every two annotators who share an item, by their names."""
    if project.answers == "spans":
        raise InvalidOption("a project of spans has no kappa of pairs")
    names = annotator_names(connection, project)
    tallies = counting.pair_tallies(connection, counting.select_answers(connection, project))
    pairs = []
    for (a, b), table in tallies.counts.items():
        if names[a] > names[b]:
            pair = PairAgreement((names[b], names[a]), cohen_kappa(_turned(table), confidence))
        else:
            pair = PairAgreement((names[a], names[b]), cohen_kappa(table, confidence))
        pairs.append(pair)
    return sorted(pairs, key=lambda pair: pair.annotators)


def _turned(table: Mapping[tuple[Answer, Answer], int]) -> dict[tuple[Answer, Answer], int]:
    return {(b, a): items for (a, b), items in table.items()}


def by_item(connection: Connection, project: ProjectInfo) -> Iterator[dict[str, Any]]:
    """The votes on each item, as JSON; one dictionary per item that has an answer.

    ``entropy`` is of the votes' shares, in bits; ``vote_score``, in a project of two
    categories, the share of the second; ``gold`` the reference annotator's category.
    """
    selection = counting.select_answers(connection, project)
    categories = category_names(connection, project)
    items = item_names(connection, project)
    truths = _truths(connection, selection, categories)
    rows = counting.votes(connection, selection)
    for item, group in groupby(rows, key=itemgetter(0)):
        votes = {category: number for _, category, number in group if category != NONE_APPLIES}
        total = sum(votes.values())
        yield {
            "item": items[item],
            "votes": {name: votes[c] for c, name in categories.items() if c in votes},
            "vote_score": _vote_score(votes, list(categories)),
            "entropy": _entropy(list(votes.values()), total),
            "gold": truths.get(item),
        }


def _truths(
    connection: Connection, selection: Selection, categories: Mapping[int, str]
) -> dict[int, str]:
    if not selection.references:
        return {}
    everyone = counting.annotators_with_answers(connection, Selection(selection.project))
    others = frozenset(everyone) - selection.references
    rows = counting.votes(connection, Selection(selection.project, others))
    found: dict[int, list[str]] = {}
    for item, category, _ in rows:
        if category in categories:
            found.setdefault(item, []).append(categories[category])
    return {item: "|".join(names) for item, names in found.items()}


def _vote_score(votes: Mapping[int, int], categories: Sequence[int]) -> float | None:
    total = sum(votes.values())
    if len(categories) != 2 or not total:
        return None
    return votes.get(categories[1], 0) / total


def _entropy(votes: Sequence[int], total: int) -> float | None:
    if not total:
        return None
    return abs(sum(-vote / total * math.log2(vote / total) for vote in votes))
