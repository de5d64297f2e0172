"""Further counts: votes on each item, answers per item, and the pace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from tracker.core import clock
from tracker.queries.selection import Selection, labels, stream_rows, where_counted
from tracker.storage.schema import Annotator


class ModelAnswers(NamedTuple):
    """A model that is left out, and how many items it answered."""

    id: int
    name: str
    answers: int


def count_votes(connection: Connection, selection: Selection) -> Iterator[tuple[Any, ...]]:
    """Yield how many annotators gave an item each category: (item id, category id, annotators).

    The rows are ordered by item; `NONE_APPLIES` stands for answers without a label.
    """
    key = (labels.c.item_id, labels.c.category_id)
    statement = (
        select(*key, func.count(labels.c.annotator_id.distinct()))
        .where(where_counted(selection))
        .group_by(*key)
        .order_by(*key)
    )
    yield from stream_rows(connection, statement)


def count_answers_per_item(connection: Connection, selection: Selection) -> dict[int, int]:
    """Return how many items have each number of answers: ``{answers: items}``."""
    answers = (
        select(labels.c.item_id, func.count(labels.c.annotator_id.distinct()).label("answers"))
        .where(where_counted(selection))
        .group_by(labels.c.item_id)
        .subquery("answers")
    )
    rows = stream_rows(
        connection, select(answers.c.answers, func.count()).group_by(answers.c.answers)
    )
    return dict(sorted((number, items) for number, items in rows))


def count_model_answers(connection: Connection, selection: Selection) -> list[ModelAnswers]:
    """Return each model that is left out because nobody named it, with its answers, by name.

    None if annotators were named.
    """
    if selection.only is not None:
        return []
    models = connection.execute(
        select(Annotator.id, Annotator.name).where(
            Annotator.project_id == selection.question.project_id,
            Annotator.kind == "model",
            Annotator.name.not_in((selection.told or {}).get("excluded", [])),
        )
    ).all()
    if not models:
        return []
    names = {row.id: row.name for row in models}
    named = replace(selection, only=frozenset(names), left_out=frozenset())
    counts = connection.execute(
        select(labels.c.annotator_id, func.count(labels.c.item_id.distinct()))
        .where(where_counted(named, alone=True))
        .group_by(labels.c.annotator_id)
    )
    found = [ModelAnswers(who, names[who], int(answers)) for who, answers in counts]
    return sorted(found, key=lambda one: one.name)


def count_recent_labels(
    connection: Connection, selection: Selection, days: int
) -> tuple[int, int, int] | None:
    """Return the labels of the days before the newest: (labels, oldest moment, newest moment)."""
    newest = connection.scalar(
        select(func.max(labels.c.labeled_at)).where(where_counted(selection))
    )
    if newest is None:
        return None
    since = newest - days * clock.DAY
    row = connection.execute(
        select(func.count().label("labels"), func.min(labels.c.labeled_at).label("oldest")).where(
            where_counted(selection), labels.c.labeled_at > since
        )
    ).one()
    return row.labels, row.oldest, newest
