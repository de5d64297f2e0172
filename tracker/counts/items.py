"""Who said what about some items, and which items have too few answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Double,
    FromClause,
    Select,
    and_,
    case,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy import cast as sql_cast

from tracker.core import clock
from tracker.core.tallies import Answer
from tracker.counts.kept_counts import counted_rows, kept_rows
from tracker.counts.selection import (
    Selection,
    labels,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
    where_counted,
)
from tracker.projects.items import select_items_with_value
from tracker.projects.kept import kept_with_answers
from tracker.storage.current import standing_item_facts
from tracker.storage.schema import Annotator, Category, Item, ItemAttribute
from tracker.storage.schema.labels import of_question, same_answer_key

_items = Item.__table__
_categories = Category.__table__
_people = func.count(labels.c.annotator_id.distinct())


def select_answers_to_items(
    connection: Connection, selection: Selection, items: Collection[int]
) -> dict[int, list[tuple[int, Answer]]]:
    """Return who gave which answer to some items: ``{item id: [(annotator id, answer)]}``."""
    ids = select(_items.c.id).where(_items.c.id.in_(sorted(items)))
    rows = select_answer_rows(selection, items=ids)
    answers: dict[int, list[tuple[int, Answer]]] = {item: [] for item in items}
    key = (rows.c.item_id, rows.c.annotator_id)
    statement = select(*key, rows.c.answer).order_by(*key)
    for item, annotator, answer in stream_rows(connection, statement):
        answers[item].append((annotator, read_selected_answer(answer)))
    return answers


@kept_with_answers
def select_items_below(
    connection: Connection, selection: Selection, wanted: int, most: int
) -> list[tuple[int, str, int]]:
    """Return the first items of fewer than ``wanted`` answers: (id, name, answers).

    They are in the order of their first import, ``most`` at most; items without an answer are
    among them.
    """
    answers = _answers_per_item(selection).subquery("answers")
    number = func.coalesce(answers.c.answers, 0).label("number")
    joined = _items.outerjoin(answers, answers.c.item_id == _items.c.id)
    statement = select(_items.c.id, _items.c.name, number).select_from(joined)
    statement = statement.where(*_of_project(selection), number < wanted)
    rows = connection.execute(statement.order_by(_items.c.id).limit(most))
    return [(row.id, row.name, row.number) for row in rows]


def _of_project(selection: Selection) -> tuple[ColumnElement[bool], ...]:
    project = selection.question.project_id
    return _items.c.project_id == project, standing_item_facts(project, _items.c.id)


def _answers_per_item(selection: Selection, *which: ColumnElement[bool]) -> Select[Any]:
    statement = select(labels.c.item_id, _people.label("answers"))
    return statement.where(where_counted(selection), *which).group_by(labels.c.item_id)


def _votes(selection: Selection, *which: ColumnElement[bool]) -> Select[Any]:
    """Return how many annotators gave an item each category: item_id, category_id, votes."""
    key = (labels.c.item_id, labels.c.category_id)
    statement = select(*key, _people.label("votes"))
    return statement.where(where_counted(selection), *which).group_by(*key)


def _is_there(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return whether rows of other tables meet the conditions for the item of a statement."""
    return select(literal(1)).where(*conditions).correlate(_items).exists()


# -- Some items after each other, chosen by what was said of them, with their votes ---------------


@dataclass(frozen=True)
class ItemChoice:
    """Which items to list; each condition that is given must hold.

    Attributes:
        search: a text in the item's name or its text, in upper or lower case.
        annotators: each of them answered it; what differs, and who chose a category, are they.
        categories: somebody chose each; of two, two annotators.
        of_others: somebody who is none of the ``annotators`` chose each of these.
        differ: whether two annotators' answers differ.
        fewer_than: it has fewer answers than that.
        attributes: it has one of the values of each of these attributes.
        order: one of `ORDERS`.
    """

    search: str = ""
    annotators: Collection[int] = ()
    categories: Collection[int] = ()
    of_others: Collection[int] = ()
    differ: bool = False
    fewer_than: int | None = None
    attributes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    order: str = "import"


ORDERS: Final = ("import", "disagreement", "answers", "recent")
"""Of items: their first import; how much answers differ; the fewest answers, the last one first."""


class ItemVotes(NamedTuple):
    """An item and how often each category was given to it: ``{category id: annotators}``."""

    id: int
    name: str
    text: str | None
    answers: int
    votes: dict[int, int]


