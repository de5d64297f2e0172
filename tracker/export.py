"""What leaves the ledger as rows: the labels that stand."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from sqlalchemy import Connection, select

from tracker.core import clock
from tracker.projects.question import QuestionInfo
from tracker.queries import EVERYTHING, AnswerFilter, select_labels, where_chosen
from tracker.storage.answer_keys import of_question
from tracker.storage.schema import NO_SPAN, Annotator, Category, Item, Label

LABEL_COLUMNS = (
    "item",
    "annotator",
    "category",
    "pass",
    "start",
    "end",
    "labeled_at",
    "seconds",
    "kind",
)


def exported_labels(
    connection: Connection, question: QuestionInfo, *, choice: AnswerFilter = EVERYTHING
) -> Generator[tuple[Any, ...], None, None]:
    """Every label that stands, as a row of `LABEL_COLUMNS`; what is not known is None.

    A skipped answer, and one to which nothing applied, is a row without category. The rows
    can be imported again. A choice is met by each row for itself, whatever its pass and
    whether its annotator is human, model or reference.
    """
    same = Label.project_id
    statement = (
        select(
            Item.name,
            Annotator.name,
            Category.name,
            Label.pass_,
            Label.span_start,
            Label.span_end,
            Label.labeled_at,
            Label.has_own_time,
            Label.spent_ms,
            Annotator.kind,
        )
        .join(Item, (Item.project_id == same) & (Item.id == Label.item_id))
        .join(Annotator, (Annotator.project_id == same) & (Annotator.id == Label.annotator_id))
        .join(
            Category,
            of_question(Category, question.key) & (Category.id == Label.category_id),
        )
        .where(
            of_question(Label, question.key),
            *where_chosen(select_labels(connection, question, choice)),
        )
        .order_by(
            Label.item_id,
            Label.annotator_id,
            Label.pass_,
            Label.category_id,
            Label.span_start,
            Label.span_end,
        )
    )
    # Who leaves the rows before their end leaves no statement open.
    with connection.execute(statement.execution_options(yield_per=20_000)) as result:
        for item, annotator, category, number, start, end, moment, timed, spent, kind in result:
            yield (
                item,
                annotator,
                category,
                number,
                None if start == NO_SPAN else start,
                None if end == NO_SPAN else end,
                clock.iso(moment) if timed else None,
                None if spent is None else spent / 1000,
                kind,
            )
