"""What figures are computed from, as rows: patterns, cross-tables, annotators' answers."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Final

from sqlalchemy import Connection

from tracker import queries
from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer
from tracker.export.arrow_rows import Type
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.projects.question import QuestionInfo
from tracker.queries import EVERYTHING, AnswerFilter

TALLY_COLUMNS: Final = (
    "question", "tally", "pattern", "annotator", "category", "other_annotator", "other_category",
    "answers", "items",
)  # fmt: skip
TALLY_TYPES: Final[dict[str, Type]] = {
    **dict.fromkeys(("question", "tally", "annotator", "other_annotator"), "category"),
    **dict.fromkeys(("category", "other_category"), "category"),
    **dict.fromkeys(("pattern", "answers", "items"), "integer"),
}
_AT_ONCE = 10_000  # cells of cross-tables

Row = tuple[Any, ...]


def tally_rows(
    connection: Connection, questions: Sequence[QuestionInfo], choice: AnswerFilter = EVERYTHING
) -> Generator[Row, None, None]:
    """Yield the tallies of each question as rows of `TALLY_COLUMNS`.

    - ``pattern``: that so many items have a pattern of answers, a row for each answer in it.
    - ``annotator``: on how many items an annotator gave an answer.
    - ``pair``: on how many items one annotator gave this answer and another that.

    Several categories of an answer are joined by ``|``; an answer without any is an empty text.
    Raises InvalidOption for a question of spans.
    """
    for question in questions:
        if question.answers == "spans":
            raise InvalidOption(
                f"{question.told} of spans, has no tallies", "its labels: tracker export labels"
            )
        yield from _Tallies(connection, question, choice).rows()


class _Tallies:
    """The tallies of a question, with the names of its annotators and categories."""

    def __init__(
        self, connection: Connection, question: QuestionInfo, choice: AnswerFilter
    ) -> None:
        self.connection = connection
        self.question = question.name
        self.selection = queries.select_answers(connection, question, choice)
        self.people = annotator_names(connection, question.project)
        self.categories = category_names(connection, question)

    def rows(self) -> Generator[Row, None, None]:
        yield from self.of_patterns()
        yield from self.of_annotators()
        yield from self.of_pairs()

    def of_patterns(self) -> Generator[Row, None, None]:
        patterns = queries.count_item_patterns(self.connection, self.selection)
        for number, (pattern, items) in enumerate(patterns, 1):
            for answer, answers in pattern:
                told = (number, None, self.text(answer), None, None, answers, items)
                yield self.question, "pattern", *told

    def of_annotators(self) -> Generator[Row, None, None]:
        counted = queries.count_annotator_marginals(self.connection, self.selection)
        for who, given in counted.items():
            for answer, items in sorted(given.items()):
                told = (None, self.people[who], self.text(answer), None, None, None, items)
                yield self.question, "annotator", *told

    def of_pairs(self) -> Generator[Row, None, None]:
        pairs, cells = queries.count_pair_cells(self.connection, self.selection)
        texts = [self.text(answer) for answer in cells.answers]
        columns = (cells.pair, cells.first, cells.second, cells.items)
        for start in range(0, len(cells.items), _AT_ONCE):
            some = (column[start : start + _AT_ONCE].tolist() for column in columns)
            for pair, first, second, items in zip(*some, strict=True):
                one, other = (self.people[who] for who in pairs[pair])
                told = (None, one, texts[first], other, texts[second], None, items)
                yield self.question, "pair", *told

    def text(self, answer: Answer) -> str:
        return "|".join(self.categories[one] for one in answer)
