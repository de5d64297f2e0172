"""Why a number is what it is: what went in, what was left out, and the formula with its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from tracker import queries
from tracker.agreement.overall import assess
from tracker.agreement.query import Query
from tracker.agreement.study import Study
from tracker.core.shown import Message
from tracker.measures import MEASURES, Measure
from tracker.measures.coefficient import Coefficient
from tracker.projects.question import QuestionInfo
from tracker.queries import Selection
from tracker.queries.exclusions import Inclusion, count_included_answers


@dataclass(frozen=True)
class Explanation:
    """One figure with everything that led to it.

    Attributes:
        project: the project's name.
        measure: what the measure is.
        figure: the figure.
        inclusion: what became of each answer.
        items_answered: items with an answer that counts.
        items_alone: those of them with a single answer, which cannot be compared.
        shares: of all answers to items that enter chance, the share of each category.
        numbers: the formula with its numbers.
    """

    project: str
    measure: Measure
    figure: Coefficient
    inclusion: Inclusion
    items_answered: int
    items_alone: int
    shares: Mapping[str, float]
    numbers: str

    def to_dict(self) -> dict[str, Any]:
        """The explanation as JSON."""
        return {
            "project": self.project,
            **self.figure.to_dict(),
            "formula": self.measure.formula,
            "with_numbers": self.numbers,
            "source": self.measure.source,
            "items": {
                "in_project": self.inclusion.items,
                "answered": self.items_answered,
                "one_answer": self.items_alone,
                "compared": self.items_answered - self.items_alone,
            },
            "answers": {
                name: number
                for name, number in self.inclusion.to_dict().items()
                if name not in {"items", "past", "taken_back"}
            },
            "records": {"past": self.inclusion.past, "taken_back": self.inclusion.taken_back},
            "shares": dict(self.shares),
        }


def explain(counted: Study, name: str) -> Explanation:
    """Explain one measure of a project.

    Raises InvalidOption for a measure that does not exist or does not fit.
    """
    one = replace(counted, query=replace(counted.query, measures=(name,)))
    (figure,) = one.figures()
    shares = _shares(one, figure)
    counts = (counted.patterns.items, counted.patterns.items_compared)
    return _explained(counted.connection, counted.selection, figure, *counts, shares)


def explain_spans(
    connection: Connection, question: QuestionInfo, query: Query, name: str
) -> Explanation:
    """Explain one measure of a project of spans.

    Raises InvalidOption for a measure that does not exist or does not fit.
    """
    found = assess(connection, question, replace(query, measures=(name,)))
    (figure,) = found.measures
    selection = queries.select_answers(connection, question, query.filter)
    counts = (found.counts.items, found.counts.items_compared)
    return _explained(connection, selection, figure, *counts, {})


def _explained(
    connection: Connection,
    selection: Selection,
    figure: Coefficient,
    items: int,
    compared: int,
    shares: Mapping[str, float],
) -> Explanation:
    return Explanation(
        project=selection.question.project.name,
        measure=MEASURES[figure.measure],
        figure=figure,
        inclusion=count_included_answers(connection, selection),
        items_answered=items,
        items_alone=items - compared,
        shares=shares,
        numbers=str(Message("methods.methods_numbers_sentence", figure=figure)),
    )


def _shares(counted: Study, figure: Coefficient) -> dict[str, float]:
    """The answers' shares that chance is computed from; none where it needs none, or each own."""
    of = counted.sample
    if figure.measure == "krippendorff_alpha":
        table = of.table.compared()
        totals = table.over_answers(table.count * table.items[table.owner])
        shares = totals / max(totals.sum(), 1)
    elif figure.measure in {"fleiss_kappa", "scott_pi", "gwet_ac1", "gwet_ac2"}:
        shares = of.shares
    else:
        return {}
    return {
        "|".join(counted.names[category] for category in answer) or "(none)": float(share)
        for answer, share in zip(of.table.answers, shares, strict=True)
    }
