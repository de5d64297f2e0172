"""The three tallies, each by one statement (by two if items have very many answers)."""

from __future__ import annotations

from collections.abc import Set
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    ColumnElement,
    Connection,
    Join,
    Select,
    Subquery,
    Text,
    and_,
    case,
    cast,
    false,
    func,
    literal,
    or_,
    select,
)

from tracker.core.audit_tallies import SkipTallies
from tracker.core.tallies import AnnotatorTallies, Answer, ItemPatterns, PairTallies, Pattern
from tracker.core.tally_columns import TallyColumns
from tracker.counts.annotator_patterns import count_against_patterns
from tracker.counts.pattern_codes import (
    AS_COLUMNS,
    Code,
    Packing,
    make_pattern_code,
    select_id_widths,
    widen_pattern_code,
)
from tracker.counts.selection import (
    Selection,
    labels,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
    where_chosen,
    where_counted,
)
from tracker.measures.cohen import Cells, kappa_cells
from tracker.storage.schema import NONE_APPLIES, SKIPPED
from tracker.storage.schema.labels import of_question

# -- The third tally: for each pair of annotators a cross-table of their answers, by one self-join


Integers: TypeAlias = NDArray[np.int64]

_MOST = 20_000_000  # rows of 40 bytes at most in one text; 10 ** 9 bytes are too many


def select_number_pairs(connection: Connection, statement: Select[Any]) -> Integers:
    """Return the rows of a statement of two whole numbers as an array, (N, 2).

    The database writes them as one text, from which numpy reads millions of numbers in much
    less time than as many rows take. If a text cannot hold them, they come as rows. A row with
    NULL is left out.
    """
    rows = statement.limit(_MOST + 1).subquery("rows")
    one, other = (cast(column, Text) for column in rows.c)
    together = func.aggregate_strings(one + "," + other, ",").label("together")
    text, number = connection.execute(select(together, func.count().label("number"))).one()
    if number > _MOST:
        flat = chain.from_iterable(
            row for row in stream_rows(connection, statement) if None not in row
        )
        return np.fromiter(flat, dtype=np.int64).reshape(-1, 2)
    if not text:
        return np.zeros((0, 2), dtype=np.int64)
    return np.fromstring(text, dtype=np.int64, sep=",").reshape(-1, 2)


def pair_tallies(connection: Connection, selection: Selection) -> PairTallies:
    """Return for each pair of annotators the cross-table of their answers to shared items."""
    counts: dict[tuple[int, int], dict[tuple[Answer, Answer], int]] = {}
    packing = _packing(connection, selection)
    for *key, items in stream_rows(connection, _joined(selection, packing)):
        a, b, answer_a, answer_b = packing.unpack(key)
        table = counts.setdefault((a, b), {})
        cell = (read_selected_answer(answer_a), read_selected_answer(answer_b))
        table[cell] = table.get(cell, 0) + items
    return PairTallies(counts)


def count_pair_cells(
    connection: Connection, selection: Selection, answers: tuple[Answer, ...] = ()
) -> tuple[list[tuple[int, int]], Cells]:
    """Return the pair tallies as arrays, for figures of very many pairs.

    Args:
        connection: to the database.
        selection: whose answers to which items.
        answers: these get the first codes, in this order, whether they occur or not.

    Returns:
        The pairs, first id < second id, ascending; and their cross-tables in that order.
    """
    packing = _packing(connection, selection)
    if packing.widths is None or not packing.fits:
        tallies = pair_tallies(connection, selection).counts
        pairs = sorted(tallies)
        return pairs, kappa_cells([dict(sorted(tallies[pair].items())) for pair in pairs], answers)
    rows = select_number_pairs(connection, _joined(selection, packing))
    keys, items = rows[np.argsort(rows[:, 0])].T  # the order of a sum decides its last digit
    annotator, _, answer, _ = packing.widths
    both, first, second = Packing((2 * annotator, answer, answer)).unpack([keys])
    distinct, place = np.unique(both, return_inverse=True)
    one, other = Packing((annotator, annotator)).unpack([distinct])
    used = np.unique(np.concatenate([first, second])).tolist()
    every = (*answers, *((one,) for one in used if (one,) not in set(answers)))
    code = np.zeros(1 << answer, dtype=np.int64)
    for number, given in enumerate(every):
        code[given[0]] = number
    pairs = list(zip(one.tolist(), other.tolist(), strict=True))
    return pairs, Cells(every, place, code[first], code[second], items, len(pairs))


