"""Facts beside the labels: which of them hold, and how more are recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from tracker.core.kept import read_once
from tracker.storage.schema import (
    KINDS,
    NONE_APPLIES,
    Annotator,
    AnnotatorFact,
    CategoryFact,
    CategoryMerge,
    Import,
    ItemFact,
    Label,
    PastLabel,
    Question,
)
from tracker.storage.schema.labels import (
    QuestionKey,
    of_question,
    question_numbers,
    same_answer_key,
    select_with,
)

ITEM, TEXT, LENGTH, ATTRIBUTE = "item", "text", "length", "attribute"
"""What can be said of an item."""
ANNOTATOR, CATEGORY = "annotator", "category"
"""That there is an annotator, that there is a category."""
KIND, PRESENCE = "kind", "presence"
"""What else can be said of an annotator."""
LEFT, PAUSED, HERE = "left", "paused", "here"
"""Whether an annotator is there: words of their presence."""
ORDERED = "position"
"""What else can be said of a category."""

_labels = Label.__table__
_past = PastLabel.__table__
_items = ItemFact.__table__
_annotators = AnnotatorFact.__table__
_categories = CategoryFact.__table__


def fact_not_undone(facts: Table, of: QuestionKey | int) -> ColumnElement[bool]:
    """Return the condition that a fact is a question's, or a project's, and of no undone import."""
    if isinstance(of, int):
        project_id, ours = of, facts.c.project_id == of
    else:
        project_id, ours = of.project_id, of_question(facts, of)
    undone = select(Import.change_id).where(
        Import.project_id == project_id, Import.undone_by.is_not(None)
    )
    return and_(ours, facts.c.change_id.not_in(undone))


def last_kind_facts(project_id: int, role: str = KIND) -> Select[tuple[int, str]]:
    """Return the last fact of a role about each annotator: ``annotator_id``, ``value``."""
    of_role = _annotators.c.role == role
    last = (
        select(_annotators.c.annotator_id, func.max(_annotators.c.change_id).label("change_id"))
        .where(fact_not_undone(_annotators, project_id), of_role)
        .group_by(_annotators.c.annotator_id)
        .subquery("last")
    )
    return (
        select(_annotators.c.annotator_id, _annotators.c.value)
        .join(last, same_answer_key(("annotator_id", "change_id"), last, _annotators))
        .where(_annotators.c.project_id == project_id, of_role)
    )


def apply_kind_facts(connection: Connection, project_id: int, change: int) -> None:
    """Give annotators with a kind from a change the kind that follows from the facts now."""
    changed = select(_annotators.c.annotator_id).where(
        _annotators.c.project_id == project_id,
        _annotators.c.role == KIND,
        _annotators.c.change_id == change,
    )
    facts = last_kind_facts(project_id).subquery("facts")
    kind = select(facts.c.value).where(facts.c.annotator_id == Annotator.id).scalar_subquery()
    connection.execute(
        update(Annotator)
        .where(Annotator.project_id == project_id, Annotator.id.in_(changed))
        .values(kind=func.coalesce(kind, KINDS[0]))
    )


def annotators_with_facts(connection: Connection, project_id: int) -> set[int]:
    """Return the annotators that a change named which was not undone."""
    named = select(_annotators.c.annotator_id).where(
        fact_not_undone(_annotators, project_id), _annotators.c.role == ANNOTATOR
    )
    return set(connection.scalars(named.distinct()))


def categories_with_facts(connection: Connection, question: QuestionKey) -> set[int]:
    """Return the categories that a standing import named, merged ones as the other."""
    named = select(_categories.c.category_id).where(
        fact_not_undone(_categories, question), _categories.c.role == CATEGORY
    )
    categories = set(connection.scalars(named.distinct()))
    for category, into in stored_category_merges(connection, question).items():
        if category in categories:
            categories = categories - {category} | {into}
    return categories


def standing_item_facts(project_id: int, item: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a standing change has an answer to an item, or a fact about it."""
    questions = question_numbers(project_id)
    return or_(
        *(
            select(table.c.item_id)
            .where(table.c.project_id == project_id, table.c.item_id == item, *left)
            .exists()
            for table, left in (
                (_labels, (_labels.c.question_id.in_(questions),)),
                (_items, (fact_not_undone(_items, project_id),)),
                (_past, (_past.c.question_id.in_(questions), _past.c.taken_back_by.is_(None))),
            )
        )
    )


