"""Answers that say which of two is better, by the two: attributes ``a`` and ``b`` of the item."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Subquery, and_, case, func, literal, select
from sqlalchemy.sql.selectable import FromClause

from tracker.counts.selection import Selection, select_answer_rows, stream_rows
from tracker.measures.paired_comparisons import Row
from tracker.projects.categories import category_names
from tracker.projects.preferences import SIDES, side_of
from tracker.storage.schema import Item, ItemAttribute

_items, _attributes = Item.__table__, ItemAttribute.__table__


@dataclass(frozen=True)
class ComparedItems:
    """The rows of those who are counted together, and the answers that are in none.

    Attributes:
        rows: of items whose two have names.
        without_names: answers to other items.
        without_side: answers of a category that says neither which is better nor a tie.
    """

    rows: Sequence[Row]
    without_names: int = 0
    without_side: int = 0


class SameItems(NamedTuple):
    """A model beside the people: items that both answered, pairs of answers, those alike."""

    items: int
    pairs: int
    alike: int


class Swapped(NamedTuple):
    """Pairs of an annotator's answers to the same two: the one in one order, then in the other."""

    annotator: int
    one: str
    other: str
    pairs: int


def count_compared_items(
    connection: Connection, selection: Selection, models: Collection[int] = ()
) -> dict[int, ComparedItems]:
    """Return the items by how often each answer was given: of the people, by 0, and each model."""
    tallied = _tallied(connection, selection, models)
    compared = _compared(selection)
    joined = tallied.outerjoin(compared, compared.c.item_id == tallied.c.item_id)
    key = [tallied.c.voter, compared.c.a, compared.c.b, *(tallied.c[name] for name in _ANSWERS)]
    statement = select(*key, func.count()).select_from(joined).group_by(*key)
    counted: dict[int, tuple[list[Row], list[int]]] = {0: ([], [0, 0])}
    for voter, a, b, *numbers, items in stream_rows(connection, statement):
        rows, left = counted.setdefault(voter, ([], [0, 0]))
        better, ties, worse, none = map(int, numbers)
        left[1] += none * items
        if a and b:
            rows.append(Row(a, b, better, ties, worse, items))
        else:
            left[0] += (better + ties + worse) * items
    return {voter: ComparedItems(rows, *left) for voter, (rows, left) in counted.items()}


def count_same_items(
    connection: Connection, selection: Selection, models: Collection[int]
) -> dict[int, SameItems]:
    """Return how often each model and the people say the same of the same items."""
    people, model = (
        _tallied(connection, selection, models).alias(name) for name in ("people", "of_models")
    )
    numbers = [sum(one.c[side] for side in SIDES) for one in (people, model)]
    alike = sum(people.c[side] * model.c[side] for side in SIDES)
    statement = (
        select(model.c.voter, func.count(), func.sum(numbers[0] * numbers[1]), func.sum(alike))
        .join_from(people, model, people.c.item_id == model.c.item_id)
        .where(people.c.voter == 0, model.c.voter != 0)
        .group_by(model.c.voter)
    )
    rows = connection.execute(statement).all()
    return {voter: SameItems(*map(int, numbers)) for voter, *numbers in rows}


def count_shown(connection: Connection, selection: Selection) -> dict[int, list[Row]]:
    """Return each annotator's answers by the two that were shown, in their order."""
    answers, compared = select_answer_rows(selection), _compared(selection)
    side = side_column(connection, selection, answers)
    key = [answers.c.annotator_id, compared.c.a, compared.c.b]
    statement = (
        select(*key, *(func.sum(case((side == n, 1), else_=0)) for n in range(len(SIDES))))
        .join_from(answers, compared, compared.c.item_id == answers.c.item_id)
        .where(compared.c.a.is_not(None), compared.c.b.is_not(None))
        .group_by(*key)
    )
    shown: dict[int, list[Row]] = {}
    for annotator, a, b, *numbers in stream_rows(connection, statement):
        if any(numbers) and a and b and a != b:
            shown.setdefault(annotator, []).append(Row(a, b, *map(int, numbers)))
    return shown


