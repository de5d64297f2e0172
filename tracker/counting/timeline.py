"""How the item patterns changed from day to day: one pass over the answers, in their order.

Each answer that came (or went) changes its item from one pattern to another. The statement
adds up the answers of an item in the order of their days, so that every row knows the code of
its item after it, and counts rows that are alike. Days are then added up in Python, from tallies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    Connection,
    FunctionElement,
    Integer,
    Subquery,
    Text,
    case,
    func,
    literal,
    select,
    union_all,
)
from sqlalchemy import cast as sql_cast

from tracker.counting.codes import BITS, MOST_CODE_COLUMNS, id_widths, packed
from tracker.counting.pieces import DAY, NEVER, Window, pieces
from tracker.counting.selection import Selection, labels, read_answer, stream
from tracker.schema import Category, PastLabel
from tracker.tally import Answer, ItemPatterns, Pattern, make_pattern

__all__ = ["DAY", "Timeline", "Window", "timeline"]

_Code: TypeAlias = Any
_Decode: TypeAlias = Callable[[_Code], Pattern]
_ADDED, _REMOVED = 0, 1


@dataclass(frozen=True)
class Timeline:
    """What changed on each day.

    Attributes:
        first: the first day with an answer, in days since 1970; None for no answer at all.
        last: the last one.
        codes: per day, how many items more have each code, an item without answers included.
        annotators: per day, how many answers more of each annotator count; where answers only
            ever come, on their first day at least one.
        decode: a code as a pattern.
    """

    first: int | None = None
    last: int | None = None
    codes: dict[int, Counter[_Code]] = field(default_factory=dict)
    annotators: dict[int, Counter[int]] = field(default_factory=dict)
    decode: _Decode = lambda _: ()

    def at(self, days: Sequence[int]) -> Iterator[tuple[int, ItemPatterns, int] | None]:
        """The item patterns at the end of each day and how many annotators they are of.

        ``days`` ascend. None where nothing changed since the day before in the sequence.
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


def timeline(connection: Connection, selection: Selection, window: Window) -> Timeline:
    """The timeline of a project's answers, as many as count in a window at the end of each day."""
    project = selection.project.id
    extent = connection.execute(
        select(
            func.min(labels.c.labelled_at),
            func.max(labels.c.labelled_at),
            func.max(labels.c["pass"]),
        ).where(labels.c.project_id == project)
    ).one()
    if extent[0] is None:
        return Timeline()
    past = select(PastLabel.item_id).where(
        PastLabel.project_id == project, PastLabel.taken_back_by.is_(None)
    )
    earliest = select(func.min(PastLabel.labelled_at)).where(
        PastLabel.project_id == project, PastLabel.taken_back_by.is_(None)
    )
    contested = extent[2] > 1 or connection.scalar(past.limit(1)) is not None
    first = min(extent[0], connection.scalar(earliest) or extent[0]) // DAY
    last = extent[1] // DAY
    lasting = not contested and window == Window()
    events = _events(pieces(selection, window, contested=contested).cte("every_piece"), lasting)
    annotators = _annotators(connection, events, lasting)
    steps, decode = _steps(connection, selection, events, first, last + (window.days or 0))
    codes: dict[int, Counter[_Code]] = {}
    for day, before, after, number in steps:
        of_day = codes.setdefault(day, Counter())
        of_day[after] += number
        of_day[before] -= number
    return Timeline(first, last, codes, annotators, cache(decode))


def _events(found: CTE, lasting: bool) -> Subquery:
    """Answers that come and those that go: item_id, annotator_id, answer, day, gone (1 or 0)."""
    came = select(
        found.c.item_id,
        found.c.annotator_id,
        found.c.answer,
        found.c.first_day.label("day"),
        literal(_ADDED, Integer).label("gone"),
    )
    if lasting:
        return came.subquery("events")
    went = select(
        found.c.item_id,
        found.c.annotator_id,
        found.c.answer,
        found.c.end_day,
        literal(_REMOVED, Integer),
    ).where(found.c.end_day < NEVER)
    return union_all(came, went).subquery("events")


def _annotators(connection: Connection, events: Subquery, lasting: bool) -> dict[int, Counter[int]]:
    found: dict[int, Counter[int]] = {}
    who = (events.c.day, events.c.annotator_id)
    if lasting:  # to know that there was one is enough, and quicker than to count
        for day, annotator in stream(connection, select(*who).distinct()):
            found.setdefault(day, Counter())[annotator] = 1
        return found
    more = func.sum(1 - 2 * events.c.gone)
    for day, annotator, answers in stream(connection, select(*who, more).group_by(*who)):
        found.setdefault(day, Counter())[annotator] = int(answers)
    return found


