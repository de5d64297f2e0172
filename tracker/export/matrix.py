"""The reliability matrix in the shapes that other packages read."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Connection, select

from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer
from tracker.counts.annotator_patterns import (
    count_annotator_marginals,
    select_answering_annotators,
    select_item_joint_patterns,
)
from tracker.counts.filter import EVERYTHING, AnswerFilter, select_answers
from tracker.counts.selection import read_selected_answer, select_answer_rows, stream_rows
from tracker.counts.tallies import count_item_patterns, count_pair_cells
from tracker.export.files import Type
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.questions import QuestionInfo

Row = tuple[Any, ...]
Matrix = tuple[Sequence[str], Generator[Row, None, None]]


def matrix_for(
    reader: str, connection: Connection, question: QuestionInfo, choice: AnswerFilter = EVERYTHING
) -> Matrix:
    """Return the columns and rows of what each annotator answered on their lowest pass.

    Who did not answer, or skipped, has None. Several categories of an answer are joined by ``|``,
    and an answer without any is an empty text. Raises InvalidOption for a reader that is not known,
    and for a question of spans.
    """
    if reader not in SHAPES:
        raise InvalidOption(
            f"there is no reader {reader!r} of a matrix", f"one of: {', '.join(SHAPES)}"
        )
    if question.answers == "spans":
        raise InvalidOption(
            f"{question.description} of spans, has no matrix", "its labels: tracker export labels"
        )
    return SHAPES[reader](_Answers(connection, question, choice))


class _Named:
    def __init__(
        self, connection: Connection, question: QuestionInfo, choice: AnswerFilter
    ) -> None:
        self.connection = connection
        self.question = question
        self.selection = select_answers(connection, question, choice)
        self.people = annotator_names(connection, question.project)
        self.categories = category_names(connection, question)

    def text(self, answer: Answer) -> str:
        return "|".join(self.categories[category] for category in answer)


class _Answers(_Named):
    def __init__(
        self, connection: Connection, question: QuestionInfo, choice: AnswerFilter
    ) -> None:
        super().__init__(connection, question, choice)
        self.items = item_names(connection, question.project)

    def by_item(self) -> Iterator[tuple[str, dict[int, str]]]:
        for item, pattern in select_item_joint_patterns(self.connection, self.selection):
            yield self.items[item], {who: self.text(answer) for who, answer in pattern}


def _row_per_item(answers: _Answers) -> Matrix:
    who = select_answering_annotators(answers.connection, answers.selection)
    order = sorted(who, key=answers.people.__getitem__)
    rows = ((item, *map(texts.get, order)) for item, texts in answers.by_item())
    return ("item", *(answers.people[number] for number in order)), rows


def _row_per_annotator(answers: _Answers) -> Matrix:
    selected = select_answer_rows(answers.selection)
    ids = select(selected.c.item_id).distinct().order_by(selected.c.item_id)
    place = {item: n for n, item in enumerate(answers.connection.scalars(ids))}

    def rows() -> Generator[Row, None, None]:
        of_annotators = select(selected).order_by(selected.c.annotator_id)
        with closing(stream_rows(answers.connection, of_annotators)) as stream:
            for who, of_one in groupby(stream, lambda row: row[1]):
                row: list[str | None] = [None] * len(place)
                for item, _, answer in of_one:
                    row[place[item]] = answers.text(read_selected_answer(answer))
                yield answers.people[who], *row

    return ("annotator", *(answers.items[item] for item in place)), rows()


def _row_per_answer(answers: _Answers) -> Matrix:
    rows = (
        (item, answers.people[who], text)
        for item, texts in answers.by_item()
        for who, text in texts.items()
    )
    return ("task", "worker", "label"), rows


SHAPES: Mapping[str, Callable[[_Answers], Matrix]] = {
    "irrcac": _row_per_item,
    "krippendorff": _row_per_annotator,
    "crowd-kit": _row_per_answer,
}
"""What packages read: a row an item, a row an annotator, a row an answer."""


# -- What figures are computed from, as rows: patterns, cross-tables, annotators' answers ---------


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
                f"{question.description} of spans, has no tallies",
                "its labels: tracker export labels",
            )
        yield from _Tallies(connection, question, choice).rows()


class _Tallies(_Named):
    def rows(self) -> Generator[Row, None, None]:
        ways = {"pattern": self.of_patterns, "annotator": self.of_annotators, "pair": self.of_pairs}
        for tally, rows in ways.items():
            for row in rows():
                yield self.question.name, tally, *row

    def of_patterns(self) -> Generator[Row, None, None]:
        patterns = count_item_patterns(self.connection, self.selection)
        for number, (pattern, items) in enumerate(patterns, 1):
            for answer, answers in pattern:
                yield number, None, self.text(answer), None, None, answers, items

    def of_annotators(self) -> Generator[Row, None, None]:
        marginals = count_annotator_marginals(self.connection, self.selection)
        for who, answers in marginals.items():
            for answer, items in sorted(answers.items()):
                yield None, self.people[who], self.text(answer), None, None, None, items

    def of_pairs(self) -> Generator[Row, None, None]:
        pairs, cells = count_pair_cells(self.connection, self.selection)
        texts = [self.text(answer) for answer in cells.answers]
        columns = (cells.pair, cells.first, cells.second, cells.items)
        for start in range(0, len(cells.items), _AT_ONCE):
            part = (column[start : start + _AT_ONCE].tolist() for column in columns)
            for pair, first, second, items in zip(*part, strict=True):
                who, other = (self.people[number] for number in pairs[pair])
                yield None, who, texts[first], other, texts[second], None, items
