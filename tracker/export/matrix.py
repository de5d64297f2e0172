"""The reliability matrix: a row for each item, a column for each annotator."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from tracker import queries
from tracker.core.errors import InvalidOption
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.question import QuestionInfo
from tracker.queries import EVERYTHING, AnswerFilter


def reliability_matrix(
    connection: Connection, question: QuestionInfo, choice: AnswerFilter = EVERYTHING
) -> tuple[Sequence[str], Generator[tuple[Any, ...], None, None]]:
    """Return the columns and rows of what each annotator answered on their lowest pass.

    The first column is the item; who did not answer, or skipped, has None. Several categories of
    an answer are joined by ``|``, and an answer without any is an empty text. Raises InvalidOption
    for a question of spans.
    """
    if question.answers == "spans":
        raise InvalidOption(
            f"{question.told} of spans, has no matrix", "its labels: tracker export labels"
        )
    selection = queries.select_answers(connection, question, choice)
    who = queries.select_answering_annotators(connection, selection)
    people = annotator_names(connection, question.project)
    order = sorted(who, key=people.__getitem__)

    def rows() -> Generator[tuple[Any, ...], None, None]:
        names = category_names(connection, question)
        items = item_names(connection, question.project)
        for item, pattern in queries.select_item_joint_patterns(connection, selection):
            given = {one: "|".join(names[c] for c in answer) for one, answer in pattern}
            yield (items[item], *(given.get(one) for one in order))

    return ("item", *(people[one] for one in order)), rows()


Matrix = tuple[Sequence[str], Generator[tuple[Any, ...], None, None]]


def _as_it_is(matrix: Matrix) -> Matrix:
    return matrix


def _turned(matrix: Matrix) -> Matrix:
    columns, rows = matrix
    (_, *items), *answers = zip(columns, *rows, strict=True)
    return ("annotator", *items), (row for row in answers)


def _one_by_one(matrix: Matrix) -> Matrix:
    columns, rows = matrix
    people = columns[1:]
    answers = (
        (item, who, answer)
        for item, *given in rows
        for who, answer in zip(people, given, strict=True)
        if answer is not None
    )
    return ("task", "worker", "label"), answers


SHAPES: Mapping[str, Callable[[Matrix], Matrix]] = {
    "irrcac": _as_it_is,
    "krippendorff": _turned,
    "crowd-kit": _one_by_one,
}
"""What packages read: a row an item, a row an annotator, a row an answer."""


def matrix_for(reader: str, matrix: Matrix) -> Matrix:
    """Return a matrix in the shape that a package reads; raises InvalidOption for an unknown."""
    if reader not in SHAPES:
        raise InvalidOption(
            f"there is no reader {reader!r} of a matrix", f"one of: {', '.join(SHAPES)}"
        )
    return SHAPES[reader](matrix)
