"""Who agreed with whom in each of a project's periods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    Subquery,
    case,
    func,
    literal,
    select,
)
from sqlalchemy import cast as sql_cast

from tracker.core.tally_columns import TallyColumns, tally_columns_of
from tracker.counts.selection import Selection, read_selected_answer, stream_rows
from tracker.counts.tallies import count_tallies_of_rows, join_answer_pairs
from tracker.counts.timeline import select_dated_answers


class PeriodTallies(NamedTuple):
    """The tallies of each annotator's answers of each period.

    Attributes:
        columns: the tallies; an owner is an annotator's answers of one period.
        annotators: of each owner the annotator's id, ascending.
        periods: of each owner the period's place.
    """

    columns: TallyColumns
    annotators: tuple[int, ...]
    periods: tuple[int, ...]


def count_tallies_by_period(
    connection: Connection, selection: Selection, begins: Sequence[int]
) -> PeriodTallies:
    """Return the annotator tallies of answers by when they were given.

    Args:
        connection: to the database.
        selection: whose answers count.
        begins: when each period begins, ascending; what is before the first one is in it.
    """
    dated = select_dated_answers(selection)
    bits = len(begins).bit_length()
    who = sql_cast(dated.c.annotator_id, BigInteger).bitwise_lshift(literal(bits, Integer))
    owner = (who + _period(dated.c.labeled_at, begins)).label("annotator_id")
    rows = select(dated.c.item_id, owner, dated.c.answer).subquery("answers")
    found = tally_columns_of(count_tallies_of_rows(connection, selection, rows, bits))
    owners, mask = found.annotators.tolist(), (1 << bits) - 1
    return PeriodTallies(
        found, tuple(one >> bits for one in owners), tuple(one & mask for one in owners)
    )


PairPeriods = dict[tuple[int, int], dict[int, tuple[int, int]]]
"""``{(first id, second id): {period: (items answered alike, items)}}``, first < second."""


def count_pairs_by_period(
    connection: Connection, selection: Selection, begins: Sequence[int]
) -> PairPeriods:
    """Return how often each two annotators answered alike, by when the later of them answered.

    The arguments are those of `count_tallies_by_period`.
    """
    first, second = (_rows(selection, begins, name) for name in ("first", "second"))
    later = case((first.c.period > second.c.period, first.c.period), else_=second.c.period)
    key: list[ColumnElement[Any]] = [first.c.annotator_id, second.c.annotator_id, later]
    if selection.question.answers == "one":
        key.append(case((first.c.answer == second.c.answer, literal(1, Integer)), else_=0))
    else:
        key += [first.c.answer, second.c.answer]
    named = [column.label(f"key_{place}") for place, column in enumerate(key)]
    statement = select(*named, func.count()).select_from(join_answer_pairs(first, second))
    counts: PairPeriods = {}
    grouped = statement.group_by(*(one.name for one in named))  # by name: it holds bound values
    for one, other, period, *answers, items in stream_rows(connection, grouped):
        alike = answers[0] if len(answers) == 1 else _are_alike(*answers)
        of_pair = counts.setdefault((one, other), {})
        same, all_items = of_pair.get(period, (0, 0))
        of_pair[period] = same + items * alike, all_items + items
    return counts


def _are_alike(one: str, other: str) -> bool:
    return read_selected_answer(one) == read_selected_answer(other)


def _rows(selection: Selection, begins: Sequence[int], name: str) -> Subquery:
    dated = select_dated_answers(selection).alias(f"dated_{name}")
    period = _period(dated.c.labeled_at, begins).label("period")
    return select(dated.c.item_id, dated.c.annotator_id, dated.c.answer, period).subquery(name)


def _period(at: ColumnElement[int], begins: Sequence[int], first: int = 0) -> ColumnElement[Any]:
    """Return the place of the period of a moment, found by halves."""
    if len(begins) < 2:
        return sql_cast(literal(first, Integer), BigInteger)
    middle = len(begins) // 2
    earlier, later = (
        _period(at, begins[:middle], first),
        _period(at, begins[middle:], first + middle),
    )
    return case((at < literal(begins[middle], BigInteger), earlier), else_=later)
