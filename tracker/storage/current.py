"""What was said beside the labels: which of it holds, and how more of it is said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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
from tracker.storage.schema.labels import QuestionKey, of_question, question_numbers

ITEM, TEXT, LENGTH, ATTRIBUTE = "item", "text", "length", "attribute"
"""What can be said of an item."""
ANNOTATOR, CATEGORY = "annotator", "category"
"""That there is an annotator, that there is a category."""
KIND, PRESENCE = "kind", "presence"
"""What else can be said of an annotator."""
LEFT, HERE = "left", "here"
"""Whether an annotator is there, each a word of their presence with the moment it holds from."""
ORDERED = "position"
"""What else can be said of a category."""

_labels = Label.__table__
_past = PastLabel.__table__
_items = ItemFact.__table__
_annotators = AnnotatorFact.__table__
_categories = CategoryFact.__table__


def fact_not_undone(facts: Table, of: QuestionKey | int) -> ColumnElement[bool]:
    """Return the condition that a fact was not said by an import that was undone.

    It is a fact of a question, or of a project by its number.
    """
    project_id, ours = (
        (of, facts.c.project_id == of)
        if isinstance(of, int)
        else (of.project_id, of_question(facts, of))
    )
    undone = select(Import.change_id).where(
        Import.project_id == project_id, Import.undone_by.is_not(None)
    )
    return and_(ours, facts.c.change_id.not_in(undone))


def last_kind_facts(project_id: int, role: str = KIND) -> Select[tuple[int, str]]:
    """Return the kind that each annotator was last said to have: ``annotator_id``, ``value``.

    Or what else was said last, by its role.
    """
    of_kind = and_(fact_not_undone(_annotators, project_id), _annotators.c.role == role)
    last = (
        select(_annotators.c.annotator_id, func.max(_annotators.c.change_id).label("change_id"))
        .where(of_kind)
        .group_by(_annotators.c.annotator_id)
        .subquery("last")
    )
    return (
        select(_annotators.c.annotator_id, _annotators.c.value)
        .join(
            last,
            and_(
                last.c.annotator_id == _annotators.c.annotator_id,
                last.c.change_id == _annotators.c.change_id,
            ),
        )
        .where(_annotators.c.project_id == project_id, _annotators.c.role == role)
    )


def apply_kind_facts(connection: Connection, project_id: int, change: int) -> None:
    """Give annotators of whose kind a change spoke the kind that the facts left say."""
    spoken = select(_annotators.c.annotator_id).where(
        _annotators.c.project_id == project_id,
        _annotators.c.role == KIND,
        _annotators.c.change_id == change,
    )
    told = last_kind_facts(project_id).subquery("told")
    kind = select(told.c.value).where(told.c.annotator_id == Annotator.id).scalar_subquery()
    connection.execute(
        update(Annotator)
        .where(Annotator.project_id == project_id, Annotator.id.in_(spoken))
        .values(kind=func.coalesce(kind, KINDS[0]))
    )


def annotators_with_facts(connection: Connection, project_id: int) -> set[int]:
    """Return the annotators of whom a change spoke that was not undone."""
    return _spoken_of(connection, _annotators, "annotator_id", ANNOTATOR, project_id)


def categories_with_facts(connection: Connection, question: QuestionKey) -> set[int]:
    """Return the categories of which an import spoke that stands, merged ones as the other."""
    known = _spoken_of(connection, _categories, "category_id", CATEGORY, question)
    for category, into in stored_category_merges(connection, question).items():
        if category in known:
            known = known - {category} | {into}
    return known


def standing_item_facts(project_id: int, item: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a change which stands answered an item, or spoke of it."""
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


def _spoken_of(
    connection: Connection, facts: Table, number: str, role: str, of: QuestionKey | int
) -> set[int]:
    spoken = select(facts.c[number]).where(fact_not_undone(facts, of), facts.c.role == role)
    return set(connection.scalars(spoken.distinct()))


def annotator_kind_facts(connection: Connection, project_id: int) -> dict[int, str]:
    """Return the kind of each annotator of whom one was said; the others are human."""
    return {row.annotator_id: row.value for row in connection.execute(last_kind_facts(project_id))}


def annotator_departures(connection: Connection, project_id: int) -> dict[int, int]:
    """Return the moment from which on each annotator who left is gone, which may be to come."""
    rows = connection.execute(last_kind_facts(project_id, PRESENCE))
    payload = {row.annotator_id: row.value.split() for row in rows}
    return {number: int(moment) for number, (word, moment) in payload.items() if word == LEFT}


def record_annotator_facts(
    connection: Connection,
    project_id: int,
    change: int,
    mentioned: Iterable[int] = (),
    kinds: Mapping[int, str] | None = None,
    presence: Mapping[int, tuple[str, int]] | None = None,
) -> None:
    """Record that a change spoke of annotators, which kind some are, and who is there."""
    rows = [(number, ANNOTATOR, "") for number in mentioned]
    rows += [
        (number, PRESENCE, f"{word} {moment}")
        for number, (word, moment) in (presence or {}).items()
    ]
    rows += [(number, KIND, kind) for number, kind in (kinds or {}).items()]
    if rows:
        connection.execute(
            insert(_annotators),
            [
                {"project_id": project_id, "change_id": change}
                | {"annotator_id": number, "role": role, "value": value}
                for number, role, value in rows
            ],
        )


