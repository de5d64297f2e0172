"""Which answers are counted, and one row per answer."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Subquery,
    Text,
    and_,
    case,
    false,
    func,
    literal,
    or_,
    select,
    tuple_,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.sql.selectable import FromClause

from tracker.core import clock
from tracker.core.tallies import Answer
from tracker.projects.items import select_items_with_value
from tracker.projects.questions import QuestionInfo
from tracker.storage.backends import Seldom
from tracker.storage.schema import SKIPPED, ItemAttribute, Label
from tracker.storage.schema.labels import of_question, same_answer_key

labels = Label.__table__
_attributes = ItemAttribute.__table__
_lower = labels.alias("lower_pass")  # once: to proxy a table's columns is most of a statement

FIRST_DIGIT_BITS = 4  # up to 15 answers to an item; more than that and it is counted again
_AT_A_TIME = 20_000  # rows fetched at once


@dataclass(frozen=True)
class Selection:
    """Which answers are counted: those to a question, less those of some annotators.

    Attributes:
        left_out: annotators whose answers are not counted.
        references: annotators whose answers are the truth.
        decider: the one of them whose answers were decided, and go before the others'; 0: nobody.
        only: the annotators whose answers are counted; None for all that are not left out.
        since: the first moment of labeling that is in; None for no limit.
        until: the last one; None for no limit.
        where: pairs of an item's attribute and its accepted values.
        unless: likewise, the values of items that are left out.
        told: the selection as JSON; None if nothing was chosen.
        bits: of a digit that counts equal answers to an item.
    """

    question: QuestionInfo
    left_out: frozenset[int] = frozenset()
    references: frozenset[int] = frozenset()
    bits: int = field(default=FIRST_DIGIT_BITS, compare=False)
    only: frozenset[int] | None = None
    since: int | None = None
    until: int | None = None
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unless: tuple[tuple[str, tuple[str, ...]], ...] = ()
    told: Mapping[str, Any] | None = field(default=None, compare=False)
    decider: int = 0

    @property
    def single(self) -> bool:
        """Whether an answer is one category, and so one label."""
        return self.question.answers == "one"

    def without(self, annotators: frozenset[int]) -> Selection:
        return replace(self, left_out=self.left_out | annotators)

    def with_models(self, models: frozenset[int]) -> Selection:
        only = None if self.only is None else self.only | models
        return replace(self, left_out=self.left_out - models, only=only)


@lru_cache(maxsize=64)  # a report asks for each 20 times; to make it takes a millisecond
def where_counted(
    selection: Selection,
    of: FromClause = labels,
    *,
    alone: bool = False,
    skipped: bool = False,
) -> ColumnElement[bool]:
    """Return the condition that a label belongs to an answer that is compared with others.

    The answer was chosen, is not skipped, and is on the annotator's lowest pass over the item
    among such answers; if times are chosen, the lowest pass within them. ``alone`` says that
    the labels are joined with nothing; see `where_chosen`. With ``skipped`` a skipped answer
    counts, too.
    """
    lower = (
        *(() if skipped else (_lower.c.category_id != SKIPPED,)),
        *_in_time(selection, _lower),
    )
    same = ("project_id", "question_id", "item_id", "annotator_id")
    on_lower_pass = (
        select(literal(1))
        .select_from(_lower)
        .where(same_answer_key(same, _lower, of), _lower.c["pass"] < of.c["pass"], *lower)
        .correlate(of)
        .exists()
    )
    of_annotator = [_lower.c.item_id, _lower.c.annotator_id]
    # Said by an equation, of which a planner expects few: a long list it would search for each row.
    first_ones = func.count().filter(_lower.c["pass"] == 1)
    later_ones = (
        select(*of_annotator, func.min(_lower.c["pass"]))
        .where(of_question(_lower, selection.question.key), *lower)
        .group_by(*of_annotator)
        .having(first_ones == 0)
        .correlate(None)
    )
    answer = tuple_(of.c.item_id, of.c.annotator_id, of.c["pass"])
    on_lowest = Seldom(~on_lower_pass, answer.in_(later_ones))
    return and_(
        of_question(of, selection.question.key),
        *(() if skipped else (of.c.category_id != SKIPPED,)),
        or_(of.c["pass"] == 1, on_lowest),
        *where_chosen(selection, of, alone=alone),
    )


def where_chosen(
    selection: Selection, of: FromClause = labels, *, alone: bool = False
) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions that a label of the project was chosen; none if nothing limits it.

    If the labels stand ``alone``, chosen items lead to their labels by the key. If they are
    joined, the join must do that, or a database may go through all chosen items for each row of
    the other side. There each label looks up its item's value, which no planner can turn into a
    join.
    """
    if selection.only is not None:
        yield of.c.annotator_id.in_(sorted(selection.only))
    if selection.left_out:
        yield of.c.annotator_id.not_in(sorted(selection.left_out))
    yield from _in_time(selection, of)
    project = selection.question.project_id
    for name, values in selection.where:
        if alone:
            yield of.c.item_id.in_(select_items_with_value(project, name, values))
        else:
            of_attribute = _attributes.c.project_id == project, _attributes.c.name == name
            same = _attributes.c.item_id == of.c.item_id
            value = select(_attributes.c.value).where(*of_attribute, same).correlate(of)
            # Never unknown, not even for an item without the attribute: it may be negated.
            yield func.coalesce(value.scalar_subquery().in_(values), false())
    for name, values in selection.unless:
        yield of.c.item_id.not_in(select_items_with_value(project, name, values))