def count_swapped(connection: Connection, selection: Selection) -> Iterator[Swapped]:
    """Yield the answers of annotators to the same two of the same prompt in both orders.

    Two items are so if their ``a`` and ``b`` are exchanged, and their keys are the same without
    these names; if the keys have not both, the prompt and the turn, if there is one.
    """
    answers, compared = select_answer_rows(selection), _compared(selection)
    side = side_column(connection, selection, answers)
    a, b = compared.c.a, compared.c.b
    same = (answers.c.annotator_id, compared.c.context, case((a < b, a), else_=b),
            case((a < b, b), else_=a))  # fmt: skip
    counts = [
        func.sum(case((and_(order, side == n), 1), else_=0)).label(f"{name}_{n}")
        for name, order in (("one", a < b), ("other", a > b))
        for n in range(len(SIDES))
    ]
    pairs = (
        select(answers.c.annotator_id, *counts)
        .join_from(answers, compared, compared.c.item_id == answers.c.item_id)
        .where(compared.c.context.is_not(None), a != "", b != "", a != b)
        .group_by(*same)
        .subquery("pairs")
    )
    number: dict[str, Any] = {
        name: sum(pairs.c[f"{name}_{n}"] for n in range(len(SIDES))) for name in ("one", "other")
    }
    in_both = select(*pairs.c, func.count()).where(number["one"] > 0, number["other"] > 0)
    for annotator, *numbers, times in stream_rows(connection, in_both.group_by(*pairs.c)):
        for n, m in product(range(3), repeat=2):
            if both := int(numbers[n]) * int(numbers[3 + m]) * times:
                yield Swapped(annotator, SIDES[n], SIDES[m], both)


def side_column(
    connection: Connection, selection: Selection, answers: FromClause
) -> ColumnElement[Any]:
    """Return the place in `SIDES` of what an answer says; NULL if it says none of them."""
    sides: dict[str | None, list[int]] = {}
    for number, name in category_names(connection, selection.question).items():
        sides.setdefault(side_of(name), []).append(number)
    return case(*((answers.c.answer.in_(sides.get(side, [])), n) for n, side in enumerate(SIDES)))


_ANSWERS = (*SIDES, "none")


def _tallied(connection: Connection, selection: Selection, models: Collection[int]) -> Subquery:
    """Return how often each answer was given to an item: by the people, voter 0, and each model."""
    answers = select_answer_rows(selection.with_models(frozenset(models)))
    voter: ColumnElement[int] = literal(0)
    if models:
        who = answers.c.annotator_id
        voter = case((who.in_(sorted(models)), who), else_=0)
    side = side_column(connection, selection, answers)
    votes = select(answers.c.item_id, voter.label("voter"), side.label("side")).subquery("votes")
    given = {name: votes.c.side == n for n, name in enumerate(SIDES)}
    given["none"] = votes.c.side.is_(None)
    counts = [func.sum(case((given[name], 1), else_=0)).label(name) for name in _ANSWERS]
    key = (votes.c.item_id, votes.c.voter)
    return select(*key, *counts).group_by(*key).subquery("tallied")


def _compared(selection: Selection) -> Subquery:
    """Return each item's two, and what of it is the same if they are exchanged: its ``context``."""
    named = {
        name: func.max(case((_attributes.c.name == name, _attributes.c.value)))
        for name in ("a", "b", "prompt", "turn")
    }
    project = selection.question.project_id
    of_items = (
        select(_attributes.c.item_id, *(value.label(name) for name, value in named.items()))
        .where(_attributes.c.project_id == project, _attributes.c.name.in_(named))
        .group_by(_attributes.c.item_id)
        .subquery("attributes_of_items")
    )
    a, b = of_items.c.a, of_items.c.b
    is_longer = func.length(a) >= func.length(b)
    longer, shorter = case((is_longer, a), else_=b), case((is_longer, b), else_=a)
    without = func.replace(_items.c.name, longer, "")
    rest = func.replace(without, shorter, "")
    has_both = and_(without != _items.c.name, rest != without)
    context = case(
        (has_both, rest), else_=of_items.c.prompt + "\x1f" + func.coalesce(of_items.c.turn, "")
    )
    this = and_(_items.c.project_id == project, _items.c.id == of_items.c.item_id)
    return (
        select(of_items.c.item_id, a, b, context.label("context"))
        .join_from(of_items, _items, this)
        .subquery("compared")
    )
