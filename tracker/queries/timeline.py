"""How the item patterns changed from day to day, by one pass over the answers in their order.

Each answer that came or went moves its item from one pattern to another. The statement adds
up the answers of an item in the order of their days, so that every row has the code of its
item after it, and counts equal rows. Python then adds up the days, from tallies.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeAlias

from sqlalchemy import CTE, Connection, Integer, Subquery, case, func, literal, select, union_all

from tracker.core import clock
from tracker.core.audit_tallies import Blocks
from tracker.core.clock import DAY
from tracker.core.tallies import Answer, ItemPatterns, Pattern
from tracker.queries.annotator_patterns import OPTIONAL_ANSWER, Extra, count_against_patterns
from tracker.queries.gold import NOBODY, select_answers_with_truths
from tracker.queries.pattern_codes import make_pattern_code, widen_pattern_code
from tracker.queries.selection import (
    Selection,
    labels,
    local_moment,
    stream_rows,
    where_chosen,
)
from tracker.queries.transitions import (
    ADDED,
    REMOVED,
    Coding,
    select_dated_answers,
    transition_codings,
    transition_window,
)
from tracker.queries.valid_periods import NEVER, Window, select_valid_periods
from tracker.storage.answer_keys import of_question
from tracker.storage.schema import PastLabel

_Code: TypeAlias = Any
_Decode: TypeAlias = Callable[[_Code], Pattern]


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
    codes: dict[int, Counter[_Code]] = field(default_factory=dict)
    annotators: dict[int, Counter[int]] = field(default_factory=dict)
    decode: _Decode = lambda _: ()

    def at(self, days: Sequence[int]) -> Iterator[tuple[int, ItemPatterns, int] | None]:
        """Yield the item patterns at the end of each day, and the number of their annotators.

        ``days`` ascend. None if nothing changed since the day before in the sequence.
        """
        items: Counter[_Code] = Counter()
        answers: Counter[int] = Counter()
        changes = sorted({*self.codes, *self.annotators})
        place, begun = 0, False
        for day in days:
            changed = not begun
            begun = True
            while place < len(changes) and changes[place] <= day:
                items.update(self.codes.get(changes[place], {}))
                answers.update(self.annotators.get(changes[place], {}))
                place, changed = place + 1, True
            yield (
                (day, self._patterns(items), sum(n > 0 for n in answers.values()))
                if (changed)
                else None
            )

    def _patterns(self, items: Counter[_Code]) -> ItemPatterns:
        counts: Counter[Pattern] = Counter()
        for code, number in items.items():
            pattern = self.decode(code) if number else ()
            if pattern:
                counts[pattern] += number
        return ItemPatterns(dict(sorted(counts.items())))


def count_timeline(connection: Connection, selection: Selection, window: Window) -> Timeline:
    """Return the timeline of the answers that count in a window at the end of each day."""
    question = selection.question.key
    extent = connection.execute(
        select(
            func.min(labels.c.labeled_at),
            func.max(labels.c.labeled_at),
            func.max(labels.c["pass"]),
        ).where(of_question(labels, question))
    ).one()
    if extent[0] is None:
        return Timeline()
    past = select(PastLabel.item_id).where(
        of_question(PastLabel, question), PastLabel.taken_back_by.is_(None)
    )
    earliest = select(func.min(PastLabel.labeled_at)).where(
        of_question(PastLabel, question), PastLabel.taken_back_by.is_(None)
    )
    contested = extent[2] > 1 or connection.scalar(past.limit(1)) is not None
    zone = selection.question.project.timezone
    first = clock.day_number(min(extent[0], connection.scalar(earliest) or extent[0]), zone)
    last = clock.day_number(extent[1], zone)
    lasting = not contested and window == Window()
    events = _events(
        select_valid_periods(selection, window, contested=contested).cte("every_piece"), lasting
    )
    annotators = _annotators(connection, events, lasting)
    span = range(first, last + (window.days or 0) + 1)
    for coding in transition_codings(connection, selection, span):
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
    for of in (labels, PastLabel.__table__):
        ends = select(func.min(of.c.labeled_at), func.max(of.c.labeled_at)).where(
            of_question(of, selection.question.key), *where_chosen(everywhere, of)
        )
        if of is not labels:
            ends = ends.where(of.c.taken_back_by.is_(None))
        zone = selection.question.project.timezone
        moments = connection.execute(ends).one()
        days += [clock.day_number(end, zone) for end in moments if end is not None]
    return (min(days), max(days)) if days else (None, None)


def _codes(
    connection: Connection, coding: Coding, events: Subquery
) -> dict[int, Counter[_Code]] | None:
    """Return per day the change in the number of items with each code.

    None if the coding is too narrow.
    """
    codes: dict[int, Counter[_Code]] = {}
    for day, before, after, number in coding.steps(connection, events):
        if not coding.holds(after):
            return None
        of_day = codes.setdefault(day, Counter())
        of_day[after] += number
        of_day[before] -= number
    return codes


def _events(periods: CTE, lasting: bool) -> Subquery:
    """Return the answers that come and go: item_id, annotator_id, answer, day, gone (1 or 0).

    If none ever goes, the column ``gone`` is left out.
    """
    came = select(
        periods.c.item_id,
        periods.c.annotator_id,
        periods.c.answer,
        periods.c.first_day.label("day"),
    )
    if lasting:
        return came.subquery("events")
    came = came.add_columns(literal(ADDED, Integer).label("gone"))
    went = select(
        periods.c.item_id,
        periods.c.annotator_id,
        periods.c.answer,
        periods.c.end_day,
        literal(REMOVED, Integer),
    ).where(periods.c.end_day < NEVER)
    return union_all(came, went).subquery("events")


def _annotators(connection: Connection, events: Subquery, lasting: bool) -> dict[int, Counter[int]]:
    arrivals: dict[int, Counter[int]] = {}
    who = (events.c.day, events.c.annotator_id)
    if lasting:  # to know that there was one is enough, and quicker than to count
        for day, annotator in stream_rows(connection, select(*who).distinct()):
            arrivals.setdefault(day, Counter())[annotator] = 1
        return arrivals
    more = func.sum(1 - 2 * events.c.gone)
    for day, annotator, answers in stream_rows(connection, select(*who, more).group_by(*who)):
        arrivals.setdefault(day, Counter())[annotator] = int(answers)
    return arrivals


def count_timeline_blocks(
    connection: Connection, selection: Selection, number: int
) -> dict[int, Blocks]:
    """Return each annotator's timed answers in order, cut into a number of blocks: by annotator id.

    Blocks have equally many answers; if they do not divide, the first ones have one more.
    An annotator with fewer answers than blocks has as many blocks as answers. A truth is that
    of `confusions`.
    """
    cut = _cut(selection, number)
    key = (cut.c.annotator_id, cut.c.block)
    began: dict[int, dict[int, int]] = defaultdict(dict)
    first = select(*key, func.min(cut.c.labeled_at)).where(cut.c.block.is_not(None))
    for annotator, block, at in stream_rows(connection, first.group_by(*key)):
        began[annotator][block] = at
    extra = {"block": Extra(int, number.bit_length()), "truth": OPTIONAL_ANSWER}
    rows, nobody = select_answers_with_truths(selection, cut), frozenset({NOBODY})
    tallies = count_against_patterns(connection, selection, rows, nobody, extra, every=True)
    return {who: Blocks(_ordered(tallies.get(who, {})), starts) for who, starts in began.items()}


def count_patterns_by_moment(
    connection: Connection, selection: Selection
) -> dict[int, ItemPatterns]:
    """Return how many items with each pattern had their last answer when: by moment, ascending.

    The moment of an answer is the begin of its day in the project's time zone; without a time of
    its own, when its import was recorded.
    """
    dated = select_dated_answers(selection)
    at = dated.c.labeled_at
    of_day = local_moment(selection.question.project.timezone, at) % DAY
    rows = select(dated, case((dated.c.timed == 1, at - of_day), else_=at).label("at"))
    code = make_pattern_code(connection, selection, of=rows.subquery("at"))
    last = code.items.c["last"]
    key = [last, *(code.items.c[name] for name in code.columns)]
    statement = select(*key, func.count(), func.max(code.items.c.answers)).group_by(*key)
    moments: defaultdict[int, Counter[Pattern]] = defaultdict(Counter)
    most = 0
    for moment, *codes, items, answers in stream_rows(connection, statement):
        most = max(most, answers)
        if code.most_answers is None or answers <= code.most_answers:
            moments[moment][code.decode(tuple(codes))] += items
    wider = widen_pattern_code(selection, code, most)
    if wider is not None:
        return count_patterns_by_moment(connection, wider)
    return {
        moment: ItemPatterns(dict(sorted(moments[moment].items()))) for moment in sorted(moments)
    }


def _ordered(
    counts: Mapping[Any, int],
) -> dict[tuple[int, Answer, Pattern, Answer | None], int]:
    """Return a tally's keys in the order of `Blocks`."""
    return {
        (block, own, pattern, truth): items
        for (block, truth, own, pattern), items in counts.items()
    }


def _cut(selection: Selection, number: int) -> Subquery:
    """Return one row per answer: item_id, annotator_id, answer, labeled_at, block.

    Blocks count from 0; NULL for an untimed answer.
    """
    dated = select_dated_answers(selection)
    block = transition_window(func.ntile(number), dated) - 1
    return select(
        dated.c.item_id,
        dated.c.annotator_id,
        dated.c.answer,
        dated.c.labeled_at,
        case((dated.c.timed == 1, block)).label("block"),
    ).subquery("cut")
