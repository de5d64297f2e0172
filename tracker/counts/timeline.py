"""How the item patterns changed from day to day, by one pass over the answers in their order.

Each answer that came or went moves its item from one pattern to another. The statement adds
up the answers of an item in the order of their days, so that every row has the code of its
item after it, and counts equal rows. Python then adds up the days, from tallies.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    Connection,
    FromClause,
    FunctionElement,
    Integer,
    Select,
    SelectBase,
    Subquery,
    Text,
    case,
    func,
    literal,
    select,
    type_coerce,
    union_all,
)
from sqlalchemy import cast as sql_cast

from tracker.core import clock
from tracker.core.audit_tallies import Blocks
from tracker.core.clock import DAY
from tracker.core.tallies import Answer, ItemPatterns, Pattern, make_pattern
from tracker.core.tally_columns import KeyedTallies
from tracker.counts.annotator_patterns import (
    ANSWER,
    NOBODY,
    OPTIONAL_ANSWER,
    Extra,
    count_against_patterns,
    select_answers_with_truths,
)
from tracker.counts.kept_counts import Sequences, counted_columns, counted_rows
from tracker.counts.pattern_codes import (
    AS_COLUMNS,
    MOST_CODE_COLUMNS,
    Digits,
    Packing,
    make_pattern_code,
    select_highest_ids,
    widen_pattern_code,
)
from tracker.counts.selection import (
    FIRST_DIGIT_BITS,
    Selection,
    labels,
    local_moment,
    read_selected_answer,
    stream_rows,
    where_chosen,
    where_counted,
    with_dated_answers,
)
from tracker.counts.valid_periods import NEVER, Window, select_valid_periods
from tracker.engines.engine import rows_of
from tracker.projects.kept import kept_with_answers
from tracker.projects.projects import ProjectInfo
from tracker.storage.schema import Item, Label, PastLabel, Snapshot
from tracker.storage.schema.labels import of_question

# -- The moments at which something was answered, as few as a slider has places -------------------

_MINUTE = 60_000_000  # microseconds
_FEW = 4  # of days, or hours, that are told by shorter periods


def answered_moments(connection: Connection, project: ProjectInfo, most: int) -> list[str]:
    """Return the ends of the periods in which something was answered or a snapshot was taken.

    Periods are days, or hours or minutes if all was within a few. Days are dates. Of
    more than ``most`` some are left out at even distances, never the first or the last; so are
    those that are not over.
    """
    labels = (select(table.labeled_at.label("at")).where(table.project_id == project.id)
              for table in (Label, PastLabel))  # fmt: skip
    snapshots = select(Snapshot.taken_at).where(Snapshot.project_id == project.id)
    times = union_all(*labels, snapshots).subquery("times").c.at
    first, last = connection.execute(select(func.min(times), func.max(times))).one()
    if first is None:
        return []
    widths = (clock.DAY, 60 * _MINUTE)
    width = next((width for width in widths if (last - first) // width > _FEW), _MINUTE)
    zone = project.timezone if width == clock.DAY else None
    period = (type_coerce(local_moment(zone, times), BigInteger) // width).label("period")
    numbers = connection.scalars(select(period).distinct().order_by(period))
    now = clock.now()
    if width == clock.DAY:
        days = [day for day in numbers if clock.end_of_day_number(day, zone) <= now]
        return [str(clock.date_of_number(day)) for day in _thinned(days, most)]
    ends = [(number + 1) * width for number in numbers]
    return [clock.iso(end) for end in _thinned([end for end in ends if end <= now], most)]


def _thinned(moments: list[int], most: int) -> list[int]:
    if len(moments) <= most:
        return moments
    return [moments[place * (len(moments) - 1) // (most - 1)] for place in range(most)]


# -- The effect of an answer that comes or goes on its item: a code before, and a code after ------

ADDED, REMOVED = 0, 1
"""In the column ``gone`` of an event, if there is one: whether an answer came or went."""

Step: TypeAlias = tuple[int, Any, Any, int]
"""A day, a code before and one after, and how many items went from the one to the other."""


def _codings(connection: Connection, selection: Selection, span: range) -> Iterator[_Sums | _Texts]:
    """Yield codings of a selection whose events lie on the days of a span, the quickest first.

    The last one holds every selection. A coding's ``steps`` are those of all events: item_id,
    answer, day, and gone if answers go. If it does not hold a code, no step is right.
    """
    if selection.single:
        annotators, categories = select_highest_ids(connection, selection.question)
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
        return self.most + self.above

    def holds(self, code: int) -> bool:
        """Return whether no category's digit can have run over."""
        return code >> self.above & (1 << self.most) - 1 < 1 << self.digits.bits

    def steps(self, connection: Connection, events: Subquery) -> Iterator[Step]:
        code = [self._integer(events, start) for start in self.digits.starts]
        day = events.c.day - self.span.start
        event = events.c.answer * 2 + (events.c.gone if "gone" in events.c else ADDED)
        change = {n: self._change(n) for n in range(2, 2 * self.digits.categories + 2)}
        width, first = self.width, self.span.start
        of_event = (2 * self.digits.categories + 1).bit_length()
        packing = Packing((len(self.span).bit_length(), *(width for _ in code), of_event))
        for *key, number in stream_rows(connection, _grouped(packing.key([day, *code, event]))):
            since, *integers, kind = packing.unpack(key)
            after = sum(integer << place * width for place, integer in enumerate(integers))
            yield since + first, after - change[kind], after, number

    def _integer(self, events: Subquery, start: int) -> ColumnElement[int]:
        """Return the digits of the categories from one on."""
        digit = self.digits.one(events.c.answer, start)
        if start == 1:
            digit = digit + (1 << self.above)
        if "gone" in events.c:
            digit = case((events.c.gone == REMOVED, -digit), else_=digit)
        return sql_cast(_so_far(func.sum(digit), events), BigInteger)

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

    def holds(self, _: str) -> bool:
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


