"""The three tallies, each by one statement (by two if items have very many answers)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Set
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    Join,
    Select,
    Subquery,
    and_,
    case,
    false,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy import cast as sql_cast

from tracker.core.audit_tallies import SkipTallies
from tracker.core.tallies import (
    AnnotatorTallies,
    Answer,
    IntArray,
    ItemPatterns,
    PairTallies,
    Pattern,
)
from tracker.core.tally_columns import TallyColumns, distinct_numbers, tally_columns_of
from tracker.counts.annotator_patterns import count_against_patterns
from tracker.counts.kept_counts import counted_pairs, counted_rows, kept_any_of
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
from tracker.projects.kept import kept_with_answers
from tracker.storage.schema import NONE_APPLIES, SKIPPED
from tracker.storage.schema.labels import of_question

# -- The third tally: for each pair of annotators a cross-table of their answers, by one self-join


def pair_tallies(connection: Connection, selection: Selection) -> PairTallies:
    """Return for each pair of annotators the cross-table of their answers to shared items."""
    counts: defaultdict[tuple[int, int], Counter[tuple[Answer, Answer]]] = defaultdict(Counter)
    packing = _packing(connection, selection)
    statement = _joined(selection, packing)
    keys = len(statement.selected_columns) - 1
    for *key, items in counted_rows(connection, statement, selection.question, keys):
        a, b, answer_a, answer_b = packing.unpack(key)
        counts[a, b][read_selected_answer(answer_a), read_selected_answer(answer_b)] += items
    return PairTallies(counts)


def count_pair_cells(
    connection: Connection, selection: Selection, answers: tuple[Answer, ...] = ()
) -> tuple[list[tuple[int, int]], Cells]:
    """Return the pairs, ascending, and their tallies as arrays, for figures of very many pairs.

    ``answers`` get the first codes, in this order, whether they occur or not.
    """
    packing = _packing(connection, selection)
    if packing.widths is None or not packing.fits:
        tallies = pair_tallies(connection, selection).counts
        pairs = sorted(tallies)
        return pairs, kappa_cells([dict(sorted(tallies[pair].items())) for pair in pairs], answers)
    rows = counted_pairs(connection, _joined(selection, packing), selection.question)
    keys, items = rows.T  # in order, as the order of a sum decides its last digit
    annotator, _, answer, _ = packing.widths
    both, first, second = Packing((2 * annotator, answer, answer)).unpack([keys])
    begins = np.diff(both, prepend=-1) != 0  # the rows are in order
    distinct, place = both[begins], np.cumsum(begins) - 1
    lower, higher = Packing((annotator, annotator)).unpack([distinct])
    code = np.zeros(1 << answer, dtype=np.int64)
    code[first] = code[second] = 1
    used, known = np.flatnonzero(code).tolist(), set(answers)
    every = (*answers, *((category,) for category in used if (category,) not in known))
    for number, (category,) in enumerate(every):
        code[category] = number
    pairs = list(zip(lower.tolist(), higher.tolist(), strict=True))
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
    return AS_COLUMNS if widths is None else Packing((widths[0], *widths, widths[1]))


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
    answers, every = _seen(selection, "seen"), _seen(selection, "every")
    skips, seen = func.sum(every.c.skipped).label("skipped"), func.count().label("seen")
    items = select(every.c.item_id, skips, seen).group_by(every.c.item_id).subquery("items")
    key = (answers.c.annotator_id, answers.c.skipped, items.c.skipped, items.c.seen)
    # An outer join, although every such item has answers: see `count_against_patterns`.
    statement = (
        select(*key, func.count())
        .select_from(items.outerjoin(answers, answers.c.item_id == items.c.item_id))
        .group_by(*key)
    )
    tallies: dict[int, dict[tuple[bool, int, int], int]] = {}
    for who, skipped, skipping, seeing, number in counted_rows(
        connection, statement, selection.question, len(key)
    ):
        tallies.setdefault(who, {})[bool(skipped), int(skipping), seeing] = number
    return tallies


def reserved_category(selection: Selection) -> int:
    """Return the reserved category that an answer without a label has."""
    return SKIPPED if selection.single else NONE_APPLIES


def _seen(selection: Selection, name: str) -> Subquery:
    """Return one row per answer: item_id, annotator_id, and skipped, 1 or 0."""
    key = (labels.c.item_id, labels.c.annotator_id)
    skipped = case((labels.c.category_id == reserved_category(selection), 1), else_=0)
    statement = select(*key).where(where_counted(selection, skipped=selection.single))
    if selection.single:
        return statement.add_columns(skipped.label("skipped")).subquery(name)
    skipped_any = func.max(skipped).label("skipped")
    return statement.add_columns(skipped_any).group_by(*key).subquery(name)


@kept_with_answers
def count_item_patterns(connection: Connection, selection: Selection) -> ItemPatterns:
    """Return how many items have each pattern of answers, in the order of the patterns.

    In one fixed order, sums of fractions over them are the same on every database.
    """
    code = make_pattern_code(connection, selection)
    statement = select(*code.key, func.count(), func.max(code.items.c.answers))
    counts: dict[Pattern, int] = {}
    most = 0
    rows = counted_rows(
        connection, statement.group_by(*code.key), selection.question, len(code.key), most=True
    )
    for *codes, items, answers in rows:
        most = max(most, answers)
        if code.holds(answers):
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
    first: dict[Pattern, list[int]] = {pattern: [] for pattern in patterns}
    of_code = cache(lambda codes: first.get(code.decode(codes)))
    largest = 0
    item_id, number = code.items.c.item_id, code.items.c.answers
    statement = select(item_id, number, *code.key).order_by(item_id)
    for item, answers, *codes in stream_rows(connection, statement):
        largest = max(largest, answers)
        items = of_code(tuple(codes))
        if items is not None and len(items) < most:
            items.append(item)
    wider = widen_pattern_code(selection, code, largest)
    if wider is not None:
        return select_items_of_patterns(connection, wider, patterns, most)
    return first


@kept_with_answers
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
    keys, number = counted_pairs(connection, statement, selection.question).T
    wider = widen_pattern_code(selection, code, -int(keys.min(initial=0)))
    if wider is not None:
        return count_tallies_of_rows(connection, wider, answers, further)
    return AnnotatorTallies(_unpacked(keys, number, code, packing))


class PartTallies(NamedTuple):
    """The tallies of parts of each annotator's answers, such as those of one file.

    Attributes:
        columns: the tallies; an owner is an annotator's answers of one part.
        annotators: of each owner the annotator's id, ascending.
        parts: of each owner the part's number.
    """

    columns: TallyColumns
    annotators: IntArray
    parts: IntArray


def count_tallies_of_parts(
    connection: Connection, selection: Selection, answers: Subquery, bits: int
) -> PartTallies:
    """Return the tallies of rows of answers by their number ``part``, which takes so many bits."""
    who = sql_cast(answers.c.annotator_id, BigInteger).bitwise_lshift(literal(bits, Integer))
    owner = (who + answers.c.part).label("annotator_id")
    rows = select(answers.c.item_id, owner, answers.c.answer).subquery("owned")
    columns = tally_columns_of(count_tallies_of_rows(connection, selection, rows, bits))
    return PartTallies(columns, columns.annotators >> bits, columns.annotators % (1 << bits))


def _packed_tallies(answers: Subquery, code: Code, packing: Packing) -> Select[Any]:
    """Return items by one integer of pattern, own answer and annotator.

    If a digit is too small for an item's answers, the integer is their number below 0.
    """
    # An outer join finds the same, and is read item by item: see `count_against_patterns`.
    of_item = answers.c.item_id == code.items.c.item_id
    columns = [*code.key, answers.c.answer, answers.c.annotator_id]
    number = code.items.c.answers
    key = case((number > code.most_answers, -number), else_=packing.pack(columns)).label("key")
    statement = select(key, func.count().label("number"))
    joined = statement.select_from(code.items.join(answers, of_item, isouter=True))
    return joined.group_by(key.name)  # by name: it holds bound values


def _unpacked(keys: IntArray, number: IntArray, code: Code, packing: Packing) -> TallyColumns:
    of_item, answer, annotator = packing.unpack([keys])
    order = np.argsort(annotator, kind="stable")
    annotators, owner = distinct_numbers(annotator[order])
    owns, own = distinct_numbers(answer[order])
    codes, pattern = distinct_numbers(of_item[order])
    answers = tuple((category,) for category in owns.tolist())
    patterns = tuple(code.decode((integer,)) for integer in codes.tolist())
    return TallyColumns(annotators, answers, patterns, owner, own, pattern, number[order])


class Present(NamedTuple):
    """Whether any answer has a time of its own or a duration, is empty, or is given again."""

    times: bool
    seconds: bool
    empty: bool
    repeats: bool


@kept_with_answers
def select_label_contents(connection: Connection, selection: Selection) -> Present:
    """Return what the labels contain; each search stops at the first hit."""
    given = labels.c.category_id != SKIPPED
    timed, measured = labels.c.has_own_time, labels.c.spent_ms.is_not(None)
    empty = labels.c.category_id == reserved_category(selection)
    repeated = labels.c["pass"] > 1
    chosen = (of_question(labels, selection.question.key), *where_chosen(selection, alone=True))

    def there(condition: ColumnElement[bool]) -> ColumnElement[bool]:
        return select(literal(1)).where(*chosen, condition).exists()

    # Most projects have none of them, which takes one look at all labels, not four.
    any_of = there(or_(timed, measured, repeated, empty)).label("there")
    any_there = select(any_of).subquery("any_of").c.there
    sought = (and_(given, timed), and_(given, measured), empty, and_(given, repeated))
    tests = (case((any_there, there(condition)), else_=false()) for condition in sought)
    return Present(*kept_any_of(connection, select(*tests), selection.question))
