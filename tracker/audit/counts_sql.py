"""Counts of an audit alone: durations of answers, and a sample of joint answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Connection,
    Float,
    Select,
    Subquery,
    Text,
    and_,
    case,
    cast,
    func,
    literal,
    or_,
    select,
    union,
    union_all,
)

from tracker.core.audit_tallies import TRUTH, AnswerTimes, Given, JointAnswers, joint_answers_tally
from tracker.counts.annotator_patterns import select_first_truths
from tracker.counts.pattern_codes import Packing
from tracker.counts.selection import (
    Selection,
    labels,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
    where_counted,
)
from tracker.counts.timeline import select_dated_answers
from tracker.projects.kept import kept_with_answers

_MS = 1000.0


def select_answer_durations(connection: Connection, selection: Selection) -> dict[int, AnswerTimes]:
    """Return each annotator's median time, and median ratio to the others' mean on the items."""
    beside = _beside_others(selection)
    who = beside.c.annotator_id
    ranked = select(
        who,
        beside.c.spent,
        beside.c.ratio,
        func.count().over(partition_by=who).label("answers"),
        func.count(beside.c.ratio).over(partition_by=who).label("compared"),
        _place(beside, beside.c.spent).label("by_time"),
        # Those without a ratio come last, whatever the database does with NULL.
        _place(beside, case((beside.c.ratio.is_(None), 1), else_=0), beside.c.ratio).label(
            "by_ratio"
        ),
    ).subquery("ranked")
    statement = (
        select(
            ranked.c.annotator_id,
            func.max(ranked.c.answers),
            func.avg(middle_value(ranked.c.by_time, ranked.c.answers, ranked.c.spent)),
            func.max(ranked.c.compared),
            func.avg(middle_value(ranked.c.by_ratio, ranked.c.compared, ranked.c.ratio)),
        )
        .group_by(ranked.c.annotator_id)
        .order_by(ranked.c.annotator_id)
    )
    return {
        annotator: AnswerTimes(
            answers, float(median) / _MS, compared, None if ratio is None else float(ratio)
        )
        for annotator, answers, median, compared, ratio in stream_rows(connection, statement)
    }


def select_fastest_items(
    connection: Connection, selection: Selection, annotators: Collection[int], most: int
) -> dict[int, list[tuple[int, float, float]]]:
    """Return the items that annotators answered fastest compared with the others, fastest first.

    The shape is ``{annotator: [(item id, seconds, the others' mean seconds)]}``.
    """
    if not annotators:
        return {}
    beside = _beside_others(selection)
    ranked = (
        select(beside, _place(beside, beside.c.ratio).label("place"))
        .where(beside.c.annotator_id.in_(sorted(annotators)), beside.c.ratio.is_not(None))
        .subquery("ranked")
    )
    statement: Select[Any] = (
        select(ranked.c.annotator_id, ranked.c.item_id, ranked.c.spent, ranked.c.mean)
        .where(ranked.c.place <= most)
        .order_by(ranked.c.annotator_id, ranked.c.place)
    )
    fastest: dict[int, list[tuple[int, float, float]]] = {}
    for annotator, item, spent, mean in stream_rows(connection, statement):
        fastest.setdefault(annotator, []).append((item, spent / _MS, mean / _MS))
    return fastest


def _beside_others(selection: Selection) -> Subquery:
    """Return one row per answer of known time: item_id, annotator_id, spent, others' mean, ratio.

    Times are milliseconds. Mean and ratio are NULL if no other time is known, or all are 0.
    """
    columns = (labels.c.item_id, labels.c.annotator_id)
    answers = (
        select(*columns, func.min(labels.c.spent_ms).label("spent"))
        .where(where_counted(selection, alone=True), labels.c.spent_ms.is_not(None))
        .group_by(*columns)
        .subquery("answers")
    )
    item, spent = answers.c.item_id, answers.c.spent
    others = func.sum(spent).over(partition_by=item) - spent
    number = func.count().over(partition_by=item) - 1
    known = and_(number > 0, others > 0)
    mean = case((known, cast(others, Float) / cast(number, Float)))
    beside = select(answers, mean.label("mean")).subquery("beside")
    ratio = cast(beside.c.spent, Float) / beside.c.mean
    return select(beside, ratio.label("ratio")).subquery("ratios")


def _place(of: Subquery, *order: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.row_number().over(partition_by=of.c.annotator_id, order_by=[*order, of.c.item_id])


def middle_value(
    place: ColumnElement[Any], number: ColumnElement[Any], value: ColumnElement[Any]
) -> ColumnElement[Any]:
    """Return the value if it is the middle one of so many, or one of the middle two; else NULL."""
    return case((and_(2 * place >= number, 2 * place <= number + 2), cast(value, Float)))


# -- Answers to a sample of items, for a second opinion on findings about some annotators ---------


MOST = 50_000
"""Answers of everybody in a sample. A project of fewer is counted whole."""

OF_EACH, LEAST_OF_EACH = 400, 60
"""Items of each annotator asked for, beside those; fewer of each if many are asked for."""

OF_A_PAIR = 150
"""Items that two annotators share, of each pair asked for."""

_PAIR = Packing((31, 31))  # of any two ids
_SPREAD, _RANGE = 2_654_435_761, 1 << 32  # Knuth's multiplicative hash of an item's number


def select_joint_sample(
    connection: Connection,
    selection: Selection,
    answers: int,
    annotators: Collection[int],
    pairs: Collection[tuple[int, int]] = (),
    since: Mapping[int, int] | None = None,
) -> JointAnswers:
    """Return how many items have each assignment of answers to annotators; the same each time.

    Items of the ``annotators`` are wanted, whatever their share of all answers; ``since`` is the
    moment from which on an annotator's answers are late, in microseconds.
    """
    late = tuple(sorted((since or {}).items()))
    if answers <= MOST:
        return kept_with_answers(_joint)(connection, selection, None, late)
    sample = _sampled(selection, MOST / answers, annotators, pairs)
    return _joint(connection, selection, sample, late)


def _joint(
    connection: Connection,
    selection: Selection,
    items: CompoundSelect[Any] | None,
    since: Sequence[tuple[int, int]],
) -> JointAnswers:
    given = _given(selection, items, dict(since))
    # In order, so that items answered alike make one text; a database may ignore it.
    given = given.order_by(given.selected_columns.item_id, given.selected_columns.given)
    rows = given.subquery("given")
    joint = (
        select(func.aggregate_strings(rows.c.given, ",").label("joint"))
        .group_by(rows.c.item_id)
        .subquery("joint")
    )
    counted = select(joint.c.joint, func.count()).group_by(joint.c.joint)
    return joint_answers_tally(_read(stream_rows(connection, counted)))


def _read(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[tuple[Given, ...], int]]:
    @cache
    def read(text: str) -> Given:
        who, answer, late = text.split(":")
        return Given(int(who), read_selected_answer(answer), int(late))

    for text, items in rows:
        yield tuple(read(part) for part in text.split(",")), items


def _given(
    selection: Selection, items: CompoundSelect[Any] | None, since: Mapping[int, int]
) -> Select[Any]:
    """Return one row per answer, and per truth as nobody's: item_id, and annotator:answer:late."""
    dated = select_dated_answers(selection, items)
    late: ColumnElement[Any] = literal("-1")
    if since:
        after = case(
            *((dated.c.annotator_id == who, dated.c.labeled_at >= at) for who, at in since.items())
        )
        known = (dated.c.timed == 1) & dated.c.annotator_id.in_(sorted(since))
        late = case((known & after, "1"), (known, "0"), else_="-1")
    own = _text(dated.c.annotator_id, dated.c.answer, late)
    rows = select(dated.c.item_id, own.label("given"))
    if not selection.references:
        return rows
    truths = select_first_truths(selection).subquery("truths")
    known_of = select(
        truths.c.item_id, _text(literal(TRUTH), truths.c.truth, literal("-1")).label("given")
    )
    if items is not None:
        known_of = known_of.where(truths.c.item_id.in_(items))
    both = union_all(rows, known_of).subquery("both")
    return select(both.c.item_id, both.c.given)


def _text(*parts: ColumnElement[Any]) -> ColumnElement[Any]:
    first, *rest = (cast(part, Text) for part in parts)
    text: ColumnElement[Any] = first
    for part in rest:
        text = text.concat(":").concat(part)
    return text


def _sampled(
    selection: Selection,
    share: float,
    annotators: Collection[int],
    pairs: Collection[tuple[int, int]],
) -> CompoundSelect[Any]:
    """Return the ids of the items: a share of all, some of each annotator, some of each pair."""
    answers = select_answer_rows(selection)
    of_all = is_drawn(answers.c.item_id, share)
    own = answers.c.annotator_id.in_(sorted(annotators))
    # Looked for once: to go through all answers takes longer than all the rest.
    met = select(answers.c.item_id, answers.c.annotator_id, case((of_all, 1), else_=0).label("all"))
    some = met.where(or_(of_all, own) if annotators else of_all).cte("some")
    parts: list[Select[Any]] = [select(some.c.item_id).where(some.c["all"] == 1)]
    if annotators:
        most = max(LEAST_OF_EACH, min(OF_EACH, 4 * OF_EACH // len(annotators)))
        wanted = some.c.annotator_id.in_(sorted(annotators))
        parts.append(_first(select(some.c.item_id).where(wanted), some.c.annotator_id, most))
    if pairs:
        first, second = select_answer_rows(selection, "one"), select_answer_rows(selection, "other")
        key = _PAIR.pack([first.c.annotator_id, second.c.annotator_id])
        both = select(first.c.item_id).join_from(first, second, first.c.item_id == second.c.item_id)
        both = both.where(
            first.c.annotator_id.in_(sorted({a for a, _ in pairs})),
            second.c.annotator_id.in_(sorted({b for _, b in pairs})),
            key.in_(sorted(map(_PAIR.number, pairs))),
        )
        parts.append(_first(both, key, OF_A_PAIR))
    return union(*parts)


def _first(of: Select[Any], key: ColumnElement[Any], most: int) -> Select[Any]:
    """Return the first items of each key, in the order of their hashes."""
    (item,) = of.selected_columns
    place = func.row_number().over(partition_by=key, order_by=_spread(item))
    ranked = of.add_columns(place.label("place")).subquery()
    return select(ranked.c.item_id).where(ranked.c.place <= most)


def is_drawn(item: ColumnElement[Any], share: float) -> ColumnElement[bool]:
    """Return whether an item is among so many of all, always the same."""
    return _spread(item) < literal(int(share * _RANGE), BigInteger)


def _spread(item: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return a number's hash; of one from 2 ** 31 on, as items of files have, by its last bits."""
    short = cast(func.abs(item), BigInteger) % literal(_RANGE >> 1, BigInteger)
    return short * literal(_SPREAD, BigInteger) % literal(_RANGE, BigInteger)
