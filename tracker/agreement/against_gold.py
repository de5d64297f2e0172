"""Every annotator against the reference annotator's answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from tracker import queries
from tracker.agreement.query import Query
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer
from tracker.measures.accuracy import GoldAgreement, accuracy_from_confusion
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.projects.question import QuestionInfo

NONE = "(none)"
"""What an answer without a category is called in a confusion table."""


@dataclass(frozen=True)
class AgainstTruth:
    """All annotators pooled, and each by name, the least accurate first."""

    project: str
    pooled: GoldAgreement
    annotators: tuple[tuple[str, GoldAgreement], ...]
    categories: Mapping[int, str]

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON."""
        return {
            "project": self.project,
            "pooled": self.detail(self.pooled),
            "annotators": [
                {"annotator": name} | self.detail(found) for name, found in self.annotators
            ],
        }

    def detail(self, found: GoldAgreement) -> dict[str, Any]:
        """One set of figures with its categories and its confusion table."""
        return found.to_dict() | {
            "ci_low": found.ci_low,
            "ci_high": found.ci_high,
            "categories": [
                {
                    "category": self.categories[one.category],
                    "true": one.true,
                    "given": one.given,
                    "right": one.right,
                    "precision": one.precision,
                    "recall": one.recall,
                    "f1": one.f1,
                }
                for one in found.categories
            ],
            "confusion": [
                {"truth": self.name(truth), "answer": self.name(answer), "answers": number}
                for (truth, answer), number in sorted(found.confusion.items())
            ],
        }

    def name(self, answer: Answer) -> str:
        """An answer's categories by name, joined with ``|`` where it is a set."""
        return "|".join(self.categories[category] for category in answer) or NONE


def agreement_against_gold(
    connection: Connection, question: QuestionInfo, query: Query | None = None
) -> AgainstTruth:
    """Accuracy, precision and recall, confusion and kappa of each annotator, and pooled.

    Raises InvalidOption for a project of spans or without a reference annotator.
    """
    if question.answers == "spans":
        raise InvalidOption(
            f"{question.project.name!r} is a project of spans",
            "compare with the reference: --annotator REFERENCE --annotator NAME --by pair",
        )
    asked = query or Query()
    selection = queries.select_answers(connection, question, asked.filter)
    if not selection.references:
        raise InvalidOption(
            f"{question.project.name!r} has no reference annotator to compare with",
            f"import truths in a column gold, or: tracker annotator kind NAME reference "
            f"-p {question.project.name}",
        )
    tables, items = queries.count_gold_confusions(connection, selection)
    names = annotator_names(connection, question.project)
    categories = category_names(connection, question)
    pooled: Counter[tuple[Answer, Answer]] = Counter()
    for table in tables.values():
        pooled.update(table)
    annotators = [
        (
            names[annotator],
            accuracy_from_confusion(table, sum(table.values()), list(categories), asked.confidence),
        )
        for annotator, table in tables.items()
    ]
    # By the upper bound: one wrong answer of one says less than thirty of a hundred.
    annotators.sort(key=lambda row: (1.0 if (high := row[1].ci_high) is None else high, row[0]))
    return AgainstTruth(
        question.project.name,
        accuracy_from_confusion(pooled, items, list(categories)),
        tuple(annotators),
        categories,
    )
