"""Answers in their order of time: the first ones, before any revision, and the last ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Select,
    Subquery,
    and_,
    case,
    cast,
    func,
    null,
    or_,
    select,
    union_all,
)

from tracker.core.tallies import Answer, Pattern
from tracker.counts.annotator_patterns import (
    Extra,
    count_against_patterns,
    select_answers_with_truths,
    select_first_truths,
)
from tracker.counts.selection import (
    Selection,
    labels,
    read_selected_answer,
    select_answer,
    select_answer_rows,
    stream_rows,
    where_chosen,
)
from tracker.counts.timeline import select_dated_answers, select_items_of
from tracker.storage.schema import SKIPPED, PastLabel
from tracker.storage.schema.labels import ORDER, of_question, standing_order

MOST = 10_000
"""Answers of one annotator that are looked at; a verdict takes a few hundred."""
_past = PastLabel.__table__
_ROW = ("item_id", "annotator_id", "answer")


def gold_outcomes(connection: Connection, selection: Selection) -> list[bool]:
    """Return whether each first answer to an item with a truth was right, in order of time."""
    graded = _graded(selection)
    rows = select(graded.c.answer, graded.c.truth).order_by(graded.c.labeled_at, graded.c.item_id)
    return [
        read_selected_answer(answer) == read_selected_answer(truth)
        for answer, truth in connection.execute(rows.limit(MOST))
    ]


def count_gold_items(connection: Connection, selection: Selection) -> int:
    """Return how many items have a truth."""
    if not selection.references:
        return 0
    truths = select_first_truths(selection).subquery("truths")
    return connection.scalar(select(func.count()).select_from(truths)) or 0


def recent_gold_tallies(
    connection: Connection, selection: Selection, last: int, since: Mapping[int, int]
) -> dict[int, tuple[int, int]]:
    """Return how many of each annotator's last first answers to gold were right, and of how many.

    Of some annotators only answers ``since`` a moment count.
    """
    graded = _graded(selection)
    place = _from_the_newest(graded).label("place")
    placed = select(graded, place).where(*answers_since(graded, since)).subquery("placed")
    key = (placed.c.annotator_id, placed.c.answer, placed.c.truth)
    statement = select(*key, func.count()).where(placed.c.place <= last).group_by(*key)
    tallies: dict[int, tuple[int, int]] = {}
    for annotator, answer, truth, number in stream_rows(connection, statement):
        right, answers = tallies.get(annotator, (0, 0))
        same = read_selected_answer(answer) == read_selected_answer(truth)
        tallies[annotator] = (right + number * same, answers + number)
    return tallies


def answers_since(rows: FromClause, since: Mapping[int, int]) -> list[Any]:
    """Return the conditions that answers of some annotators were given after a moment."""
    return [
        or_(rows.c.annotator_id != annotator, rows.c.labeled_at > moment)
        for annotator, moment in since.items()
    ]


def recent_shared_answers(
    connection: Connection, selection: Selection, last: int, since: Mapping[int, int]
) -> dict[int, list[tuple[Answer, Pattern]]]:
    """Return each annotator's last answers to items that others answered too, the newest first.

    They are those that stand, each with the item's pattern, which it is in itself. Of some
    annotators only answers ``since`` a moment count.
    """

    def place_them(among: frozenset[int] | None) -> Subquery:
        dated = select_dated_answers(selection, select_items_of(selection, among))
        given = func.count().over(partition_by=dated.c.item_id)
        beside = select(dated, given.label("given")).subquery("beside")
        counted = and_(beside.c.given > 1, *answers_since(beside, since))
        place = _from_the_newest(beside, case((counted, 1), else_=0))
        late = case((and_(counted, place <= last), place)).label("place")  # else NULL
        return select(*(beside.c[name] for name in _ROW), late).subquery("answers")

    extra = {"place": Extra(int, last.bit_length())}
    tallies = count_against_patterns(connection, selection, place_them, extra=extra)
    return {
        annotator: [(answer, pattern) for _, answer, pattern in sorted(counts)]
        for annotator, counts in tallies.items()
    }


def _from_the_newest(rows: FromClause, *among: ColumnElement[int]) -> ColumnElement[int]:
    """Return the place of an answer among its annotator's, from the newest on."""
    return func.row_number().over(
        partition_by=[rows.c.annotator_id, *among],
        order_by=[rows.c.labeled_at.desc(), rows.c.item_id.desc()],
    )


def first_answers_and_patterns(
    connection: Connection, own: Selection, others: Selection
) -> list[tuple[Answer, Pattern]]:
    """Return the first answers of one annotator in order, each with what the others gave.

    ``own`` is the selection of the one, ``others`` that of the others; items that none of these
    answered are left out.
    """
    given = select_first_answers(own)
    place = func.row_number().over(order_by=[given.c.labeled_at, given.c.item_id])
    placed = select(given, place.label("place")).subquery("placed")
    theirs = select_answer_rows(others, alone=True, items=select(given.c.item_id))
    rows = union_all(
        select(*(placed.c[name] for name in (*_ROW, "place"))).where(placed.c.place <= MOST),
        select(*(theirs.c[name] for name in _ROW), cast(null(), Integer)),
    ).subquery("answers")
    extra = {"place": Extra(int, MOST.bit_length())}
    one = own.only or frozenset()  # past labels are read: no count is of some annotators alone
    tallies = count_against_patterns(connection, others, lambda _: rows, one, extra)
    keys = sorted(key for counts in tallies.values() for key in counts)
    return [(answer, pattern) for _, answer, pattern in keys if pattern]


def select_first_answers(selection: Selection, items: Select[Any] | None = None) -> Subquery:
    """Return each annotator's first answer to each item: item_id, annotator_id, answer, labeled_at.

    It is the earliest record of the first pass that is no skip and was not taken back, whatever
    stands now; a selection's times are those of this record. ``items`` gives the ids of the items;
    None for all.
    """
    ever = replace(selection, since=None, until=None)

    def records(table: FromClause) -> Select[Any]:
        key = [table.c[name] for name in ("item_id", "annotator_id", *ORDER)]
        statement = select(*key, select_answer(selection, table).label("answer")).where(
            of_question(table, selection.question.key),
            table.c["pass"] == 1,
            table.c.category_id != SKIPPED,
            *where_chosen(ever, table, alone=True),
        )
        if items is not None:
            statement = statement.where(table.c.item_id.in_(items))
        return statement if selection.single else statement.group_by(*key)

    both = union_all(
        records(labels), records(_past).where(_past.c.taken_back_by.is_(None))
    ).subquery("every_record")
    turn = func.row_number().over(
        partition_by=[both.c.annotator_id, both.c.item_id], order_by=standing_order(both)
    )
    first = select(both, turn.label("turn")).subquery("in_turn")
    columns = (first.c[name] for name in (*_ROW, "labeled_at"))
    statement = select(*columns).where(first.c.turn == 1)
    if selection.since is not None:
        statement = statement.where(first.c.labeled_at >= selection.since)
    if selection.until is not None:
        statement = statement.where(first.c.labeled_at <= selection.until)
    return statement.subquery("first_answers")


def _graded(selection: Selection) -> Subquery:
    """Return the first answers to items that have a truth, with it; not those of references."""
    truths = select_first_truths(selection).subquery("truths")
    compared = selection.without(selection.references)
    given = select_first_answers(compared, select(truths.c.item_id))
    rows = select_answers_with_truths(selection, given)
    return select(rows).where(rows.c.truth.is_not(None)).subquery("graded")