def annotator_kind_facts(connection: Connection, project_id: int) -> dict[int, str]:
    """Return the kind of each annotator that was given one; the others are human."""
    return {row.annotator_id: row.value for row in connection.execute(last_kind_facts(project_id))}


class Presence(NamedTuple):
    """Whether an annotator is there: a word, the moment from which on it holds, and why."""

    word: str
    moment: int
    note: str | None = None


@read_once
def annotator_presence(connection: Connection, project_id: int) -> dict[int, Presence]:
    """Return what was last said of the presence of each annotator; the others are there."""
    presence = {}
    for row in connection.execute(last_kind_facts(project_id, PRESENCE)):
        word, moment, *note = row.value.split(" ", 2)
        presence[row.annotator_id] = Presence(word, int(moment), *note)
    return presence


def erase_presence_notes(connection: Connection, project_id: int, annotators: list[int]) -> None:
    """Take out why annotators were paused; moments have 16 digits from 2001 to 2286."""
    ours = and_(_annotators.c.project_id == project_id, _annotators.c.role == PRESENCE)
    paused = _annotators.c.value.startswith(f"{PAUSED} ")
    without = func.substr(_annotators.c.value, 1, len(PAUSED) + 1 + 16)
    erased = update(_annotators).where(ours, paused, _annotators.c.annotator_id.in_(annotators))
    connection.execute(erased.values(value=without))


def record_annotator_facts(
    connection: Connection,
    project_id: int,
    change: int,
    mentioned: Iterable[int] = (),
    kinds: Mapping[int, str] | None = None,
    presence: Mapping[int, Presence] | None = None,
) -> None:
    """Record which annotators a change named, the kind of some, and the presence of some."""
    facts = [(number, ANNOTATOR, "") for number in mentioned]
    facts += [
        (number, PRESENCE, " ".join(str(part) for part in parts if part is not None))
        for number, parts in (presence or {}).items()
    ]
    facts += [(number, KIND, kind) for number, kind in (kinds or {}).items()]
    rows = [
        {"project_id": project_id, "change_id": change}
        | {"annotator_id": number, "role": role, "value": value}
        for number, role, value in facts
    ]
    if rows:
        connection.execute(insert(_annotators), rows)


def record_category_facts(
    connection: Connection,
    question: QuestionKey,
    change: int,
    mentioned: Iterable[int] = (),
    order: Iterable[int] = (),
) -> None:
    """Record which categories a change named, and the order that it gave to some."""
    facts = [(number, CATEGORY, 0) for number in mentioned]
    facts += [(number, ORDERED, place) for place, number in enumerate(order, 1)]
    rows = [
        question._asdict()
        | {"change_id": change, "category_id": number, "role": role, "value": value}
        for number, role, value in facts
    ]
    if rows:
        connection.execute(insert(_categories), rows)


def forget_annotator_facts(
    connection: Connection, project_id: int, change: int, annotators: Iterable[int]
) -> None:
    """Delete a change's facts about annotators that no other change named."""
    key = {"project_id": project_id}
    _forget(connection, _annotators, "annotator_id", key, change, annotators)


def forget_category_facts(
    connection: Connection, question: QuestionKey, change: int, categories: Iterable[int]
) -> None:
    """Delete a change's facts about categories that no other change named."""
    _forget(connection, _categories, "category_id", question._asdict(), change, categories)


