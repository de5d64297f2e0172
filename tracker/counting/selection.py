"""Which answers are counted, and one row per answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Subquery,
    Table,
    Text,
    and_,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.sql.selectable import FromClause

from tracker.catalogue.projects import ProjectInfo
from tracker.schema import SKIPPED, Alias, Annotator, Label
from tracker.tally import Answer

__all__ = [
    "Selection",
    "annotators_with_answers",
    "answers_of",
    "counted",
    "labels",
    "read_answer",
    "select_answers",
    "stream",
]

labels = cast("Table", Label.__table__)

FIRST_DIGIT_BITS = 4  # up to 15 answers to an item; more than that and it is counted again
_AT_A_TIME = 20_000  # rows fetched at once, where patterns are many


@dataclass(frozen=True)
class Selection:
    """Which answers are counted: a project's, less those of some annotators."""

    project: ProjectInfo
    left_out: frozenset[int] = frozenset()
    references: frozenset[int] = frozenset()
    bits: int = field(default=FIRST_DIGIT_BITS, compare=False)

    def without(self, annotators: frozenset[int]) -> Selection:
        """The same with some more annotators left out."""
        return Selection(self.project, self.left_out | annotators, self.references, self.bits)


def select_answers(connection: Connection, project: ProjectInfo) -> Selection:
    """The selection of all human annotators' answers; the others stay out of agreement."""
    rows = connection.execute(
        select(Annotator.id, Annotator.kind).where(
            Annotator.project_id == project.id, Annotator.kind != "human"
        )
    ).all()
    return Selection(
        project,
        frozenset(row.id for row in rows),
        frozenset(row.id for row in rows if row.kind == "reference"),
    )


def counted(selection: Selection, of: FromClause = labels) -> ColumnElement[bool]:
    """The condition that a label belongs to an answer that is compared with others.

    It is not skipped, and it is on the annotator's lowest pass over the item.
    """
    lower = labels.alias("lower_pass")
    on_lower_pass = (
        select(literal(1))
        .select_from(lower)
        .where(
            lower.c.project_id == of.c.project_id,
            lower.c.item_id == of.c.item_id,
            lower.c.annotator_id == of.c.annotator_id,
            lower.c["pass"] < of.c["pass"],
            lower.c.category_id != SKIPPED,
        )
        .correlate(of)
        .exists()
    )
    conditions = [
        of.c.project_id == selection.project.id,
        of.c.category_id != SKIPPED,
        or_(of.c["pass"] == 1, ~on_lower_pass),
    ]
    if selection.left_out:
        conditions.append(of.c.annotator_id.not_in(sorted(selection.left_out)))
    return and_(*conditions)


def answers_of(selection: Selection, name: str = "answers") -> Subquery:
    """One row per answer: item_id, annotator_id, answer.

    The answer is the category's id or, in a project of several, ids joined by ``+``.
    """
    columns = (labels.c.item_id, labels.c.annotator_id)
    statement = select(*columns).where(counted(selection))
    if selection.project.answers == "one":
        return statement.add_columns(labels.c.category_id.label("answer")).subquery(name)
    ids = func.aggregate_strings(sql_cast(labels.c.category_id, Text), "+")
    return statement.add_columns(ids.label("answer")).group_by(*columns).subquery(name)


def read_answer(text: int | str) -> Answer:
    """An answer as `_answers` writes it; the reserved id of "none applies" is no label."""
    if isinstance(text, int):
        return (text,)
    return tuple(sorted(number for number in map(int, text.split("+")) if number > 0))


def annotators_with_answers(connection: Connection, selection: Selection) -> list[int]:
    """The ids of annotators with an answer that counts, ascending."""
    statement = select(labels.c.annotator_id).where(counted(selection)).distinct()
    # There are no more than the project knows: having met them all, the search may stop.
    known = (
        select(func.count())
        .where(
            Annotator.project_id == selection.project.id,
            Annotator.id.not_in(sorted(selection.left_out)),
            Annotator.id.not_in(
                select(Alias.alias_id).where(
                    Alias.project_id == selection.project.id, Alias.to_change.is_(None)
                )
            ),
        )
        .scalar_subquery()
    )
    return sorted(connection.scalars(statement.limit(known)))


def stream(connection: Connection, statement: Select[Any]) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement as they come; they may be many, and are not held together."""
    result = connection.execute(statement.execution_options(yield_per=_AT_A_TIME))
    for part in result.partitions():
        yield from cast("list[tuple[Any, ...]]", part)