def join_answer_pairs(first: Subquery, second: Subquery) -> Join:
    """Return every two answers to an item, the one of the annotator with the lower id first."""
    return first.join(
        second,
        (first.c.item_id == second.c.item_id) & (first.c.annotator_id < second.c.annotator_id),
    )


def _packing(connection: Connection, selection: Selection) -> Packing:
    """Return the packing of two annotators and their answers."""
    widths = select_id_widths(connection, selection)
    if widths is None:
        return AS_COLUMNS
    annotator, answer = widths
    return Packing((annotator, annotator, answer, answer))


def _joined(selection: Selection, packing: Packing) -> Select[Any]:
    """Return every two answers to an item, counted by the two annotators and answers."""
    first, second = select_answer_rows(selection, "first"), select_answer_rows(selection, "second")
    key = packing.key(
        [first.c.annotator_id, second.c.annotator_id, first.c.answer, second.c.answer]
    )
    statement = select(*key, func.count()).select_from(join_answer_pairs(first, second))
    return statement.group_by(*(column.name for column in key))  # by name: it holds bound values


# -- Items that annotators skipped, or said that none applies to, with the others who did ---------


def skip_tallies(connection: Connection, selection: Selection) -> SkipTallies:
    """Return how many items each annotator skipped or not, by how many of those who saw it skipped.

    A skipped answer is an answer here, even if a later pass has another. In a project whose
    answers may be empty, an answer that none applies is counted instead.
    """
    answers = _seen(selection, "seen")
    every = _seen(selection, "every")
    items = (
        select(
            every.c.item_id,
            func.sum(every.c.skipped).label("skipped"),
            func.count().label("seen"),
        )
        .group_by(every.c.item_id)
        .subquery("items")
    )
    key = (answers.c.annotator_id, answers.c.skipped, items.c.skipped, items.c.seen)
    # An outer join, although every such item has answers: see `count_against_patterns`.
    statement = (
        select(*key, func.count())
        .select_from(items.outerjoin(answers, answers.c.item_id == items.c.item_id))
        .group_by(*key)
    )
    tallies: dict[int, dict[tuple[bool, int, int], int]] = {}
    for who, skipped, skipping, seeing, number in stream_rows(connection, statement):
        tallies.setdefault(who, {})[bool(skipped), int(skipping), seeing] = number
    return tallies


def _with_skipped(selection: Selection) -> bool:
    return selection.question.answers == "one"


def reserved_category(selection: Selection) -> int:
    """Return the reserved category that an answer without a label has."""
    return SKIPPED if _with_skipped(selection) else NONE_APPLIES


def _seen(selection: Selection, name: str) -> Subquery:
    """Return one row per answer: item_id, annotator_id, and skipped, 1 or 0."""
    columns: tuple[Any, ...] = (labels.c.item_id, labels.c.annotator_id)
    skipped = case((labels.c.category_id == reserved_category(selection), 1), else_=0)
    where = where_counted(selection, skipped=_with_skipped(selection))
    if selection.question.answers == "one":
        return select(*columns, skipped.label("skipped")).where(where).subquery(name)
    return (
        select(*columns, func.max(skipped).label("skipped"))
        .where(where)
        .group_by(*columns)
        .subquery(name)
    )


def count_item_patterns(connection: Connection, selection: Selection) -> ItemPatterns:
    """Return how many items have each pattern of answers, in the order of the patterns.

    In one fixed order, sums of fractions over them are the same on every database.
    """
    code = make_pattern_code(connection, selection)
    columns = [code.items.c[name] for name in code.columns]
    statement = select(*columns, func.count(), func.max(code.items.c.answers)).group_by(*columns)
    counts: dict[Pattern, int] = {}
    most = 0
    for *codes, items, answers in stream_rows(connection, statement):
        most = max(most, answers)
        if code.most_answers is None or answers <= code.most_answers:
            pattern = code.decode(tuple(codes))
            counts[pattern] = counts.get(pattern, 0) + items
    wider = widen_pattern_code(selection, code, most)
    if wider is not None:
        return count_item_patterns(connection, wider)
    return ItemPatterns(dict(sorted(counts.items())))


