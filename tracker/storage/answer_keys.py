"""The columns that answers, and the records of them, are told apart by."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, case, func, select
from sqlalchemy.sql.selectable import FromClause

from tracker.storage.schema import Question


class QuestionKey(NamedTuple):
    """The numbers that stand for a question: its project's, and its own within the project."""

    project_id: int
    question_id: int


ANSWER = ("question_id", "item_id", "annotator_id", "pass")
"""The columns that say which answer of a project a label belongs to."""
ASSERTION = (*ANSWER, "labeled_at", "source")
"""The columns of an answer, and which time a file gave it: one answer, under whatever names."""
RECORD = (*ASSERTION, "given_as")
"""… and which of the records of that answer; names may turn out to be another's."""
ORDER = ("labeled_at", "first_change_id", "change_id", "source", "given_as")
"""The columns by which it is decided which of several records of an answer stands."""
LABEL = ("category_id", "span_start", "span_end")
"""The columns that say what was answered."""
DETAIL = ("question_id", "item_id", "given_as", "pass", "labeled_at", "change_id", "source")
"""The columns of a record, whosever it counts as, by which more is known of the answer."""
OWN_NAME = 0
"""Stands in a staged answer for the annotator's own name; ids begin at 1."""


def of_question(rows: Any, key: QuestionKey) -> ColumnElement[bool]:
    """Return the condition that rows of a table, or of an alias of one, are a question's."""
    columns = getattr(rows, "c", rows)
    return and_(columns.project_id == key.project_id, columns.question_id == key.question_id)


def detail_of(details: FromClause, rows: FromClause) -> ColumnElement[bool]:
    """Return the condition that details are those of a label's record."""
    return and_(details.c.project_id == rows.c.project_id, same_answer_key(DETAIL, details, rows))


def question_numbers(project_id: int) -> Select[Any]:
    """Return the numbers of a project's questions.

    A statement about an item names them, whichever they are: the key of labels leads from a
    question to its items.
    """
    return select(Question.id).where(Question.project_id == project_id)


def same_answer_key(
    columns: tuple[str, ...], left: FromClause, right: FromClause
) -> ColumnElement[bool]:
    """Return whether two sources of rows are equal in these columns."""
    return and_(*(left.c[column] == right.c[column] for column in columns))


def recorded_by(rows: FromClause) -> ColumnElement[int]:
    """Return the change that recorded each record, or recorded its file first."""
    return func.coalesce(rows.c.first_change_id, rows.c.change_id)


def standing_order(rows: FromClause) -> list[ColumnElement[int]]:
    """Return what records of an answer are ordered by: the greatest stands."""
    moment, _, *others = (rows.c[name] for name in ORDER)
    return [moment, recorded_by(rows), *others]


def own_name_key(rows: FromClause) -> ColumnElement[int]:
    """Return the name under which staged answers were given."""
    return case((rows.c.given_as == OWN_NAME, rows.c.annotator_id), else_=rows.c.given_as)
