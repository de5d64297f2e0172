"""One row per pair of annotators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection

from tracker import queries
from tracker.agreement.coefficients import Pairs, count_coefficient_pairs
from tracker.agreement.metric import check_metric, sample_under_metric
from tracker.agreement.query import Query
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, ItemPatterns
from tracker.measures.coefficient import Coefficient
from tracker.measures.numeric.two_annotators import NumericAgreement, numeric_agreement
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.projects.lookup import is_numeric_category_name
from tracker.projects.question import QuestionInfo


def pair_weights(answers: str, scale: str) -> str | None:
    """Return the weights of a question's pairs: answers that are in order may nearly agree."""
    return "quadratic" if answers == "one" and scale != "nominal" else None


@dataclass(frozen=True)
class PairAgreement:
    """Two annotators on the items that both answered; ``numeric`` where the scale has numbers."""

    annotators: tuple[str, str]
    kappa: Coefficient
    numeric: NumericAgreement | None = None

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
            **kappa.details,
        } | ({} if self.numeric is None else {"numeric": self.numeric.to_dict()})


def agreement_by_pair(
    connection: Connection, question: QuestionInfo, query: Query | None = None
) -> list[PairAgreement]:
    """Cohen's kappa of every two annotators who share an item, by their names.

    On an interval or a ratio scale correlations and differences stand beside it; these are of
    the second less the first by name.
    """
    if question.answers == "spans":
        raise InvalidOption("a project of spans has no kappa of pairs")
    asked = query or Query()
    names = annotator_names(connection, question.project)
    categories = category_names(connection, question)
    check_metric(question, categories, asked.metric)
    selection = queries.select_answers(connection, question, asked.filter)
    # Weights depend on which categories occur; without any, nothing of the items is needed.
    weighted = asked.metric.weighted
    patterns = queries.count_item_patterns(connection, selection) if weighted else ItemPatterns()
    of = sample_under_metric(question, categories, patterns, 0, asked.metric)
    pairs = count_coefficient_pairs(connection, selection, of)
    numeric: Iterator[NumericAgreement | None] = iter(())
    if asked.metric.scale_of(question) in {"interval", "ratio"}:
        values = {
            n: float(name) for n, name in categories.items() if is_numeric_category_name(name)
        }
        numeric = _numeric(pairs, names, values, asked.confidence)
    found = [
        PairAgreement((min(one, other), max(one, other)), kappa, next(numeric, None))
        for one, other, kappa in (
            (names[a], names[b], kappa)
            for (a, b), kappa in zip(
                pairs.annotators,
                pairs.kappas(of, asked.confidence, asked.interval),
                strict=True,
            )
        )
    ]
    return sorted(found, key=lambda pair: pair.annotators)


def _numeric(
    pairs: Pairs, names: Mapping[int, str], values: Mapping[int, float], confidence: float
) -> Iterator[NumericAgreement]:
    cells = pairs.cells
    bounds = np.searchsorted(cells.pair, np.arange(cells.pairs + 1))
    for place, (a, b) in enumerate(pairs.annotators):
        part = slice(bounds[place], bounds[place + 1])
        table: dict[tuple[Answer, Answer], int] = {}
        for one, other, items in zip(
            cells.first[part].tolist(),
            cells.second[part].tolist(),
            cells.items[part].tolist(),
            strict=True,
        ):
            cell = cells.answers[one], cells.answers[other]
            table[cell if names[a] <= names[b] else (cell[1], cell[0])] = items
        yield numeric_agreement(table, values, confidence=confidence)
