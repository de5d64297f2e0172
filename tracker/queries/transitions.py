"""The effect of an answer that comes or goes on its item: a code before, and a code after.

The events of an item are added up in the order of their days. A code is canonical for a pattern
only within its statement, as in `codes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Connection,
    FunctionElement,
    Select,
    Subquery,
    Text,
    case,
    cast,
    func,
    literal,
    select,
)
from sqlalchemy import cast as sql_cast

from tracker.core.audit_tallies import Sequences
from tracker.core.clock import DAY
from tracker.core.tallies import Answer, Pattern, make_pattern
from tracker.queries.annotator_patterns import ANSWER, count_against_patterns
from tracker.queries.packing import AS_COLUMNS, Digits, Packing
from tracker.queries.pattern_codes import MOST_CODE_COLUMNS, select_highest_ids
from tracker.queries.selection import (
    FIRST_DIGIT_BITS,
    Selection,
    labels,
    local_moment,
    read_selected_answer,
    stream_rows,
    where_counted,
)

ADDED, REMOVED = 0, 1
"""In the column ``gone`` of an event, where there is one: whether an answer came or went."""

Step: TypeAlias = tuple[int, Any, Any, int]
"""A day, a code before and one after, and how many items went from the one to the other."""


class Coding(Protocol):
    """How the answers to an item become a code."""

    def steps(self, connection: Connection, events: Subquery) -> Iterator[Step]:
        """Return the steps of all events: item_id, answer, day, and gone where answers go."""

    def holds(self, code: Any) -> bool:
        """Return whether the coding is wide enough for a code.

        Where it is not, no step is right.
        """

    def decode(self, code: Any) -> Pattern:
        """Return the pattern that a code stands for."""


def transition_codings(
    connection: Connection, selection: Selection, span: range
) -> Iterator[Coding]:
    """Yield codings of a selection whose events lie on the days of a span, the quickest first.

    The last one holds every selection.
    """
    if selection.question.answers == "one":
        annotators, categories = select_highest_ids(connection, selection)
        most = max((2 * annotators).bit_length(), 1)  # a day's come before the others of it go
        for bits in sorted({min(FIRST_DIGIT_BITS, most), most}):
            digits = Digits.fitting(bits, categories, most)
            if 0 < len(digits.starts) <= MOST_CODE_COLUMNS:
                yield _Sums(digits, span, most)
    yield _Texts()


def _so_far(total: FunctionElement[Any], events: Subquery) -> ColumnElement[Any]:
    """Return a sum over an item's events up to this one; those of one day come in any order."""
    return total.over(partition_by=events.c.item_id, order_by=events.c.day, rows=(None, 0))


def _grouped(keys: Sequence[ColumnElement[Any]]) -> Select[Any]:
    every = select(*keys).subquery("every_step")
    return select(*every.c, func.count()).group_by(*every.c)


@dataclass(frozen=True)
class _Sums:
    """A code of digits: one for each category, and above the first integer's one for all.

    The database has as many integers as needed; together they are the code.

    Attributes:
        digits: those of the categories.
        span: the days that events lie on.
        most: the bits of the digit for all, which no number of answers exceeds.
    """

    digits: Digits
    span: range
    most: int

    @property
    def above(self) -> int:
        """How many bits are below the digit for all."""
        return self.digits.bits * self.digits.per_column

    @property
    def width(self) -> int:
        """The bits of an integer."""
        return self.most + self.above

    @property
    def packing(self) -> Packing:
        """The packing of a day, the integers of the code, and an event."""
        event = (2 * self.digits.categories + 1).bit_length()
        code = [self.width for _ in self.digits.starts]
        return Packing((len(self.span).bit_length(), *code, event))

    def holds(self, code: int) -> bool:
        """Return whether no category's digit can have run over."""
        return code >> self.above & (1 << self.most) - 1 < 1 << self.digits.bits

    def steps(self, connection: Connection, events: Subquery) -> Iterator[Step]:
        code = [self._integer(events, start) for start in self.digits.starts]
        day = events.c.day - self.span.start
        event = events.c.answer * 2 + (events.c.gone if "gone" in events.c else ADDED)
        change = {n: self._change(n) for n in range(2, 2 * self.digits.categories + 2)}
        packing, width, first = self.packing, self.width, self.span.start
        for *key, number in stream_rows(connection, _grouped(packing.key([day, *code, event]))):
            since, *integers, what = packing.unpack(key)
            after = sum(integer << place * width for place, integer in enumerate(integers))
            yield since + first, after - change[what], after, number

    def _integer(self, events: Subquery, start: int) -> ColumnElement[int]:
        """Return the digits of the categories from one on."""
        one = self.digits.one(events.c.answer, start)
        if start == 1:
            one = one + (1 << self.above)
        if "gone" in events.c:
            one = case((events.c.gone == REMOVED, -one), else_=one)
        return sql_cast(_so_far(func.sum(one), events), BigInteger)

    def _change(self, event: int) -> int:
        """Return what an event adds to the code."""
        column, digit = divmod((event >> 1) - 1, self.digits.per_column)
        added = (1 << column * self.width + digit * self.digits.bits) + (1 << self.above)
        return -added if event & 1 == REMOVED else added

    def decode(self, code: int) -> Pattern:
        below = (1 << self.above) - 1
        places = range(len(self.digits.starts))
        return self.digits.decode(code >> place * self.width & below for place in places)


