"""Items answered again by the same annotator: each later pass beside the one before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Connection,
    Float,
    Join,
    ScalarSelect,
    Subquery,
    Text,
    case,
    cast,
    func,
    select,
)

from tracker.core.audit_tallies import RepeatTallies
from tracker.core.clock import DAY
from tracker.core.tallies import Answer, Pattern
from tracker.queries.annotator_patterns import ANSWER, count_against_patterns
from tracker.queries.selection import (
    Selection,
    labels,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
    where_chosen,
)
from tracker.storage.answer_keys import of_question
from tracker.storage.schema import SKIPPED


@dataclass(frozen=True)
class Repeated:
    """How often one annotator gave one answer and then another to the same item.

    Attributes:
        annotator: the id.
        earlier: the answer on the pass before.
        later: the answer on the later pass.
        times: how often.
        timed: how many of them have a time on both passes.
        days: between the two passes, summed over the timed ones.
    """

    annotator: int
    earlier: Answer
    later: Answer
    times: int
    timed: int
    days: float


def select_repeated_answers(connection: Connection, selection: Selection) -> Iterator[Repeated]:
    """Yield each answer on a later pass against the same annotator's on the pass before it.

    A skipped pass is passed over; the one before it counts.
    """
    later, earlier, both = join_repeated_answers(selection)
    both_timed = later.c.timed + earlier.c.timed == 2
    days = cast(later.c.labeled_at - earlier.c.labeled_at, Float) / DAY
    key = [later.c.annotator_id, earlier.c.answer, later.c.answer]
    statement = (
        select(
            *key,
            func.count(),
            func.sum(case((both_timed, 1), else_=0)),
            func.sum(case((both_timed, days), else_=0.0)),
        )
        .select_from(both)
        .group_by(*key)
    )
    for who, one, other, times, timed, between in stream_rows(connection, statement):
        yield Repeated(
            who,
            read_selected_answer(one),
            read_selected_answer(other),
            times,
            int(timed),
            float(between),
        )


def join_repeated_answers(selection: Selection) -> tuple[Subquery, Subquery, Join]:
    """Return answers on a later pass, answers on an earlier one, and the two joined.

    Both have: item_id, annotator_id, pass, answer, labeled_at, timed (1 or 0).
    """
    later, earlier = _answers(selection, "later", least=2), _answers(selection, "earlier", least=1)
    both = later.join(
        earlier,
        (earlier.c.item_id == later.c.item_id)
        & (earlier.c.annotator_id == later.c.annotator_id)
        & (earlier.c["pass"] == _pass_before(selection, later)),
    )
    return later, earlier, both


def count_unrepeated_passes(connection: Connection, selection: Selection) -> int:
    """Return how many answers on a later pass have no earlier one to compare with."""
    later = _answers(selection, "later", least=2)
    statement = select(func.count()).where(_pass_before(selection, later).is_(None))
    return connection.scalar(statement.select_from(later)) or 0


def _pass_before(selection: Selection, later: Subquery) -> ScalarSelect[int]:
    """Return the annotator's last pass over the item before a later one; NULL if there is none."""
    before = labels.alias("before")
    return (
        select(func.max(before.c["pass"]))
        .where(
            of_question(before, selection.question.key),
            before.c.item_id == later.c.item_id,
            before.c.annotator_id == later.c.annotator_id,
            before.c["pass"] < later.c["pass"],
            before.c.category_id != SKIPPED,
            *where_chosen(selection, before),
        )
        .correlate(later)
        .scalar_subquery()
    )


def _answers(selection: Selection, name: str, *, least: int) -> Subquery:
    """Return one row per answer, of every pass from ``least`` on, with its time."""
    columns: list[Any] = [labels.c.item_id, labels.c.annotator_id, labels.c["pass"]]
    timed = case((labels.c.has_own_time, 1), else_=0)
    where = [
        of_question(labels, selection.question.key),
        labels.c["pass"] >= least,
        labels.c.category_id != SKIPPED,
        *where_chosen(selection),
    ]
    if selection.question.answers == "one":
        return (
            select(
                *columns,
                labels.c.category_id.label("answer"),
                labels.c.labeled_at,
                timed.label("timed"),
            )
            .where(*where)
            .subquery(name)
        )
    ids = func.aggregate_strings(cast(labels.c.category_id, Text), "+")
    return (
        select(
            *columns,
            ids.label("answer"),
            func.min(labels.c.labeled_at).label("labeled_at"),
            func.min(timed).label("timed"),
        )
        .where(*where)
        .group_by(*columns)
        .subquery(name)
    )


_EXTRA = {"earlier": ANSWER, "later": ANSWER}


def repeat_tallies(connection: Connection, selection: Selection) -> RepeatTallies:
    """Return how often an annotator gave one answer and then another to an item of a pattern.

    The pattern is made of the answers that count, each annotator's first to the item.
    """
    later, earlier, both = join_repeated_answers(selection)
    first = select_answer_rows(selection, "first")
    of_both = (first.c.item_id == later.c.item_id) & (first.c.annotator_id == later.c.annotator_id)
    repeated = (
        select(
            later.c.item_id,
            later.c.annotator_id,
            first.c.answer,
            earlier.c.answer.label("earlier"),
            later.c.answer.label("later"),
        )
        .select_from(both.join(first, of_both))
        .subquery("repeated")
    )
    counts = count_against_patterns(connection, selection, repeated, extra=_EXTRA)
    tallies: dict[int, dict[tuple[Answer, Answer, Pattern], int]] = {}
    for annotator, own_counts in counts.items():
        own_tallies = tallies[annotator] = {}
        for (one, other, _, pattern), times in own_counts.items():
            key = (one, other, pattern)
            own_tallies[key] = own_tallies.get(key, 0) + times
    return tallies
