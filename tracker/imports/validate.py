"""What must be true of staged rows before they enter the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    Select,
    Table,
    and_,
    bindparam,
    case,
    delete,
    func,
    literal,
    select,
)

from tracker.formats.batch import Unit, place_of
from tracker.storage.schema import Annotator, Category, Item
from tracker.storage.schema.labels import (
    ASSERTION,
    QuestionKey,
    of_question,
    own_name_key,
    same_answer_key,
)

_REFERS_TO: Mapping[str, type[Item | Annotator | Category]] = {
    "item_id": Item,
    "annotator_id": Annotator,
    "given_as": Annotator,
    "category_id": Category,
}

_MOST_REPEATED = 500_000
"""Rows of answers with several rows that are looked at, so that memory is bounded."""


_ROW = ("question_id", "source", "line", "annotator_id", "item_id")


class Contradiction(NamedTuple):
    """A row that contradicts another of its file."""

    question_id: int
    source: int
    line: int
    annotator_id: int
    item_id: int
    item: str
    reason: str

    @classmethod
    def of(cls, row: Any, reason: str) -> Contradiction:
        return cls(**{name: getattr(row, name) for name in (*_ROW, "item")}, reason=reason)

    @property
    def answer(self) -> tuple[int, ...]:
        """What tells the answers of a file apart, but for passes and times."""
        return (self.question_id, self.source, self.annotator_id, self.item_id)

    @property
    def place(self) -> tuple[int, int]:
        """The number of the file, and the line in it."""
        return (self.source, self.line)


def _named(rows: Select[Any], incoming: Table, project_id: int) -> Select[Any]:
    """Return staged rows with the names of their items and annotators, in the files' order."""
    of_annotator = (Annotator.project_id == project_id) & (Annotator.id == own_name_key(incoming))
    return (
        rows.add_columns(
            *(incoming.c[name] for name in _ROW),
            Item.name.label("item"),
            Annotator.name.label("annotator"),
        )
        .join(Item, (Item.project_id == project_id) & (Item.id == incoming.c.item_id))
        .join(Annotator, of_annotator)
        .order_by(incoming.c.source, incoming.c.line)
    )


def remove_contradicting_rows(
    connection: Connection,
    incoming: Table,
    project_id: int,
    questions: set[int],
    units: Mapping[int, Unit],
    *,
    single: bool,
) -> list[Contradiction]:
    """Remove the answers to questions that contradict others of the same file, and return them.

    If an answer is one category (``single``), these are different categories at the same time;
    else "none applies" beside a label. ``units`` says what a place is by the source's number.
    """
    if not questions:
        return []
    lowest, highest = (f(incoming.c.category_id) for f in (func.min, func.max))
    mixed = lowest < highest if single else and_(lowest < 1, highest > 0)
    key = [incoming.c[column] for column in ASSERTION]
    of_questions = incoming.c.question_id.in_(sorted(questions))
    # The two lines that are named: the first and the last, or one of each kind.
    line, category = incoming.c.line, incoming.c.category_id
    lines = [
        (func.min(line) if single else func.min(case((category < 1, line)))).label("one"),
        (func.max(line) if single else func.min(case((category > 0, line)))).label("other"),
    ]
    groups = select(*key, *lines).where(of_questions).group_by(*key).having(mixed).subquery()
    is_one = line == groups.c.one if single else category < 1
    other = case((is_one, groups.c.other), else_=groups.c.one).label("other")
    pairs = select(other).join_from(incoming, groups, same_answer_key(ASSERTION, incoming, groups))
    rows = connection.execute(
        _named(pairs, incoming, project_id)
        .add_columns(Category.name.label("category"))
        .join(
            Category,
            (Category.project_id == project_id)
            & (Category.question_id == incoming.c.question_id)
            & (Category.id == incoming.c.category_id),
        )
    ).all()
    if rows:
        again = incoming.alias("again")
        low, high = (f(again.c.category_id) for f in (func.min, func.max))
        group = (
            select(literal(1))
            .select_from(again)
            .where(same_answer_key(ASSERTION, again, incoming))
            .group_by(*(again.c[column] for column in ASSERTION))
            .having(low < high if single else and_(low < 1, high > 0))
        )
        connection.execute(delete(incoming).where(of_questions, group.correlate(incoming).exists()))
    answers = {
        (row.question_id, row.source, row.line, row.annotator_id): "nothing"
        if row.category is None
        else repr(row.category)
        for row in rows
    }
    return [
        Contradiction.of(
            row,
            f"{row.annotator!r} has two different answers for item {row.item!r}: "
            f"{answers[row.question_id, row.source, row.line, row.annotator_id]} here, "
            f"{answers[row.question_id, row.source, row.other, row.annotator_id]} "
            f"on {_other_place(row.other, units.get(row.source, 'line'))}",
        )
        for row in rows
    ]


