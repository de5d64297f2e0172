"""Labels that stand, as rows that can be imported again."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Connection, literal, select

from tracker.core import clock
from tracker.core.kept import read_once
from tracker.counts.filter import EVERYTHING, AnswerFilter, select_labels
from tracker.counts.selection import stream_rows, where_chosen
from tracker.projects.annotators import annotator_attributes, list_annotators
from tracker.projects.names import is_numeric_category_name
from tracker.projects.projects import ProjectInfo
from tracker.projects.questions import QuestionInfo, QuestionOptions
from tracker.storage.current import standing_item_facts
from tracker.storage.schema import (
    ANSWERS,
    NO_SPAN,
    OFFSETS,
    SCALES,
    Annotator,
    AnswerDetail,
    Category,
    Item,
    ItemAttribute,
    Label,
)
from tracker.storage.schema.labels import detail_of, of_question

# -- What is known of items, as columns beside their labels or as a list of all items -------------


ATTRIBUTE = "attribute:"
"""Begins the name of a column with an attribute; an import keeps such columns."""

Rows = Generator[tuple[Any, ...], None, None]
_items = Item.__table__
_attributes = ItemAttribute.__table__
_DETAILS = {"text": _items.c.text, "n_tokens": _items.c.length}


def item_columns(connection: Connection, project: ProjectInfo) -> tuple[str, ...]:
    """Return the columns with what is known of a project's items: text, length and attributes."""
    known = [
        select(literal(1)).where(_items.c.project_id == project.id, column.is_not(None)).exists()
        for column in _DETAILS.values()
    ]
    is_known = connection.execute(select(*known)).one()
    names = connection.scalars(
        select(_attributes.c.name).where(_attributes.c.project_id == project.id).distinct()
    )
    return (
        *(name for name, any_ in zip(_DETAILS, is_known, strict=True) if any_),
        *sorted(ATTRIBUTE + name for name in names),
    )


def rows_with_items(
    connection: Connection,
    project: ProjectInfo,
    rows: Rows,
    columns: Sequence[str],
) -> Rows:
    """Yield rows, whose first value is an item, with these columns of what is known of it.

    Items come in the order of their numbers, and so they are read along with the rows.
    """
    with closing(rows), closing(_known(connection, project, columns)) as known:
        last, values = None, tuple([None] * len(columns))
        for row in rows:
            while last != row[0]:
                last, values = next(known)
            yield (*row, *values)


def listed_items(connection: Connection, project: ProjectInfo) -> tuple[tuple[str, ...], Rows]:
    """Return the columns and the rows of all items, those without an answer too.

    The rows can be imported again as a list of items. Those that only undone imports named are
    not among them.
    """
    columns = item_columns(connection, project)

    def rows() -> Rows:
        stands = standing_item_facts(project.id, _items.c.id)
        with closing(_known(connection, project, columns, stands)) as known:
            for item, values in known:
                yield (item, *values)

    return ("item", *columns), rows()


def _known(
    connection: Connection,
    project: ProjectInfo,
    columns: Sequence[str],
    *conditions: ColumnElement[bool],
) -> Generator[tuple[Any, tuple[Any, ...]], None, None]:
    places = {name: n for n, name in enumerate(columns)}
    statement = (
        select(
            _items.c.id, _items.c.name, *_DETAILS.values(), _attributes.c.name, _attributes.c.value
        )
        .outerjoin(
            _attributes,
            (_attributes.c.project_id == _items.c.project_id)
            & (_attributes.c.item_id == _items.c.id),
        )
        .where(_items.c.project_id == project.id, *conditions)
        .order_by(_items.c.id)
    )
    with closing(stream_rows(connection, statement)) as stream:
        for (_, item), facts in groupby(stream, lambda row: (row[0], row[1])):
            values: list[Any] = [None] * len(columns)
            for _, _, *details, name, value in facts:
                for column, detail in zip(_DETAILS, details, strict=True):
                    if column in places:
                        values[places[column]] = detail
                if name is not None:
                    values[places[ATTRIBUTE + name]] = value
            yield item, tuple(values)


LABEL_COLUMNS = (
    "item", "annotator", "category", "pass", "start", "end", "labeled_at", "seconds", "kind"
)  # fmt: skip
DETAIL_COLUMNS = ("confidence", "comment")
"""Further columns, if any answer to the question has one of them."""

_details = AnswerDetail.__table__
_labels = Label.__table__


@read_once
def exported_columns(connection: Connection, question: QuestionInfo) -> tuple[str, ...]:
    detail = (
        select(literal(1))
        .join_from(_details, _labels, detail_of(_details, _labels))
        .where(of_question(_details, question.key), of_question(_labels, question.key))
        .exists()
    )
    return LABEL_COLUMNS + (DETAIL_COLUMNS if connection.scalar(select(detail)) else ())


