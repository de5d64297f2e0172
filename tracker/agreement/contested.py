"""Items about which annotators differ, those first of which a decision says most about others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    Double,
    FromClause,
    Select,
    Subquery,
    Text,
    and_,
    cast,
    func,
    select,
)

from tracker.core.results import Record
from tracker.counts.items import select_votes_on_items
from tracker.counts.selection import Selection, labels, select_answer_rows, where_counted
from tracker.projects.categories import category_names
from tracker.projects.items import item_texts_of
from tracker.projects.kept import stored_with_answers
from tracker.storage.schema import NONE_APPLIES, Category
from tracker.storage.schema.labels import of_question

NONE: Final = "(none)"
"""What an answer without a category is called."""


@dataclass(frozen=True)
class ContestedItem(Record):
    """An item about which annotators differ, and what a decision about it is worth."""

    item: str
    text: str | None
    votes: Mapping[str, int]
    gain: float


@dataclass(frozen=True)
class Contested(Record):
    """The contested items of a question that nobody decided yet, most worth first."""

    project: str
    question: str
    items: Sequence[ContestedItem]


@stored_with_answers
def contested_items(
    connection: Connection, selection: Selection, most: int | None = None
) -> Contested:
    """Return the first items whose answers differ and that are not decided, by their gain.

    The gain of an item is the number of undecided items on which two of its answers, drawn at
    random from two annotators, stand against each other as well; 0 where the two are equal:

        gain(i) = sum over a < b of 2 n(i,a) n(i,b) / (n(i) (n(i) - 1)) * m(a,b)

    with n(i,a) answers a to the item, n(i) answers to it, and m(a,b) undecided items with both
    answers, the item itself among them. So a split item counts more than one voice against many,
    and a confusion that is met often more than one that is met once. On a scale of numbers
    (b - a)^2 stands in place of m: the gain is twice the variance of the item's answers. Of items
    with the same gain the one imported first is first. An answer of several categories, or of
    spans, is one answer.
    """
    gains = select_gains(selection).subquery("gains")
    rows = connection.execute(
        select(gains).order_by(gains.c.gain.desc(), gains.c.item_id).limit(most)
    ).all()
    question, items = selection.question, [row.item_id for row in rows]
    names = category_names(connection, question) | {NONE_APPLIES: NONE}
    votes = select_votes_on_items(connection, selection, items)
    texts = item_texts_of(connection, question.project, items)
    return Contested(
        question.project.name,
        question.name,
        tuple(
            ContestedItem(*texts[row.item_id], named_votes(votes[row.item_id], names), row.gain)
            for row in rows
        ),
    )


def named_votes(votes: Mapping[int, int], names: Mapping[int, str]) -> dict[str, int]:
    return {name: votes[number] for number, name in names.items() if number in votes}


def select_gains(selection: Selection) -> Select[Any]:
    """Return the statement of undecided contested items with what a decision is worth.

    Outer joins find the same as inner ones, and keep to the order: contested items, their answers,
    and the other answers beside each.
    """
    answers = select_whole_answers(selection)
    item, answer = answers.c.item_id, answers.c.answer
    differ = _undecided(selection, answers).cte("contested")
    votes = (
        select(differ.c.item_id, answer, func.max(differ.c.total).label("total"))
        .add_columns(func.count().label("number"))
        .outerjoin_from(differ, answers, item == differ.c.item_id)
        .group_by(differ.c.item_id, answer)
        .cte("votes")
    )
    other = votes.alias("other")
    pairs = (
        select(
            votes.c.item_id, votes.c.total, votes.c.answer.label("a"), other.c.answer.label("b"),
            (votes.c.number * other.c.number).label("number"),
        )
        .outerjoin_from(
            votes, other,
            and_(other.c.item_id == votes.c.item_id, other.c.answer > votes.c.answer),
        )
        .where(other.c.answer.is_not(None))
        .cte("pairs")
    )  # fmt: skip
    worth, joined = _worth(selection, pairs)
    total = func.max(pairs.c.total)
    # A sum of whole numbers, divided once: the same on every database.
    gain = 2.0 * cast(func.sum(pairs.c.number * worth), Double) / (total * (total - 1))
    return select(pairs.c.item_id, gain.label("gain")).select_from(joined).group_by(pairs.c.item_id)


def _undecided(selection: Selection, answers: Subquery) -> Select[Any]:
    """Return the statement of the items that answers differ about: (item_id, total)."""
    item, answer = answers.c.item_id, answers.c.answer
    counts = (
        select(item, func.count().label("total"))
        .group_by(item)
        .having(func.min(answer) != func.max(answer))
        .subquery("counts")
    )
    decided = labels.alias("decided")
    of_decider = select(decided.c.item_id).where(
        of_question(decided, selection.question.key), decided.c.annotator_id == selection.decider
    )
    undecided = [counts.c.item_id.not_in(of_decider)] if selection.decider else []
    return select(counts).where(*undecided)


def count_contested(connection: Connection, selection: Selection) -> int:
    items = _undecided(selection, select_whole_answers(selection)).subquery("contested")
    return connection.scalar(select(func.count()).select_from(items)) or 0


def _worth(selection: Selection, pairs: CTE) -> tuple[ColumnElement[Any], FromClause]:
    """Return what a pair of answers counts, and the pairs joined with what that is taken from."""
    if selection.question.scale in {"interval", "ratio"} and selection.single:
        first, second = (Category.__table__.alias(name) for name in ("first", "second"))
        joined: FromClause = pairs
        for table, column in ((first, pairs.c.a), (second, pairs.c.b)):
            same = and_(of_question(table, selection.question.key), table.c.id == column)
            joined = joined.join(table, same)
        apart = cast(first.c.name, Double) - cast(second.c.name, Double)
        return apart * apart, joined
    number = select(pairs.c.a, pairs.c.b, func.count().label("met"))
    like = number.group_by(pairs.c.a, pairs.c.b).cte("alike")
    return like.c.met, pairs.join(like, and_(like.c.a == pairs.c.a, like.c.b == pairs.c.b))


def select_whole_answers(
    selection: Selection, name: str = "answers", items: Select[Any] | None = None
) -> Subquery:
    """Return one row per answer; equal answers are equal texts, in whatever order they came.

    ``items`` gives the ids of the items, if not all are asked for.
    """
    if selection.single:
        return select_answer_rows(selection, name, items=items)
    key = (labels.c.item_id, labels.c.annotator_id)
    part: ColumnElement[str] = cast(labels.c.category_id, Text)
    if selection.question.answers == "spans":
        part = part + ":" + cast(labels.c.span_start, Text) + "-" + cast(labels.c.span_end, Text)
    rows = select(*key, part.label("part")).where(where_counted(selection))
    rows = rows if items is None else rows.where(labels.c.item_id.in_(items))
    ordered = rows.order_by(*key, "part").subquery("parts")
    of_answer = (ordered.c.item_id, ordered.c.annotator_id)
    answer = func.aggregate_strings(ordered.c.part, "+").label("answer")
    return select(*of_answer, answer).group_by(*of_answer).subquery(name)