def repeated_answers(
    connection: Connection,
    incoming: Table,
    project_id: int,
    questions: set[int],
    units: Mapping[int, Unit],
    gold: int | None,
) -> list[Contradiction]:
    """Return the answers to questions that have several rows of the same time in their file.

    Truths, by the annotator ``gold``, stand beside answers and may come again on each row.
    """
    key = [incoming.c[column] for column in ASSERTION]
    line = incoming.c.line
    first, last = func.min(line).label("first"), func.max(line).label("last")
    of_questions = incoming.c.question_id.in_(sorted(questions)) & (
        incoming.c.annotator_id != (gold or 0)
    )
    several = func.min(line) < func.max(line)
    groups = select(*key, first, last).where(of_questions).group_by(*key).having(several).subquery()
    other = case((line == groups.c.first, groups.c.last), else_=groups.c.first).label("other")
    pairs = select(other).join_from(incoming, groups, same_answer_key(ASSERTION, incoming, groups))
    return [
        Contradiction.of(
            row,
            f"{row.annotator!r} answers item {row.item!r} again on "
            f"{_other_place(row.other, units.get(row.source, 'line'))}",
        )
        for row in connection.execute(_named(pairs, incoming, project_id).limit(_MOST_REPEATED))
    ]


def remove_staged_rows(
    connection: Connection, incoming: Table, rows: Sequence[Contradiction]
) -> None:
    these = [incoming.c[name] == bindparam(f"of_{name}") for name in _ROW]
    if rows:
        connection.execute(
            delete(incoming).where(*these),
            [{f"of_{name}": getattr(row, name) for name in _ROW} for row in rows],
        )


def _other_place(number: int, unit: Unit) -> str:
    """Return a place as the end of a sentence, with its file if the source has several."""
    place = place_of("", number, unit)
    line = f"{place.unit} {place.number}" if place.number else ""
    return " of ".join(filter(None, (line, place.source)))


def remove_overlong_span_rows(
    connection: Connection, incoming: Table, project_id: int
) -> list[Contradiction]:
    """Remove spans that end past their document, whichever row or import gave its length."""
    of_item = (Item.project_id == project_id) & (Item.id == incoming.c.item_id)
    too_far = of_item & (incoming.c.span_end > Item.length)
    rows = connection.execute(
        select(
            *(incoming.c[name] for name in _ROW),
            incoming.c.span_end,
            Item.name.label("item"),
            Item.length,
        )
        .join(Item, too_far)
        .order_by(incoming.c.source, incoming.c.line)
    ).all()
    if rows:
        connection.execute(
            delete(incoming).where(select(literal(1)).where(too_far).correlate(incoming).exists())
        )
    return [
        Contradiction.of(
            row, f"the span ends at {row.span_end}, past the document's end at {row.length}"
        )
        for row in rows
    ]


def validate_staged_references(
    connection: Connection, extremes: Mapping[str, tuple[int, int]], question: QuestionKey
) -> None:
    """Check that every staged row refers to an item and annotator of the project, and a category.

    Their numbers have no gaps: from the least to the greatest of each column there is every one.
    Raises RuntimeError, because a row that fails is a fault of the program.
    """
    for column, (least, greatest) in extremes.items():
        entity = _REFERS_TO[column]
        ours = (
            of_question(Category, question)
            if entity is Category
            else entity.project_id == question.project_id
        )
        within = select(func.count()).where(ours, entity.id.between(least, greatest))
        number = connection.scalar(within)
        if number != greatest - least + 1:
            raise RuntimeError(f"{column} from {least} to {greatest}: there are but {number}")