class _Texts:
    """A code of text: every answer that came or went so far, in turn."""

    def holds(self, code: str) -> bool:
        """Return whether the code is right: always."""
        return True

    def steps(self, connection: Connection, events: Subquery) -> Iterator[Step]:
        sign: Any = literal("+")
        if "gone" in events.c:
            sign = case((events.c.gone == REMOVED, "-"), else_="+")
        token = sign + sql_cast(events.c.answer, Text)
        code = _so_far(func.aggregate_strings(token, ","), events)
        for day, after, number in stream_rows(
            connection, _grouped(AS_COLUMNS.key([events.c.day, code]))
        ):
            yield day, after.rpartition(",")[0], after, number

    def decode(self, code: str) -> Pattern:
        answers: Counter[Answer] = Counter()
        for token in filter(None, code.split(",")):
            answers[read_selected_answer(token[1:])] += 1 if token[0] == "+" else -1
        return make_pattern(answers.elements())


def select_dated_answers(
    selection: Selection, items: CompoundSelect[Any] | None = None
) -> Subquery:
    """Return one row per answer: item_id, annotator_id, answer, labeled_at, timed (1 or 0).

    ``items`` gives the ids of the items; None for all.
    """
    columns = (labels.c.item_id, labels.c.annotator_id)
    timed = case((labels.c.has_own_time, 1), else_=0)
    statement = select(*columns).where(where_counted(selection, alone=True))
    if items is not None:
        statement = statement.where(labels.c.item_id.in_(items))
    if selection.question.answers == "one":
        answer = labels.c.category_id.label("answer")
        more: list[ColumnElement[Any]] = [answer, labels.c.labeled_at, timed.label("timed")]
        return statement.add_columns(*more).subquery("dated")
    more = [
        func.aggregate_strings(cast(labels.c.category_id, Text), "+").label("answer"),
        func.min(labels.c.labeled_at).label("labeled_at"),
        func.min(timed).label("timed"),
    ]
    return statement.add_columns(*more).group_by(*columns).subquery("dated")


def transition_window(
    function: FunctionElement[Any], dated: Subquery, *apart: ColumnElement[Any]
) -> ColumnElement[Any]:
    """Return a window over each annotator's timed answers in order; untimed ones are apart.

    If answers have the same time, the one to the item with the lower id comes first.
    """
    placed: ColumnElement[Any] = function.over(
        partition_by=[dated.c.annotator_id, dated.c.timed, *apart],
        order_by=[dated.c.labeled_at, dated.c.item_id],
    )
    return placed


def count_transitions(connection: Connection, selection: Selection) -> Sequences:
    """Return on how many items an answer came after another and met a pattern of the item.

    The answer before is the annotator's last timed answer to another item, if its time is
    earlier: the order of answers of the same time is unknown.
    """
    dated = select_dated_answers(selection)
    columns = (dated.c.item_id, dated.c.annotator_id, dated.c.answer)
    before = func.lag(dated.c.answer, type_=dated.c.answer.type)
    before_at = func.lag(dated.c.labeled_at, type_=dated.c.labeled_at.type)
    ordered = select(
        *columns,
        dated.c.timed,
        dated.c.labeled_at,
        transition_window(before, dated).label("previous"),
        transition_window(before_at, dated).label("previous_at"),
    ).subquery("ordered")
    known = (ordered.c.timed == 1) & (ordered.c.previous_at < ordered.c.labeled_at)
    followed = select(
        *(ordered.c[column.name] for column in columns),
        case((known, ordered.c.previous)).label("previous"),  # else NULL
    ).subquery("followed")
    extra = {"previous": ANSWER}
    return count_against_patterns(connection, selection, followed, extra=extra, every=True)


def count_active_days(
    connection: Connection, selection: Selection
) -> dict[int, tuple[int, int, int]]:
    """Return each annotator's number of days with a timed answer, and the first and last moment.

    The shape is ``{annotator: (days, first moment, last moment)}``; days are of the project's zone.
    """
    at, who = labels.c.labeled_at, labels.c.annotator_id
    local = local_moment(selection.question.project.timezone, at)
    statement = (
        select(who, func.count((local - local % DAY).distinct()), func.min(at), func.max(at))
        .where(where_counted(selection, alone=True), labels.c.has_own_time)
        .group_by(who)
    )
    return {
        who: (days, first, last) for who, days, first, last in stream_rows(connection, statement)
    }