@kept_with_answers
def select_item_page(
    connection: Connection, selection: Selection, choice: ItemChoice, after: int, most: int
) -> list[ItemVotes]:
    """Return the next items behind the one numbered ``after``, in the order of their import.

    In another order ``after`` is the number of items before them. Items without an answer are among
    them, unless the choice asks for one.
    """
    statement = select(_items.c.id, _items.c.name, _items.c.text).where(
        *_of_project(selection), *_conditions(selection, choice)
    )
    if choice.order == "import":
        statement = statement.where(_items.c.id > after).order_by(_items.c.id)
    else:
        key = item_order_keys(connection, selection)[choice.order].subquery("keys")
        statement = statement.outerjoin_from(_items, key, key.c.item_id == _items.c.id)
        first = key.c.key.asc() if choice.order == "answers" else key.c.key.desc()
        missing = first.nulls_first() if choice.order == "answers" else first.nulls_last()
        statement = statement.order_by(missing, _items.c.id).offset(after)
    statement = statement.limit(most)
    rows = connection.execute(statement).all()
    numbers = [row.id for row in rows]
    votes = select_votes_on_items(connection, selection, numbers)
    counted = _answers_per_item(selection, labels.c.item_id.in_(numbers))
    answers: dict[int, int] = dict(connection.execute(counted).all())
    return [
        ItemVotes(row.id, row.name, row.text, answers.get(row.id, 0), votes[row.id]) for row in rows
    ]


@kept_with_answers
def _number_of_categories(connection: Connection, selection: Selection) -> int:
    of_this = of_question(_categories, selection.question.key)
    return connection.scalar(select(func.count()).where(of_this, _categories.c.id > 0)) or 0


def select_votes_on_items(
    connection: Connection, selection: Selection, items: Collection[int]
) -> dict[int, dict[int, int]]:
    """Return how many annotators gave each of some items each category: ``{item: {category: n}}``.

    `NONE_APPLIES` stands for answers without a label.
    """
    votes: dict[int, dict[int, int]] = {item: {} for item in items}
    rows = connection.execute(_votes(selection, labels.c.item_id.in_(items)))
    for item, category, number in rows:
        votes[item][category] = number
    return votes


def item_order_keys(connection: Connection, selection: Selection) -> dict[str, Select[Any]]:
    """Return statements of (item_id, key) by which items are put in order.

    Categories differ by the share of pairs of labels that are not the same one; numbers, by their
    variance. The most given category is uncertain by 1 - (m + 1) / (n + c), m of n labels and c
    categories: what is left of its mean share if all shares were alike likely before (Laplace's
    rule of succession); a mean of numbers, by its variance.
    """
    of_category = _votes(selection).subquery("votes")
    votes, total = of_category.c.votes, func.sum(of_category.c.votes)
    differing = total * total - func.sum(votes * votes)
    differ: Any = case((total > 1, differing * 1.0 / (total * (total - 1))))
    categories = max(_number_of_categories(connection, selection), 2)
    uncertain: Any = 1.0 - (func.max(votes) + 1.0) / (total + categories)
    by_votes = select(of_category.c.item_id)
    if selection.question.scale in {"interval", "ratio"}:
        same = _categories.c.id == of_category.c.category_id
        joined = of_category.join(
            _categories, and_(of_question(_categories, selection.question.key), same)
        )
        number = sql_cast(_categories.c.name, Double)
        mean = func.sum(votes * number) / total
        differ = case((total > 1, func.sum(votes * number * number) / total - mean * mean))
        uncertain = differ / total
        by_votes = by_votes.select_from(joined)
    by_item = by_votes.group_by(of_category.c.item_id)
    item = labels.c.item_id
    of_item = select(item).where(where_counted(selection)).group_by(item)
    return {
        "disagreement": by_item.add_columns(differ.label("key")),
        "uncertainty": by_item.add_columns(uncertain.label("key")),
        "answers": of_item.add_columns(_people.label("key")),
        "recent": of_item.add_columns(func.max(labels.c.labeled_at).label("key")),
    }