def select_items_of(selection: Selection, annotators: frozenset[int] | None) -> SelectBase | None:
    """Return the ids of the items that some annotators answered; None for all items."""
    if annotators is None:
        return None
    theirs = labels.alias("theirs")
    of_them = theirs.c.annotator_id.in_(sorted(annotators))
    return select(theirs.c.item_id).where(of_question(theirs, selection.question.key), of_them)


def select_dated_answers(selection: Selection, items: SelectBase | None = None) -> Subquery:
    """Return one row per answer: item_id, annotator_id, answer, labeled_at, timed (1 or 0).

    ``items`` gives the ids of the items; None for all.
    """
    key = (labels.c.item_id, labels.c.annotator_id)
    statement = select(*key).where(where_counted(selection, alone=True))
    if items is not None:
        statement = statement.where(labels.c.item_id.in_(items))
    return with_dated_answers(statement, selection, key).subquery("dated")


def _in_order(function: FunctionElement[Any], dated: Subquery) -> ColumnElement[Any]:
    """Return a window over each annotator's timed answers by time and item; others are apart."""
    return function.over(
        partition_by=[dated.c.annotator_id, dated.c.timed],
        order_by=[dated.c.labeled_at, dated.c.item_key],
    )


def _with_item_keys(selection: Selection, among: frozenset[int] | None) -> Subquery:
    """Return the rows of `select_dated_answers` with the key of each one's item."""
    dated = select_dated_answers(selection, select_items_of(selection, among))
    item = (Item.project_id == selection.question.project_id) & (Item.id == dated.c.item_id)
    return select(dated, Item.name.label("item_key")).join(Item.__table__, item).subquery("keyed")


def count_transitions(connection: Connection, selection: Selection) -> KeyedTallies:
    """Return on how many items an answer came after another and met a pattern of the item.

    A key is ``(answer before, own answer, pattern)``. The answer before is the annotator's last
    timed answer to another item, if its time is earlier: the order of answers of the same time is
    unknown.
    """

    def follow(among: frozenset[int] | None) -> Subquery:
        dated = _with_item_keys(selection, among)
        columns = (dated.c.item_id, dated.c.annotator_id, dated.c.answer)
        before = func.lag(dated.c.answer, type_=dated.c.answer.type)
        before_at = func.lag(dated.c.labeled_at, type_=dated.c.labeled_at.type)
        ordered = select(
            *columns,
            dated.c.timed,
            dated.c.labeled_at,
            _in_order(before, dated).label("previous"),
            _in_order(before_at, dated).label("previous_at"),
        ).subquery("ordered")
        known = (ordered.c.timed == 1) & (ordered.c.previous_at < ordered.c.labeled_at)
        previous = case((known, ordered.c.previous)).label("previous")  # else NULL
        rows = select(*(ordered.c[column.name] for column in columns), previous)
        return rows.subquery("followed")

    return count_against_patterns(connection, selection, follow, extra={"previous": ANSWER})


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
    by_annotator = Sequences(
        lambda ids: statement.where(who.in_(sorted(ids))), lambda rows: rows[0]
    )
    counted = counted_columns(connection, statement, selection.question, 1, sequences=by_annotator)
    return {who: (days, first, last) for who, days, first, last in rows_of(counted)}


def _moment(selection: Selection, dated: FromClause) -> ColumnElement[int]:
    """Return the moment of an answer as `count_patterns_by_moment` has it."""
    local = local_moment(selection.question.project.timezone, dated.c.labeled_at)
    return local - case((dated.c.timed == 1, local % DAY), else_=0)