def labels_with_items(
    connection: Connection, questions: Sequence[QuestionInfo], choice: AnswerFilter, *, named: bool
) -> tuple[tuple[str, ...], Rows]:
    """Return the columns and the rows of all labels, with what is known of their items.

    ``named`` says whether the first column is the question, as if there are several.
    """
    project = questions[0].project
    known = item_columns(connection, project)
    columns = max((exported_columns(connection, question) for question in questions), key=len)

    def rows() -> Rows:
        for question in questions:
            labels = exported_labels(connection, question, choice=choice)
            if lacking := [None] * (len(columns) - len(exported_columns(connection, question))):
                labels = ((*row, *lacking) for row in labels)
            if known:
                labels = rows_with_items(connection, project, labels, known)
            with closing(labels):
                yield from ((question.name, *row) for row in labels) if named else labels

    return (*(["question"] if named else []), *columns, *known), rows()


def exported_labels(
    connection: Connection, question: QuestionInfo, *, choice: AnswerFilter = EVERYTHING
) -> Rows:
    """Every label that stands, as a row of `exported_columns`; what is not known is None.

    A skipped answer, and one to which nothing applied, is a row without category. The rows
    can be imported again. A choice is met by each row for itself, whatever its pass and
    whether its annotator is human, model or reference.
    """
    same = Label.project_id
    detailed = exported_columns(connection, question) != LABEL_COLUMNS
    statement = (
        select(
            Item.name, Annotator.name, Category.name, Label.pass_, Label.span_start,
            Label.span_end, Label.labeled_at, Label.has_own_time, Label.spent_ms, Annotator.kind,
        )
        .join(Item, (Item.project_id == same) & (Item.id == Label.item_id))
        .join(Annotator, (Annotator.project_id == same) & (Annotator.id == Label.annotator_id))
        .join(Category, of_question(Category, question.key) & (Category.id == Label.category_id))
        .where(
            of_question(Label, question.key),
            *where_chosen(select_labels(connection, question, choice)),
        )
        .order_by(
            Label.item_id, Label.annotator_id, Label.pass_, Label.category_id, Label.span_start,
            Label.span_end,
        )
    )  # fmt: skip
    if detailed:
        statement = statement.add_columns(_details.c.confidence, _details.c.comment).outerjoin(
            _details, detail_of(_details, _labels)
        )
    # Who leaves the rows before their end leaves no statement open.
    with closing(stream_rows(connection, statement)) as rows:
        for item, annotator, category, number, start, end, moment, timed, spent, *others in rows:
            yield (
                item, annotator, category, number,
                None if start == NO_SPAN else start,
                None if end == NO_SPAN else end,
                clock.iso(moment) if timed else None,
                None if spent is None else spent / 1000,
                *others,
            )  # fmt: skip


def import_keywords(
    questions: Sequence[tuple[QuestionInfo, Sequence[str]]], *, named: bool
) -> dict[str, Any]:
    """Return the keywords with which exported labels are imported elsewhere as they are here.

    The questions come each with its categories in order; an order goes with ordinal ones.
    ``named`` says that the rows name their question.
    """
    if not named:
        ((question, categories),) = questions
        usual = {"answers": ANSWERS[0], "scale": SCALES[0], "offsets": OFFSETS[0]}
        payload = {name: getattr(question, name) for name in usual} | {"answers": question.asks}
        settings: dict[str, Any] = {n: word for n, word in payload.items() if word != usual[n]}
        if _needs_order(question, categories):
            settings["categories"] = tuple(categories)
        return {"options": QuestionOptions(**settings)}
    texts = []
    for question, categories in questions:
        words = [question.name, *[question.asks] * (question.asks != ANSWERS[0])]
        if _needs_order(question, categories):
            words.append("<".join(categories))
        elif question.scale != SCALES[0]:
            words.append(question.scale)
        texts.append(":".join(words))
    return {"columns": ["question=question"], "questions": texts}


def _needs_order(question: QuestionInfo, categories: Sequence[str]) -> bool:
    return question.scale == "ordinal" and not all(map(is_numeric_category_name, categories))


# -- What is known of annotators, as a list that can be imported again ----------------------------


def listed_annotators(connection: Connection, project: ProjectInfo) -> tuple[tuple[str, ...], Rows]:
    """Return the columns and the rows of all annotators: who, the kind, each attribute."""
    attributes = annotator_attributes(connection, project)
    people = list_annotators(connection, project)
    names = sorted({name for person in people for name in attributes.get(person.id, {})})

    def rows() -> Rows:
        for person in people:
            values = attributes.get(person.id, {})
            yield (person.name, person.kind, *map(values.get, names))

    return ("annotator", "kind", *(ATTRIBUTE + name for name in names)), rows()
