"""One row per pair of annotators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from tracker import counting
from tracker.catalogue.annotators import annotator_names
from tracker.catalogue.projects import ProjectInfo
from tracker.errors import InvalidOption
from tracker.measures.coefficient import Coefficient
from tracker.measures.pairs import cohen_kappa
from tracker.tally import Answer

__all__ = ["PairAgreement", "by_pair"]


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
