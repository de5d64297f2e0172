"""The columns that answers, and the records of them, are told apart by."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, case
from sqlalchemy.sql.selectable import FromClause

ANSWER = ("item_id", "annotator_id", "pass")
"""The columns that say which answer of a project a label belongs to."""
ASSERTION = (*ANSWER, "labelled_at", "source")
"""The columns of an answer, and which time a file gave it: one answer, under whatever names."""
RECORD = (*ASSERTION, "given_as")
"""… and which of the records of that answer; names may turn out to be another's."""
ORDER = ("labelled_at", "change_id", "source", "given_as")
"""Which of several records of an answer stands: the greatest in this order."""
LABEL = ("category_id", "span_start", "span_end")
"""The columns that say what was answered."""
OWN_NAME = 0
"""Stands in a staged answer for the annotator's own name; ids begin at 1."""


def same_answer_key(
    columns: tuple[str, ...], left: FromClause, right: FromClause
) -> ColumnElement[bool]:
    """Return whether two sources of rows are equal in these columns."""
    return and_(*(left.c[column] == right.c[column] for column in columns))


def own_name_key(rows: FromClause) -> ColumnElement[int]:
    """Return the name under which staged answers were given."""
    return case((rows.c.given_as == OWN_NAME, rows.c.annotator_id), else_=rows.c.given_as)
