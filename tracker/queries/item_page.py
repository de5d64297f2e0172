"""Some items after each other, chosen by what was said of them, with their votes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple, cast

from sqlalchemy import ColumnElement, Connection, FromClause, Table, func, literal, or_, select

from tracker.queries.selection import Selection, labels, where_counted
from tracker.storage.answer_keys import of_question
from tracker.storage.facts import standing_item_facts
from tracker.storage.schema import Item

_items = cast("Table", Item.__table__)


@dataclass(frozen=True)
class ItemChoice:
    """Which items to list; each condition that is given must hold.

    Attributes:
        search: a text in the item's name or its text, in upper or lower case.
        annotators: each of them answered it; what differs, and who chose a category, are they.
        categories: somebody chose each; of two, two annotators.
        differ: whether two annotators' answers differ.
        fewer_than: it has fewer answers than that.
    """

    search: str = ""
    annotators: Collection[int] = ()
    categories: Collection[int] = ()
    differ: bool = False
    fewer_than: int | None = None


class ItemVotes(NamedTuple):
    """An item and how often each category was given to it: ``{category id: annotators}``."""

    id: int
    name: str
    text: str | None
    answers: int
    votes: dict[int, int]


def select_item_page(
    connection: Connection, selection: Selection, choice: ItemChoice, after: int, most: int
) -> list[ItemVotes]:
    """Return the next items behind the one numbered ``after``, in the order of their import.

    Items without an answer are among them, unless the choice asks for one.
    """
    statement = (
        select(_items.c.id, _items.c.name, _items.c.text)
        .where(
            _items.c.project_id == selection.question.project_id,
            _items.c.id > after,
            standing_item_facts(selection.question.project_id, _items.c.id),
            *_conditions(selection, choice),
        )
        .order_by(_items.c.id)
        .limit(most)
    )
    rows = connection.execute(statement).all()
    numbers = [row.id for row in rows]
    counted = (where_counted(selection), labels.c.item_id.in_(numbers))
    people = func.count(labels.c.annotator_id.distinct())
    votes: dict[int, dict[int, int]] = {number: {} for number in numbers}
    of_item = select(labels.c.item_id, labels.c.category_id, people).where(*counted)
    for item, category, number in connection.execute(
        of_item.group_by(labels.c.item_id, labels.c.category_id)
    ):
        votes[item][category] = number
    each = select(labels.c.item_id, people).where(*counted).group_by(labels.c.item_id)
    answers = {row[0]: row[1] for row in connection.execute(each)}
    return [
        ItemVotes(row.id, row.name, row.text, answers.get(row.id, 0), votes[row.id]) for row in rows
    ]


def _conditions(selection: Selection, choice: ItemChoice) -> list[ColumnElement[bool]]:
    found = []
    if choice.search:
        found.append(
            or_(
                _items.c.name.icontains(choice.search, autoescape=True),
                _items.c.text.icontains(choice.search, autoescape=True),
            )
        )
    for place, annotator in enumerate(sorted(choice.annotators)):
        one = labels.alias(f"of_annotator_{place}")
        found.append(_said(selection, one, one.c.annotator_id == annotator))
    found += _chosen(selection, choice)
    if choice.differ:
        found.append(_differ(selection, choice))
    if choice.fewer_than is not None:
        one = labels.alias("given")
        number = (
            select(func.count(one.c.annotator_id.distinct()))
            .where(_of_item(selection, one))
            .correlate(_items)
            .scalar_subquery()
        )
        found.append(number < choice.fewer_than)
    return found


def _of_item(selection: Selection, one: FromClause) -> ColumnElement[bool]:
    return where_counted(selection, one) & (one.c.item_id == _items.c.id)


def _among(one: FromClause, choice: ItemChoice) -> list[ColumnElement[bool]]:
    return [one.c.annotator_id.in_(sorted(choice.annotators))] if choice.annotators else []


def _said(
    selection: Selection, one: FromClause, *conditions: ColumnElement[bool]
) -> ColumnElement[bool]:
    asked = select(literal(1)).select_from(one).where(_of_item(selection, one), *conditions)
    return asked.correlate(_items).exists()


def _chosen(selection: Selection, choice: ItemChoice) -> list[ColumnElement[bool]]:
    """Return that each category was chosen, the first and the second by two annotators."""
    if not choice.categories:
        return []
    every = [labels.alias(f"of_category_{place}") for place in range(len(choice.categories))]
    conditions = [
        condition
        for one, category in zip(every, sorted(choice.categories), strict=True)
        for condition in (
            _of_item(selection, one), one.c.category_id == category, *_among(one, choice)
        )
    ]  # fmt: skip
    if len(every) > 1:
        conditions.append(every[0].c.annotator_id != every[1].c.annotator_id)
    asked = select(literal(1)).select_from(*every).where(*conditions)
    return [asked.correlate(_items).exists()]


def _differ(selection: Selection, choice: ItemChoice) -> ColumnElement[bool]:
    """Return that somebody gave a label that somebody else did not, who answered, too."""
    one, other, same = (labels.alias(name) for name in ("one", "other", "same"))
    given_by_other = (
        select(literal(1))
        .select_from(same)
        .where(
            of_question(same, selection.question.key),
            same.c.item_id == other.c.item_id,
            *(same.c[name] == other.c[name] for name in ("annotator_id", "pass")),
            *(same.c[name] == one.c[name] for name in ("category_id", "span_start", "span_end")),
        )
        .correlate(one, other)
        .exists()
    )
    asked = (
        select(literal(1))
        .select_from(one, other)
        .where(
            _of_item(selection, one),
            _of_item(selection, other),
            one.c.annotator_id != other.c.annotator_id,
            *_among(one, choice),
            *_among(other, choice),
            ~given_by_other,
        )
    )
    return asked.correlate(_items).exists()
