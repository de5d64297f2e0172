"""The categories of a question that are confused, with items that show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from tracker import queries
from tracker.agreement.query import Query
from tracker.agreement.study import refuse_study_of_spans
from tracker.core.tallies import Answer, ItemPatterns, Pattern, answers_in_pattern
from tracker.measures.confusions import (
    NOTHING,
    Confusion,
    category_confusions,
    pattern_confusions,
)
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names, find_category
from tracker.projects.items import item_texts_of
from tracker.projects.question import QuestionInfo
from tracker.queries import Selection

NONE = "(none)"
"""What an answer without a category is called."""
MOST = 5  # pairs of categories
_EXAMPLES = 3  # items of each
_PATTERNS = 20  # the most telling ones, among whose items examples are looked for


@dataclass(frozen=True)
class ConfusedItem:
    """An item that shows a confusion: who gave which answer."""

    name: str
    text: str | None
    answers: Sequence[tuple[str, str]]

    def to_dict(self) -> dict[str, Any]:
        """Return the item as JSON."""
        given = [{"annotator": who, "answer": answer} for who, answer in self.answers]
        return {"item": self.name, "text": self.text, "answers": given}


@dataclass(frozen=True)
class ConfusedPair:
    """Two categories by name, how often they were confused, and items on which they were."""

    categories: tuple[str, str]
    found: Confusion
    examples: Sequence[ConfusedItem]

    def to_dict(self) -> dict[str, Any]:
        """Return the pair as JSON."""
        return {
            "categories": list(self.categories),
            "disagreements": self.found.disagreements,
            "items": self.found.items,
            "share": self.found.share,
            "examples": [one.to_dict() for one in self.examples],
        }


@dataclass(frozen=True)
class Confusions:
    """The confusions of a question, the most frequent first.

    Attributes:
        project: the project's name.
        question: the question's name.
        total: pairs of annotators and items whose answers differ, a pair counted once for each
            two categories that it confuses.
        pairs: the most frequent, `MOST` at most.
    """

    project: str
    question: str
    total: int
    pairs: Sequence[ConfusedPair]

    def to_dict(self) -> dict[str, Any]:
        """Return the confusions as JSON."""
        return {"project": self.project, "question": self.question, **self.figures()}

    def figures(self) -> dict[str, Any]:
        """Return what was counted as JSON, without whose it is."""
        pairs = [one.to_dict() for one in self.pairs]
        return {"disagreements": self.total, "confusions": pairs}


def confused_categories(
    connection: Connection,
    question: QuestionInfo,
    query: Query | None = None,
    category: str | None = None,
) -> Confusions:
    """Return which categories are confused, or with which ones the category of a name is.

    Raises InvalidOption for a question of spans, NotFound for a category that there is not.
    """
    refuse_study_of_spans(question)
    selection = queries.select_answers(connection, question, (query or Query()).filter)
    patterns = queries.count_item_patterns(connection, selection)
    return confusions_of_patterns(connection, selection, patterns, category)


def confusions_of_patterns(
    connection: Connection,
    selection: Selection,
    patterns: ItemPatterns,
    category: str | None = None,
) -> Confusions:
    """Return likewise the confusions of answers that are counted already."""
    question = selection.question
    every = category_confusions(patterns)
    found = every
    if category is not None:
        number = find_category(connection, question, category)
        found = [one for one in every if number in {one.first, one.second}]
    names = {NOTHING: NONE, **category_names(connection, question)}
    examples = _examples(connection, selection, patterns, found[:MOST], names)
    return Confusions(
        question.project.name,
        question.name,
        sum(one.disagreements for one in every),
        [
            ConfusedPair((names[one.first], names[one.second]), one, shown)
            for one, shown in zip(found[:MOST], examples, strict=True)
        ],
    )


def _examples(
    connection: Connection,
    selection: Selection,
    patterns: ItemPatterns,
    confusions: Sequence[Confusion],
    names: Mapping[int, str],
) -> list[list[ConfusedItem]]:
    """Return for each confusion the first items of the patterns that show it best."""
    telling = [_most_telling(patterns, (one.first, one.second)) for one in confusions]
    wanted = {pattern for some in telling for pattern in some}
    if not wanted:
        return [[] for _ in confusions]
    items = queries.select_items_of_patterns(connection, selection, wanted, _EXAMPLES)
    chosen = [[n for pattern in some for n in items[pattern]][:_EXAMPLES] for some in telling]
    every = sorted({item for some in chosen for item in some})
    project = selection.question.project
    texts = item_texts_of(connection, project, every)
    people = annotator_names(connection, project)
    answers = queries.select_answers_to_items(connection, selection, every)

    def shown(item: int) -> ConfusedItem:
        given = [(people[who], _told(answer, names)) for who, answer in answers[item]]
        return ConfusedItem(*texts[item], sorted(given, key=lambda one: (one[1], one[0])))

    return [[shown(item) for item in some] for some in chosen]


def _most_telling(patterns: ItemPatterns, key: tuple[int, int]) -> list[Pattern]:
    """Return the patterns most of whose pairs of annotators confuse two categories."""

    def share(pattern: Pattern) -> float:
        number = answers_in_pattern(pattern)
        return pattern_confusions(pattern).get(key, 0) / max(number * (number - 1), 1)

    shares = [(share(pattern), pattern) for pattern, items in patterns if items]
    ranked = sorted((-value, pattern) for value, pattern in shares if value)
    return [pattern for _, pattern in ranked[:_PATTERNS]]


def _told(answer: Answer, names: Mapping[int, str]) -> str:
    return " + ".join(names[category] for category in answer if category > NOTHING) or NONE
