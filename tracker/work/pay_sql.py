"""The queries of pay sheets: first answers in a period, those rejected, items agreed upon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    Connection,
    FromClause,
    Row,
    Select,
    and_,
    case,
    func,
    literal,
    or_,
    select,
    true,
    type_coerce,
    union_all,
)

from tracker.agreement.contested import select_whole_answers
from tracker.audit.counts_sql import middle_value
from tracker.core import clock
from tracker.counts.filter import select_answers
from tracker.counts.selection import Selection, local_moment
from tracker.projects.decisions import ERROR, standing_decisions
from tracker.projects.questions import QuestionInfo
from tracker.storage.schema import SKIPPED, Annotator, Decision, Label, PastLabel
from tracker.storage.schema.labels import ANSWER, of_question, question_numbers, same_answer_key

_labels, _past, _decisions = Label.__table__, PastLabel.__table__, Decision.__table__
_HELD = ((_labels, true()), (_past, _past.c.taken_back_by.is_(None)))
"""Where answers are recorded, and which of them the ledger holds: all that were ever given."""
_THEIRS = ANSWER[:3]
"""The columns of an answer on whichever pass."""


class Period(NamedTuple):
    """A time in which answers were given: its first and last moment; None for no limit."""

    since: int | None
    until: int | None

    def holds(self, moment: ColumnElement[int]) -> Iterator[ColumnElement[bool]]:
        """Yield the conditions that a moment lies in it."""
        if self.since is not None:
            yield moment >= self.since
        if self.until is not None:
            yield moment <= self.until


def count_work(
    connection: Connection, questions: Sequence[QuestionInfo], period: Period
) -> tuple[list[Row[Any]], int]:
    """Return what each person did in a period, and on how many items they are agreed by now.

    Each person has: annotator_id, answers, rejected, skipped, again, days, spent and median in
    milliseconds, timed, undated. The items are those answered in the period, by question.
    """
    project = questions[0].project
    selection = select_answers(connection, questions[0])
    selections = [replace(selection, question=question) for question in questions]
    given = _first_answers(project.id, period).cte("given")
    rejected = union_all(*map(_rejected, selections)).subquery("rejected")
    answer = and_(given.c.skipped == 0, given.c.again == 0)
    who, spent = given.c.annotator_id, case((answer, given.c.spent_ms))
    rows = (
        select(
            who, given.c.skipped, given.c.again, given.c.has_own_time, spent.label("spent"),
            case((and_(answer, rejected.c.item_id.is_not(None)), 1), else_=0).label("rejected"),
            (type_coerce(local_moment(project.timezone, given.c.labeled_at), BigInteger)
             // clock.DAY).label("day"),
            func.count(spent).over(partition_by=who).label("timed"),
            func.row_number().over(
                partition_by=who, order_by=[case((spent.is_(None), 1), else_=0), spent]
            ).label("place"),
        )
        .select_from(given)
        .outerjoin(rejected, same_answer_key(_THEIRS, rejected, given))
        .subquery("rows")
    )  # fmt: skip
    each = rows.c
    people = connection.execute(
        select(
            each.annotator_id,
            func.sum(1 - each.skipped - each.again).label("answers"),
            func.sum(each.rejected).label("rejected"),
            func.sum(each.skipped).label("skipped"),
            func.sum(each.again).label("again"),
            func.count(each.day.distinct()).label("days"),
            func.sum(each.spent).label("spent"),
            func.avg(middle_value(each.place, each.timed, each.spent)).label("median"),
            func.max(each.timed).label("timed"),
            func.sum(case((each.has_own_time, 0), else_=1)).label("undated"),
        )
        .group_by(each.annotator_id)
        .order_by(each.annotator_id)
    ).all()
    agreed = union_all(*(_agreed(one, given) for one in selections)).subquery("agreed")
    return [*people], int(connection.scalar(select(func.sum(agreed.c.number))) or 0)


def _first_answers(project_id: int, period: Period) -> Select[Any]:
    """Return the statement of what people first said about items, if that was in a period.

    An answer on a further pass is one ``again``. A skip counts if no answer came by the end.
    """
    people = select(Annotator.id).where(
        Annotator.project_id == project_id, Annotator.kind == "human"
    )
    said = union_all(
        *(
            select(
                *(table.c[name] for name in ANSWER), table.c.labeled_at, table.c.has_own_time,
                table.c.spent_ms,
                case((table.c.category_id == SKIPPED, 1), else_=0).label("skipped"),
            ).where(
                table.c.project_id == project_id,
                table.c.question_id.in_(question_numbers(project_id)),
                table.c.annotator_id.in_(people), held, *period.holds(table.c.labeled_at),
            )
            for table, held in _HELD
        )
    ).subquery("said")  # fmt: skip
    order = func.row_number().over(
        partition_by=[said.c[name] for name in ANSWER],
        order_by=[said.c.skipped, said.c.labeled_at, said.c.spent_ms.nulls_last()],
    )
    ranked = select(said, order.label("place")).subquery("ranked")
    before = Period(None, None if period.since is None else period.since - 1)
    earlier = (
        _is_recorded(
            project_id, ranked, table, held, same_answer_key(ANSWER, table, ranked),
            or_(table.c.category_id != SKIPPED, ranked.c.skipped == 1),
            *before.holds(table.c.labeled_at),
        )
        for table, held in _HELD
    )  # fmt: skip
    on_lower_pass = (
        _is_recorded(
            project_id, ranked, table, held, same_answer_key(_THEIRS, table, ranked),
            table.c["pass"] < ranked.c["pass"], table.c.category_id != SKIPPED,
            *Period(None, period.until).holds(table.c.labeled_at),
        )
        for table, held in _HELD
    )  # fmt: skip
    is_again = and_(ranked.c.skipped == 0, ranked.c["pass"] > 1, or_(*on_lower_pass))
    return select(
        ranked.c.question_id, ranked.c.item_id, ranked.c.annotator_id, ranked.c.labeled_at,
        ranked.c.has_own_time, ranked.c.spent_ms, ranked.c.skipped,
        case((is_again, 1), else_=0).label("again"),
    ).where(ranked.c.place == 1, *(() if period.since is None else (~or_(*earlier),)))  # fmt: skip


def _is_recorded(
    project_id: int, of: FromClause, table: FromClause, *conditions: ColumnElement[bool]
) -> ColumnElement[bool]:
    there = select(literal(1)).select_from(table).where(table.c.project_id == project_id)
    return there.where(*conditions).correlate(of).exists()


def _rejected(selection: Selection) -> Select[Any]:
    """Return the statement of the answers that stand and differ from what was decided.

    Only decisions count that say somebody erred.
    """
    question = selection.question
    standing = standing_decisions(question).subquery("standing")
    errors = (
        select(_decisions.c.item_id)
        .join(standing, same_answer_key(("item_id", "change_id"), standing, _decisions))
        .where(of_question(_decisions, question.key), _decisions.c.reason == ERROR)
    )
    decider = Selection(question, only=frozenset({selection.decider}))
    right = select_whole_answers(decider, "right", errors)
    given = select_whole_answers(selection, "answers", errors)
    return (
        select(literal(question.id).label("question_id"), given.c.item_id, given.c.annotator_id)
        .join_from(right, given, given.c.item_id == right.c.item_id)
        .where(given.c.answer != right.c.answer)
    )


def _agreed(selection: Selection, given: CTE) -> Select[Any]:
    """Return the statement of the number of items agreed upon, of those answered in the period.

    More than half of two answers or more are equal, or somebody decided.
    """
    ours = and_(given.c.question_id == selection.question.id, given.c.skipped == 0)
    items = select(given.c.item_id).where(ours, given.c.again == 0).distinct()
    answers = select_whole_answers(selection, items=items)
    votes = select(answers.c.item_id, func.count().label("number"))
    votes_of = votes.group_by(answers.c.item_id, answers.c.answer).subquery("votes")
    total = func.sum(votes_of.c.number)
    majority = (
        select(votes_of.c.item_id)
        .group_by(votes_of.c.item_id)
        .having(total > 1, 2 * func.max(votes_of.c.number) > total)
    )
    decided = select(standing_decisions(selection.question).subquery("decided").c.item_id)
    item = items.subquery("items").c.item_id
    return select(func.count().label("number")).where(or_(item.in_(majority), item.in_(decided)))