def select_items_of_patterns(
    connection: Connection, selection: Selection, patterns: Set[Pattern], most: int
) -> dict[Pattern, list[int]]:
    """Return the first items by id, ``most`` at most, of each of some patterns.

    The shape is ``{pattern: ids}``. Items are read one after the other, because a code means
    nothing outside its statement.
    """
    code = make_pattern_code(connection, selection)
    columns = [code.items.c[name] for name in code.columns]
    found: dict[Pattern, list[int]] = {pattern: [] for pattern in patterns}
    known: dict[tuple[Any, ...], list[int] | None] = {}
    largest = 0
    for item, answers, *codes in stream_rows(
        connection,
        select(code.items.c.item_id, code.items.c.answers, *columns).order_by(code.items.c.item_id),
    ):
        key = (answers, *codes)
        largest = max(largest, answers)
        if key not in known:
            known[key] = found.get(code.decode(tuple(codes)))
        items = known[key]
        if items is not None and len(items) < most:
            items.append(item)
    wider = widen_pattern_code(selection, code, largest)
    if wider is not None:
        return select_items_of_patterns(connection, wider, patterns, most)
    return found


def count_annotator_tallies(connection: Connection, selection: Selection) -> AnnotatorTallies:
    """Return for each annotator on how many items an own answer met a pattern of the item."""
    return count_tallies_of_rows(connection, selection, select_answer_rows(selection))


def count_tallies_of_rows(
    connection: Connection, selection: Selection, answers: Subquery, further: int = 0
) -> AnnotatorTallies:
    """Return the same of rows of answers, whose annotator's id may have further bits."""
    code = make_pattern_code(connection, selection)
    of_code, of_annotator, of_answer = code.bits or (0, 0, 0)
    packing = Packing((of_code, of_answer, of_annotator + further))
    if code.bits is None or not packing.fits:
        counts = count_against_patterns(connection, selection, answers, further=further)
        return AnnotatorTallies(counts)
    statement = _packed_tallies(answers, code, packing)
    keys, number = select_number_pairs(connection, statement).T
    wider = widen_pattern_code(selection, code, -int(keys.min(initial=0)))
    if wider is not None:
        return count_tallies_of_rows(connection, wider, answers, further)
    return AnnotatorTallies(_unpacked(keys, number, code, packing))


def _packed_tallies(answers: Subquery, code: Code, packing: Packing) -> Select[Any]:
    """Return items by one integer of pattern, own answer and annotator.

    If a digit is too small for an item's answers, the integer is their number below 0.
    """
    # An outer join finds the same, and is read item by item: see `count_against_patterns`.
    of_item = answers.c.item_id == code.items.c.item_id
    columns = [code.items.c[code.columns[0]], answers.c.answer, answers.c.annotator_id]
    number = code.items.c.answers
    whole = case((number > code.most_answers, -number), else_=packing.pack(columns)).label("key")
    statement = select(whole, func.count().label("number"))
    joined = statement.select_from(code.items.join(answers, of_item, isouter=True))
    return joined.group_by(whole.name)  # by name: it holds bound values


def _unpacked(keys: Integers, number: Integers, code: Code, packing: Packing) -> TallyColumns:
    of_item, answer, annotator = packing.unpack([keys])
    order = np.argsort(annotator, kind="stable")
    annotators, owner = np.unique(annotator[order], return_inverse=True)
    owns, own = np.unique(answer[order], return_inverse=True)
    codes, pattern = np.unique(of_item[order], return_inverse=True)
    answers = [(category,) for category in owns.tolist()]
    patterns = tuple(code.decode((one,)) for one in codes.tolist())
    return TallyColumns(annotators, tuple(answers), patterns, owner, own, pattern, number[order])


class Present(NamedTuple):
    """Whether any answer has a time of its own or a duration, is empty, or is given again."""

    times: bool
    seconds: bool
    empty: bool
    repeats: bool


def select_label_contents(connection: Connection, selection: Selection) -> Present:
    """Return what the labels contain; each search stops at the first hit."""
    given = labels.c.category_id != SKIPPED
    sought = (
        and_(given, labels.c.has_own_time),
        and_(given, labels.c.spent_ms.is_not(None)),
        labels.c.category_id == reserved_category(selection),
        and_(given, labels.c["pass"] > 1),
    )
    of_project = (of_question(labels, selection.question.key), *where_chosen(selection, alone=True))

    def there(condition: ColumnElement[bool]) -> ColumnElement[bool]:
        return select(literal(1)).where(*of_project, condition).exists()

    # Most projects have none of them, which takes one look at all labels, not four.
    rare = (labels.c.has_own_time, labels.c.spent_ms.is_not(None), labels.c["pass"] > 1, sought[2])
    any_of = select(there(or_(*rare)).label("there")).subquery("any_of")
    tests = (case((any_of.c.there, there(one)), else_=false()) for one in sought)
    row = connection.execute(select(*tests)).one()
    return Present(*(bool(tests) for tests in row))