def record_category_facts(
    connection: Connection,
    question: QuestionKey,
    change: int,
    mentioned: Iterable[int] = (),
    order: Iterable[int] = (),
) -> None:
    """Record that a change spoke of categories, or put some in an order."""
    rows = [(number, CATEGORY, 0) for number in mentioned]
    rows += [(number, ORDERED, place) for place, number in enumerate(order, 1)]
    if rows:
        connection.execute(
            insert(_categories),
            [
                question._asdict()
                | {"change_id": change}
                | {"category_id": number, "role": role, "value": value}
                for number, role, value in rows
            ],
        )


def forget_annotator_facts(
    connection: Connection, project_id: int, change: int, annotators: Iterable[int]
) -> None:
    """Delete what a change said of annotators of whom no other change speaks."""
    key = {"project_id": project_id}
    _forget(connection, _annotators, "annotator_id", key, change, annotators)


def forget_category_facts(
    connection: Connection, question: QuestionKey, change: int, categories: Iterable[int]
) -> None:
    """Delete what a change said of categories of which no other change speaks."""
    _forget(connection, _categories, "category_id", question._asdict(), change, categories)


def _forget(
    connection: Connection,
    facts: Table,
    name: str,
    key: Mapping[str, int],
    change: int,
    numbers: Iterable[int],
) -> None:
    def said(table: FromClause) -> ColumnElement[bool]:
        ours = [table.c[column] == value for column, value in key.items()]
        return and_(*ours, table.c[name] == bindparam("number"))

    rows, others = [{"number": number} for number in numbers], facts.alias("others")
    if rows:
        spoken = exists().where(said(others), others.c.change_id != change)
        ours = delete(facts).where(said(facts), facts.c.change_id == change, ~spoken)
        connection.execute(ours, rows)


def stored_category_merges(connection: Connection, question: QuestionKey) -> dict[int, int]:
    """Return the categories that count as another, ``{id: the other's}``, as they were merged."""
    rows = connection.execute(
        select(CategoryMerge.category_id, CategoryMerge.into_id)
        .where(of_question(CategoryMerge, question), CategoryMerge.to_change.is_(None))
        .order_by(CategoryMerge.from_change)
    )
    return {row.category_id: row.into_id for row in rows}


def category_position_facts(connection: Connection, question: QuestionKey) -> dict[int, int]:
    """Return the place of each category that has one, by id; the last change gave all."""
    of_order = and_(fact_not_undone(_categories, question), _categories.c.role == ORDERED)
    last = select(func.max(_categories.c.change_id)).where(of_order).scalar_subquery()
    rows = connection.execute(
        select(_categories.c.category_id, _categories.c.value).where(
            of_question(_categories, question),
            _categories.c.role == ORDERED,
            _categories.c.change_id == last,
        )
    )
    return {row.category_id: row.value for row in rows}


_of_questions = and_(_categories.c.category_id == NONE_APPLIES, _categories.c.role == CATEGORY)
"""The facts that speak of a question itself: of the category that each has from the beginning."""


def is_vacant_question() -> ColumnElement[bool]:
    """Return the condition that a question was made by an import, and all that used it is undone.

    A question that a command made has no such facts.
    """
    undone = exists(select(literal(1)).select_from(Import)).where(
        Import.project_id == _categories.c.project_id,
        Import.change_id == _categories.c.change_id,
        Import.undone_by.is_not(None),
    )
    spoken = exists(select(literal(1)).select_from(_categories)).where(
        _categories.c.project_id == Question.project_id,
        _categories.c.question_id == Question.id,
        _of_questions,
    )
    left = spoken.where(~undone.correlate(_categories))
    return and_(spoken.correlate(Question.__table__), ~left.correlate(Question.__table__))


def question_uses(connection: Connection, project_id: int) -> dict[int, list[int]]:
    """Return the changes not undone that made or used each question that an import made."""
    rows = connection.execute(
        select(_categories.c.question_id, _categories.c.change_id)
        .where(fact_not_undone(_categories, project_id), _of_questions)
        .order_by(_categories.c.question_id, _categories.c.change_id)
    )
    found: dict[int, list[int]] = {}
    for row in rows:
        found.setdefault(row.question_id, []).append(row.change_id)
    return found


def record_question_use(
    connection: Connection, question: QuestionKey, change: int, *, made: bool = False
) -> None:
    """Record that a change uses a question that an import made, or that it is that import."""
    values = [*question, NONE_APPLIES, CATEGORY, change, 0]
    columns = ["project_id", "question_id", "category_id", "role", "change_id", "value"]
    if made:
        connection.execute(insert(_categories).values(dict(zip(columns, values, strict=True))))
        return
    spoken = exists(select(literal(1)).select_from(_categories)).where(
        of_question(_categories, question), _of_questions
    )
    told = select(*map(literal, values)).where(spoken.correlate(None))
    connection.execute(insert(_categories).from_select(columns, told))


def inherit_order(connection: Connection, question: QuestionKey, change: int, heir: int) -> None:
    """Let another change have given the order that holds, if that one did."""
    of_order = and_(of_question(_categories, question), _categories.c.role == ORDERED)
    last = select(func.max(_categories.c.change_id)).where(
        fact_not_undone(_categories, question), _categories.c.role == ORDERED
    )
    if connection.scalar(last) != change:
        return
    columns = [column.name for column in _categories.columns]
    told = (
        literal(heir).label("change_id") if name == "change_id" else _categories.c[name]
        for name in columns
    )
    given = select(*told).where(of_order, _categories.c.change_id == change)
    connection.execute(insert(_categories).from_select(columns, given))