_Steps: TypeAlias = Iterable[tuple[int, _Code, _Code, int]]


def _steps(
    connection: Connection, selection: Selection, events: Subquery, first: int, last: int
) -> tuple[_Steps, _Decode]:
    """How many items went from one code to another on a day, and the way from code to pattern."""
    if selection.project.answers == "one":
        bits = max(id_widths(connection, selection)[0], 1)
        categories = connection.scalar(
            select(func.max(Category.id)).where(Category.project_id == selection.project.id)
        )
        digits = BITS // bits
        if 0 < (categories or 0) <= digits * MOST_CODE_COLUMNS:
            return _by_digits(connection, events, bits, digits, categories or 0, first, last)
    return _by_text(connection, events)


def _by_digits(
    connection: Connection,
    events: Subquery,
    bits: int,
    digits: int,
    categories: int,
    first: int,
    last: int,
) -> tuple[_Steps, _Decode]:
    """Codes as in `codes`: as many bits to a category as any number of answers may take."""
    one = sql_cast(literal(1), BigInteger)
    columns = []
    starts = range(1, categories + 1, digits)
    for start in starts:
        shifted: Any = one.bitwise_lshift((events.c.answer - start) * bits)
        if len(starts) > 1:
            inside = events.c.answer.between(start, start + digits - 1)
            shifted = case((inside, shifted), else_=0)
        signed = case((events.c.gone == _REMOVED, -shifted), else_=shifted)
        columns.append(sql_cast(_so_far(func.sum(signed), events), BigInteger))
    token = events.c.answer * 2 + events.c.gone
    day = events.c.day - first
    widths = [(last - first + 1).bit_length(), bits * categories, (2 * categories + 1).bit_length()]
    alone = len(columns) == 1 and sum(widths) <= BITS
    keys = [packed([day, columns[0], token], widths)] if alone else [day, *columns, token]
    every = select(*(key.label(f"key_{n}") for n, key in enumerate(keys))).subquery("every_step")
    statement = select(*every.c, func.count()).group_by(*every.c)

    def steps() -> _Steps:
        masks = [(1 << width) - 1 for width in widths]
        for *key, number in stream(connection, statement):
            if alone:
                rest, token = key[0] >> widths[2], key[0] & masks[2]
                day, after = rest >> widths[1], (rest & masks[1],)
            else:
                day, *some, token = key
                after = tuple(some)
            place, digit = divmod((token >> 1) - 1, digits)
            change = (1 << digit * bits) * (-1 if token & 1 else 1)
            before = (*after[:place], after[place] - change, *after[place + 1 :])
            yield day + first, before, after, number

    def decode(codes: tuple[int, ...]) -> Pattern:
        found: list[tuple[Answer, int]] = []
        for start, code in zip(starts, codes, strict=True):
            for category in range(start, min(start + digits, categories + 1)):
                count = code >> (category - start) * bits & (1 << bits) - 1
                if count:
                    found.append(((category,), count))
        return tuple(found)

    return steps(), decode


def _so_far(sum_: FunctionElement[Any], events: Subquery) -> ColumnElement[Any]:
    """A sum over the events of an item up to this one, those of one day in any order."""
    return sum_.over(partition_by=events.c.item_id, order_by=events.c.day, rows=(None, 0))


def _by_text(connection: Connection, events: Subquery) -> tuple[_Steps, _Decode]:
    """Codes as texts: every answer that came or went so far, in turn."""
    sign = case((events.c.gone == _REMOVED, "-"), else_="+")
    token = sign + sql_cast(events.c.answer, Text)
    so_far = _so_far(func.aggregate_strings(token, ","), events)
    every = select(events.c.day, so_far.label("code")).subquery("every_step")
    statement = select(every.c.day, every.c.code, func.count()).group_by(*every.c)

    def steps() -> _Steps:
        for day, after, number in stream(connection, statement):
            yield day, after.rpartition(",")[0], after, number

    def decode(code: str) -> Pattern:
        answers: Counter[Answer] = Counter()
        for token in filter(None, code.split(",")):
            answers[read_answer(token[1:])] += 1 if token[0] == "+" else -1
        return make_pattern(answers.elements())

    return steps(), decode