@dataclass(frozen=True)
class Stretches:
    """Equal stretches of time as the clocks of a project's zone show it, numbered from 0.

    Attributes:
        width: of each, in microseconds.
        begin: of the first one, a multiple of the width; what is before it is in it.
        end: a moment in the last one.
    """

    width: int
    begin: int
    end: int

    @property
    def bits(self) -> int:
        """How many bits a number takes."""
        return self.number(self.end).bit_length()

    def number(self, moment: int) -> int:
        """Return the stretch of a moment of `count_patterns_by_moment`."""
        return max(moment - self.begin, 0) // self.width

    def select_number(self, selection: Selection, dated: FromClause) -> ColumnElement[int]:
        """Return the stretch of each of the answers of `select_dated_answers`."""
        since = type_coerce(_moment(selection, dated), BigInteger) - self.begin
        return sql_cast(case((since < 0, 0), else_=since // self.width), BigInteger)


@dataclass(frozen=True)
class Timeline:
    """The changes of each day.

    Attributes:
        first: the first day with an answer that counts, in days since 1970 in the project's
            time zone; None for none.
        last: the last one.
        codes: per day, the change in the number of items with each code, an item without answers
            included.
        annotators: per day, the change in each annotator's number of counted answers; if answers
            only ever come, at least one on their first day.
        decode: a function from a code to a pattern.
    """

    first: int | None = None
    last: int | None = None
    codes: dict[int, Counter[Any]] = field(default_factory=dict)
    annotators: dict[int, Counter[int]] = field(default_factory=dict)
    decode: Callable[[Any], Pattern] = lambda _: ()

    def at(self, days: Sequence[int]) -> Iterator[tuple[int, ItemPatterns, int] | None]:
        """Yield the item patterns at the end of each day, and the number of their annotators.

        ``days`` ascend. None if nothing changed since the day before in the sequence.
        """
        items: Counter[Any] = Counter()
        answers: Counter[int] = Counter()
        changes = deque(sorted({*self.codes, *self.annotators}))
        changed = True
        for day in days:
            while changes and changes[0] <= day:
                change, changed = changes.popleft(), True
                items.update(self.codes.get(change, {}))
                answers.update(self.annotators.get(change, {}))
            if changed:
                yield day, self._patterns(items), sum(n > 0 for n in answers.values())
            else:
                yield None
            changed = False

    def _patterns(self, items: Counter[Any]) -> ItemPatterns:
        counts: Counter[Pattern] = Counter()
        for code, number in items.items():
            pattern = self.decode(code) if number else ()
            if pattern:
                counts[pattern] += number
        return ItemPatterns(dict(sorted(counts.items())))


@kept_with_answers
def count_timeline(connection: Connection, selection: Selection, window: Window) -> Timeline:
    """Return the timeline of the answers that count in a window at the end of each day."""
    question = selection.question.key
    at, passes = labels.c.labeled_at, func.max(labels.c["pass"])
    earliest, latest, most_passes = connection.execute(
        select(func.min(at), func.max(at), passes).where(of_question(labels, question))
    ).one()
    if earliest is None:
        return Timeline()
    replaced = (of_question(PastLabel, question), PastLabel.taken_back_by.is_(None))
    past = select(PastLabel.item_id).where(*replaced).limit(1)
    contested = most_passes > 1 or connection.scalar(past) is not None
    earliest_past = connection.scalar(select(func.min(PastLabel.labeled_at)).where(*replaced))
    zone = selection.question.project.timezone
    first = clock.day_number(min(earliest, earliest_past or earliest), zone)
    last = clock.day_number(latest, zone)
    lasting = not contested and window == Window()
    periods = select_valid_periods(selection, window, contested=contested)
    events = _events(periods.cte("every_piece"), lasting)
    annotators = _annotators(connection, events, lasting)
    span = range(first, last + (window.days or 0) + 1)
    for coding in _codings(connection, selection, span):
        codes = _codes(connection, coding, events)
        if codes is not None:
            begin, end = _extent(connection, selection, first, last)
            return Timeline(begin, end, codes, annotators, cache(coding.decode))
    raise AssertionError("the last coding holds whatever there is")


def _extent(
    connection: Connection, selection: Selection, first: int, last: int
) -> tuple[int | None, int | None]:
    """Return the first and the last day with an answer that counts.

    Truths, and answers of models, are left out: they are often recorded without a time, long
    after the work.
    """
    if not selection.left_out and selection.only is None:
        return first, last
    days: list[int] = []
    everywhere = replace(selection, where=())
    zone = selection.question.project.timezone
    for table in (labels, PastLabel.__table__):
        ends = select(func.min(table.c.labeled_at), func.max(table.c.labeled_at)).where(
            of_question(table, selection.question.key), *where_chosen(everywhere, table)
        )
        if table is not labels:
            ends = ends.where(table.c.taken_back_by.is_(None))
        moments = connection.execute(ends).one()
        days += [clock.day_number(end, zone) for end in moments if end is not None]
    return (min(days), max(days)) if days else (None, None)


def _codes(connection: Connection, coding: Any, events: Subquery) -> dict[int, Counter[Any]] | None:
    """Return per day the change in the number of items with each code; None if too narrow."""
    codes: defaultdict[int, Counter[Any]] = defaultdict(Counter)
    for day, before, after, number in coding.steps(connection, events):
        if not coding.holds(after):
            return None
        codes[day][after] += number
        codes[day][before] -= number
    return codes


def _events(periods: CTE, lasting: bool) -> Subquery:
    """Return the answers that come and go: item_id, annotator_id, answer, day, gone (1 or 0).

    If none ever goes, the column ``gone`` is left out.
    """
    answer = (periods.c.item_id, periods.c.annotator_id, periods.c.answer)
    came = select(*answer, periods.c.first_day.label("day"))
    if lasting:
        return came.subquery("events")
    came = came.add_columns(literal(ADDED, Integer).label("gone"))
    went = select(*answer, periods.c.end_day, literal(REMOVED, Integer))
    return union_all(came, went.where(periods.c.end_day < NEVER)).subquery("events")


def _annotators(connection: Connection, events: Subquery, lasting: bool) -> dict[int, Counter[int]]:
    key = (events.c.day, events.c.annotator_id)
    if lasting:  # to know that there was one is enough, and quicker than to count
        statement = select(*key).distinct()
    else:
        statement = select(*key, func.sum(1 - 2 * events.c.gone)).group_by(*key)
    arrivals: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for day, annotator, *answers in stream_rows(connection, statement):
        arrivals[day][annotator] = int(*answers) if answers else 1
    return arrivals


def count_timeline_blocks(connection: Connection, selection: Selection, number: int) -> Blocks:
    """Return each annotator's timed answers in order, cut into a number of blocks.

    Blocks have equally many answers; if they do not divide, the first ones have one more.
    An annotator with fewer answers than blocks has as many blocks as answers. A truth is that
    of `count_gold_confusions`.
    """

    def cut(among: frozenset[int] | None) -> Subquery:
        dated = _with_item_keys(selection, among)
        block = _in_order(func.ntile(number), dated) - 1
        names = ("item_id", "annotator_id", "answer", "labeled_at")
        timed = case((dated.c.timed == 1, block)).label("block")  # else NULL
        blocks = select(*(dated.c[name] for name in names), timed).subquery("cut")
        return select_answers_with_truths(selection, blocks)

    extra = {"block": Extra(int, number.bit_length()), "truth": OPTIONAL_ANSWER}
    tallies = count_against_patterns(connection, selection, cut, frozenset({NOBODY}), extra)
    block = np.array([block for block, *_ in tallies.every_key], dtype=np.int64)[tallies.key]
    first = np.full((len(tallies), number), latest := np.iinfo(np.int64).max)
    np.minimum.at(first, (tallies.owner, block), np.asarray(tallies.began))
    began = {
        annotator: {place: at for place, at in enumerate(row) if at < latest}
        for annotator, row in zip(tallies, first.tolist(), strict=True)
    }
    return Blocks(tallies, began)


@kept_with_answers
def count_patterns_by_moment(
    connection: Connection, selection: Selection
) -> dict[int, ItemPatterns]:
    """Return how many items with each pattern had their last answer when: by moment, ascending.

    The moment of an answer is the begin of its day; without a time of its own, when its import
    was recorded. It is what the clocks of the project's time zone show, in microseconds.
    """
    dated = select_dated_answers(selection)
    rows = select(dated, _moment(selection, dated).label("moment"))
    code = make_pattern_code(connection, selection, of=rows.subquery("moments"))
    key = [code.items.c.moment, *code.key]
    statement = select(*key, func.count(), func.max(code.items.c.answers)).group_by(*key)
    moments: defaultdict[int, Counter[Pattern]] = defaultdict(Counter)
    most = 0
    counted = counted_rows(connection, statement, selection.question, len(key), most=True)
    for moment, *codes, items, answers in counted:
        most = max(most, answers)
        if code.holds(answers):
            moments[moment][code.decode(tuple(codes))] += items
    wider = widen_pattern_code(selection, code, most)
    if wider is not None:
        return count_patterns_by_moment(connection, wider)
    return {
        moment: ItemPatterns(dict(sorted(moments[moment].items()))) for moment in sorted(moments)
    }