def _forget(
    connection: Connection,
    facts: Table,
    name: str,
    key: Mapping[str, int],
    change: int,
    numbers: Iterable[int],
) -> None:
    def about_number(table: FromClause) -> ColumnElement[bool]:
        ours = [table.c[column] == value for column, value in key.items()]
        return and_(*ours, table.c[name] == bindparam("number"))

    rows, others = [{"number": number} for number in numbers], facts.alias("others")
    if rows:
        other = exists().where(about_number(others), others.c.change_id != change)
        ours = delete(facts).where(about_number(facts), facts.c.change_id == change, ~other)
        connection.execute(ours, rows)


def stored_category_merges(connection: Connection, question: QuestionKey) -> dict[int, int]:
    """Return the categories that count as another, ``{id: the other's}``, as they were merged."""
    statement = (
        select(CategoryMerge.category_id, CategoryMerge.into_id)
        .where(of_question(CategoryMerge, question), CategoryMerge.to_change.is_(None))
        .order_by(CategoryMerge.from_change)
    )
    return dict(connection.execute(statement).all())


def category_position_facts(connection: Connection, question: QuestionKey) -> dict[int, int]:
    """Return the place of each category that has one, by id; the last change gave all."""
    statement = select(_categories.c.category_id, _categories.c.value).where(
        of_question(_categories, question),
        _categories.c.role == ORDERED,
        _categories.c.change_id == _last_order(question).scalar_subquery(),
    )
    return dict(connection.execute(statement).all())


def _last_order(question: QuestionKey) -> Select[Any]:
    return select(func.max(_categories.c.change_id)).where(
        fact_not_undone(_categories, question), _categories.c.role == ORDERED
    )


_of_questions = and_(_categories.c.category_id == NONE_APPLIES, _categories.c.role == CATEGORY)
"""The facts about a question itself: about the category that each has from the beginning."""


def is_vacant_question() -> ColumnElement[bool]:
    """Return the condition that a question was made by an import, and all that used it is undone.

    A question that a command made has no such facts.
    """
    undone = exists(select(literal(1)).select_from(Import)).where(
        Import.project_id == _categories.c.project_id,
        Import.change_id == _categories.c.change_id,
        Import.undone_by.is_not(None),
    )
    used = exists(select(literal(1)).select_from(_categories)).where(
        _categories.c.project_id == Question.project_id,
        _categories.c.question_id == Question.id,
        _of_questions,
    )
    still_used = used.where(~undone.correlate(_categories))
    return and_(used.correlate(Question.__table__), ~still_used.correlate(Question.__table__))


def question_uses(connection: Connection, project_id: int) -> dict[int, list[int]]:
    """Return the changes not undone that made or used each question that an import made."""
    rows = connection.execute(
        select(_categories.c.question_id, _categories.c.change_id)
        .where(fact_not_undone(_categories, project_id), _of_questions)
        .order_by(_categories.c.question_id, _categories.c.change_id)
    )
    uses: dict[int, list[int]] = {}
    for row in rows:
        uses.setdefault(row.question_id, []).append(row.change_id)
    return uses


def record_question_use(
    connection: Connection, question: QuestionKey, change: int, *, made: bool = False
) -> None:
    """Record that a change uses a question that an import made, or that it is that import."""
    values = [*question, NONE_APPLIES, CATEGORY, change, 0]
    columns = ["project_id", "question_id", "category_id", "role", "change_id", "value"]
    if made:
        connection.execute(insert(_categories).values(dict(zip(columns, values, strict=True))))
        return
    used = exists(select(literal(1)).select_from(_categories)).where(
        of_question(_categories, question), _of_questions
    )
    row = select(*map(literal, values)).where(used.correlate(None))
    connection.execute(insert(_categories).from_select(columns, row))


def inherit_order(connection: Connection, question: QuestionKey, change: int, heir: int) -> None:
    """Record the present order of categories as another change's, if it is from this one."""
    if connection.scalar(_last_order(question)) != change:
        return
    order = select_with(_categories, change_id=literal(heir)).where(
        of_question(_categories, question),
        _categories.c.role == ORDERED,
        _categories.c.change_id == change,
    )
    names = [column.name for column in _categories.columns]
    connection.execute(insert(_categories).from_select(names, order))
