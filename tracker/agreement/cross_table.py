"""The answers of two annotators to the items that both answered, one against the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from tracker import queries
from tracker.agreement.study import refuse_study_of_spans
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer
from tracker.projects.annotators import find_annotators
from tracker.projects.categories import category_names
from tracker.projects.question import QuestionInfo
from tracker.queries import AnswerFilter

NONE = "(none)"
"""What an answer without a category is called."""


@dataclass(frozen=True)
class CrossTable:
    """How often one annotator gave each answer where the other gave another.

    Attributes:
        annotators: by name; the first one's answers are the rows.
        answers: all that occur, in the order of the categories.
        items: ``{(answer of the first, of the second): items}``.
    """

    annotators: tuple[str, str]
    answers: Sequence[str]
    items: Mapping[tuple[str, str], int]

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON, a list for each answer of the first annotator."""
        cells = [[self.items.get((one, other), 0) for other in self.answers]
                 for one in self.answers]  # fmt: skip
        return {
            "annotators": list(self.annotators), "answers": list(self.answers), "items": cells
        }  # fmt: skip


def cross_table(connection: Connection, question: QuestionInfo, choice: AnswerFilter) -> CrossTable:
    """Return the table of the two annotators of a choice, the first by name in its rows.

    Raises InvalidOption for a question of spans, and unless the choice names two annotators.
    """
    refuse_study_of_spans(question)
    people = find_annotators(connection, question.project, choice.annotators)
    if len({one.id for one in people}) != 2:
        raise InvalidOption("a table of answers is of two annotators")
    selection = queries.select_answers(connection, question, choice)
    names = category_names(connection, question)
    place = {number: n for n, number in enumerate(names)}
    counts = next(iter(queries.pair_tallies(connection, selection).counts.values()), {})
    turned = people[0].id > people[1].id

    def order(answer: Answer) -> list[int]:
        return sorted(place[one] for one in answer if one in place)

    def told(answer: Answer) -> str:
        chosen = [names[one] for one in sorted(answer, key=lambda n: place.get(n, -1))
                  if one in names]  # fmt: skip
        return " + ".join(chosen) or NONE

    used = sorted({answer for cell in counts for answer in cell}, key=order)
    items = {(told(one), told(other)): n for (one, other), n in counts.items()}
    if turned:
        items = {(other, one): n for (one, other), n in items.items()}
    return CrossTable((people[0].name, people[1].name), [told(one) for one in used], items)
