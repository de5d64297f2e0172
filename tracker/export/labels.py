"""Labels that stand, as rows that can be imported again."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any, cast

from sqlalchemy import Connection, Table, literal, select

from tracker.core import clock
from tracker.export.items import item_columns, rows_with_items
from tracker.projects.lookup import is_numeric_category_name
from tracker.projects.question import QuestionInfo, QuestionOptions
from tracker.queries import EVERYTHING, AnswerFilter, select_labels, where_chosen
from tracker.storage.answer_keys import detail_of, of_question
from tracker.storage.schema import (
    ANSWERS,
    NO_SPAN,
    OFFSETS,
    SCALES,
    Annotator,
    AnswerDetail,
    Category,
    Item,
    Label,
)

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
DETAIL_COLUMNS = ("confidence", "comment")
"""Further columns, if any answer to the question has one of them."""

_details = cast("Table", AnswerDetail.__table__)
_labels = cast("Table", Label.__table__)


def exported_columns(connection: Connection, question: QuestionInfo) -> tuple[str, ...]:
    """Return the columns that the labels of a question are exported with."""
    detail = (
        select(literal(1))
        .join_from(_details, _labels, detail_of(_details, _labels))
        .where(of_question(_details, question.key), of_question(_labels, question.key))
        .exists()
    )
    return LABEL_COLUMNS + (DETAIL_COLUMNS if connection.scalar(select(detail)) else ())


def labels_with_items(
    connection: Connection, questions: Sequence[QuestionInfo], choice: AnswerFilter, *, named: bool
) -> tuple[tuple[str, ...], Generator[tuple[Any, ...], None, None]]:
    """Return the columns and the rows of all labels, with what is known of their items.

    ``named`` says whether the first column is the question, as if there are several.
    """
    project = questions[0].project
    known = item_columns(connection, project)
    columns = max((exported_columns(connection, one) for one in questions), key=len)

    def rows() -> Generator[tuple[Any, ...], None, None]:
        for one in questions:
            found = exported_labels(connection, one, choice=choice)
            found = _padded(found, len(columns))
            if known:
                found = rows_with_items(connection, project, found, known)
            with closing(found):
                for row in found:
                    yield (one.name, *row) if named else row

    return (*(["question"] if named else []), *columns, *known), rows()


def _padded(
    rows: Generator[tuple[Any, ...], None, None], width: int
) -> Generator[tuple[Any, ...], None, None]:
    with closing(rows):
        for row in rows:
            yield row if len(row) == width else (*row, *[None] * (width - len(row)))


def exported_labels(
    connection: Connection, question: QuestionInfo, *, choice: AnswerFilter = EVERYTHING
) -> Generator[tuple[Any, ...], None, None]:
    """Every label that stands, as a row of `exported_columns`; what is not known is None.

    A skipped answer, and one to which nothing applied, is a row without category. The rows
    can be imported again. A choice is met by each row for itself, whatever its pass and
    whether its annotator is human, model or reference.
    """
    same = Label.project_id
    detailed = exported_columns(connection, question) != LABEL_COLUMNS
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
    if detailed:
        statement = statement.add_columns(_details.c.confidence, _details.c.comment).outerjoin(
            _details, detail_of(_details, _labels)
        )
    # Who leaves the rows before their end leaves no statement open.
    with connection.execute(statement.execution_options(yield_per=20_000)) as result:
        for row in result:
            item, annotator, category, number, start, end, moment, timed, spent, kind = row[:10]
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
                *row[10:],
            )


def import_keywords(
    asked: Sequence[tuple[QuestionInfo, Sequence[str]]], *, named: bool
) -> dict[str, Any]:
    """Return the keywords with which exported labels are imported elsewhere as they are here.

    ``asked`` are the questions, each with its categories in order; an order goes with ordinal ones.
    ``named`` says that the rows name their question.
    """
    if not named:
        ((one, categories),) = asked
        usual = {"answers": ANSWERS[0], "scale": SCALES[0], "offsets": OFFSETS[0]}
        told = {name: getattr(one, name) for name, word in usual.items()}
        settings: dict[str, Any] = {n: word for n, word in told.items() if word != usual[n]}
        if _needs_order(one, categories):
            settings["categories"] = tuple(categories)
        return {"options": QuestionOptions(**settings)}
    questions = []
    for one, categories in asked:
        words = [one.name, *[one.answers] * (one.answers != ANSWERS[0])]
        if _needs_order(one, categories):
            words.append("<".join(categories))
        elif one.scale != SCALES[0]:
            words.append(one.scale)
        questions.append(":".join(words))
    return {"columns": ["question=question"], "questions": questions}


def _needs_order(question: QuestionInfo, categories: Sequence[str]) -> bool:
    return question.scale == "ordinal" and not all(map(is_numeric_category_name, categories))