def _conditions(selection: Selection, choice: ItemChoice) -> list[ColumnElement[bool]]:
    conditions = []
    if choice.search:
        texts = (_items.c.name, _items.c.text)
        conditions.append(or_(*(text.icontains(choice.search, autoescape=True) for text in texts)))
    for place, annotator in enumerate(sorted(choice.annotators)):
        label = labels.alias(f"of_annotator_{place}")
        conditions.append(_is_there(_of_item(selection, label), label.c.annotator_id == annotator))
    for name, values in choice.attributes:
        has_value = select_items_with_value(selection.question.project_id, name, values)
        has_value = has_value.where(ItemAttribute.item_id == _items.c.id)
        conditions.append(has_value.correlate(_items).exists())
    if choice.categories:
        conditions.append(_has_categories(selection, choice))
    for category in sorted(choice.of_others):
        label = labels.alias(f"of_others_{category}")
        is_other = label.c.annotator_id.not_in(sorted(choice.annotators))
        is_given = _of_item(selection, label), label.c.category_id == category
        conditions.append(_is_there(*is_given, is_other))
    if choice.differ:
        conditions.append(_differ(selection, choice))
    if choice.fewer_than is not None:
        label = labels.alias("given")
        people = select(func.count(label.c.annotator_id.distinct()))
        number = people.where(_of_item(selection, label)).correlate(_items).scalar_subquery()
        conditions.append(number < choice.fewer_than)
    return conditions


def _of_item(selection: Selection, label: FromClause) -> ColumnElement[bool]:
    return where_counted(selection, label) & (label.c.item_id == _items.c.id)


def _among(label: FromClause, choice: ItemChoice) -> list[ColumnElement[bool]]:
    return [label.c.annotator_id.in_(sorted(choice.annotators))] if choice.annotators else []


def _has_categories(selection: Selection, choice: ItemChoice) -> ColumnElement[bool]:
    """Return that each category was chosen, the first and the second by two annotators."""
    every = [labels.alias(f"of_category_{place}") for place in range(len(choice.categories))]
    conditions: list[ColumnElement[bool]] = []
    for label, category in zip(every, sorted(choice.categories), strict=True):
        conditions += [_of_item(selection, label), label.c.category_id == category]
        conditions += _among(label, choice)
    if len(every) > 1:
        conditions.append(every[0].c.annotator_id != every[1].c.annotator_id)
    return _is_there(*conditions)


def _differ(selection: Selection, choice: ItemChoice) -> ColumnElement[bool]:
    """Return that somebody gave a label that somebody else did not, who answered, too."""
    first, second, same = (labels.alias(name) for name in ("one", "other", "same"))
    given_by_other = select(literal(1)).where(
        of_question(same, selection.question.key),
        same_answer_key(("item_id", "annotator_id", "pass"), same, second),
        same_answer_key(("category_id", "span_start", "span_end"), same, first),
    )
    return _is_there(
        _of_item(selection, first),
        _of_item(selection, second),
        first.c.annotator_id != second.c.annotator_id,
        *_among(first, choice),
        *_among(second, choice),
        ~given_by_other.correlate(first, second).exists(),
    )


# -- Further counts: votes on each item, answers per item, and the pace ---------------------------


class ModelAnswers(NamedTuple):
    """A model that is left out, and how many items it answered."""

    id: int
    name: str
    answers: int


def count_votes(connection: Connection, selection: Selection) -> Iterator[tuple[Any, ...]]:
    """Yield how many annotators gave an item each category: (item id, category id, annotators).

    The rows are ordered by item; `NONE_APPLIES` stands for answers without a label.
    """
    in_order = _votes(selection).order_by(labels.c.item_id, labels.c.category_id)
    yield from stream_rows(connection, in_order)


@kept_with_answers
def count_answers_per_item(connection: Connection, selection: Selection) -> dict[int, int]:
    """Return how many items have each number of answers: ``{answers: items}``."""
    number = _answers_per_item(selection).subquery("answers").c.answers
    statement = select(number, func.count()).group_by(number)
    rows = counted_rows(connection, statement, selection.question, 1)
    return dict(sorted((answers, items) for answers, items in rows))


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
    statement = (
        select(labels.c.annotator_id, func.count(labels.c.item_id.distinct()))
        .where(where_counted(named, alone=True))
        .group_by(labels.c.annotator_id)
    )
    counts = counted_rows(connection, statement, selection.question, 1)
    answers = [ModelAnswers(model, names[model], number) for model, number in counts]
    return sorted(answers, key=lambda model: model.name)


@kept_with_answers
def count_recent_labels(
    connection: Connection, selection: Selection, days: int
) -> tuple[int, int, int] | None:
    """Return the labels of the days before the newest: (labels, oldest moment, newest moment)."""
    at, counted = labels.c.labeled_at, where_counted(selection)
    ((newest,),) = kept_rows(connection, select(func.max(at)).where(counted), selection.question)
    if newest is None:
        return None
    oldest: Any = func.min(at)
    recent = select(func.count(), oldest).where(counted, at > newest - days * clock.DAY)
    ((number, first),) = kept_rows(connection, recent, selection.question)
    return number, first, newest