def _in_time(selection: Selection, of: FromClause) -> Iterator[ColumnElement[bool]]:
    if selection.since is not None:
        yield of.c.labeled_at >= selection.since
    if selection.until is not None:
        yield of.c.labeled_at <= selection.until


def local_moment(zone: str | None, moment: ColumnElement[int]) -> ColumnElement[int]:
    """Return a moment plus the offset that a time zone had then, so that its days begin at 0.

    No database is asked for the zone's rules: SQLite knows none.
    """
    if zone is None:
        return moment
    *later, (_, first) = clock.zone_offsets(zone, clock.day_of_moment(clock.now(), None).year)
    if not later:
        return moment + first
    # Most answers are of late.
    return moment + case(*((moment >= begin, offset) for begin, offset in later), else_=first)


def select_answer_rows(
    selection: Selection,
    name: str = "answers",
    *,
    alone: bool = False,
    items: Select[Any] | None = None,
) -> Subquery:
    """Return one row per answer: item_id, annotator_id, answer.

    The answer is the category's id or, in a project of several, ids joined by ``+``, such as
    ``2+5``. For ``alone`` see `where_chosen`; ``items`` gives the ids of the items.
    """
    columns = (labels.c.item_id, labels.c.annotator_id)
    statement = select(*columns).where(where_counted(selection, alone=alone))
    if items is not None:
        statement = statement.where(labels.c.item_id.in_(items))
    return with_answers(statement, selection, columns).subquery(name)


def with_answers(
    statement: Select[Any], selection: Selection, key: Sequence[ColumnElement[Any]]
) -> Select[Any]:
    """Return a statement about labels with a row per answer, and the answer beside its key."""
    statement = statement.add_columns(select_answer(selection).label("answer"))
    return statement if selection.single else statement.group_by(*key)


def with_dated_answers(
    statement: Select[Any], selection: Selection, key: Sequence[ColumnElement[Any]]
) -> Select[Any]:
    """Return likewise the answer with its moment, and whether that is its own: timed, 1 or 0."""
    at: ColumnElement[Any] = labels.c.labeled_at
    timed: ColumnElement[Any] = case((labels.c.has_own_time, 1), else_=0)
    if not selection.single:
        at, timed = func.min(at), func.min(timed)
    statement = with_answers(statement, selection, key)
    return statement.add_columns(at.label("labeled_at"), timed.label("timed"))


def select_answer(selection: Selection, table: FromClause = labels) -> ColumnElement[Any]:
    """Return the answer as `select_answer_rows` has it, an aggregate over several labels."""
    if selection.single:
        return table.c.category_id
    return func.aggregate_strings(sql_cast(table.c.category_id, Text), "+")


def read_selected_answer(text: int | str) -> Answer:
    """Return an answer of `select_answer_rows`; the reserved id of "none applies" is no label."""
    if isinstance(text, int):
        return (text,)
    return tuple(sorted(number for number in map(int, text.split("+")) if number > 0))


def stream_rows(
    connection: Connection, statement: Select[*tuple[Any, ...]]
) -> Generator[tuple[Any, ...]]:
    """Yield the rows of a statement as they come, without holding them all."""
    with connection.execute(statement.execution_options(yield_per=_AT_A_TIME)) as result:
        for part in result.partitions():
            yield from cast("list[tuple[Any, ...]]", part)
