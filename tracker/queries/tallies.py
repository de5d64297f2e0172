"""The three tallies, each by one statement (by two if items have very many answers)."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
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

from tracker.core.tallies import AnnotatorTallies, ItemPatterns, Pattern
from tracker.core.tally_columns import TallyColumns
from tracker.queries.annotator_patterns import count_against_patterns
from tracker.queries.packing import Packing
from tracker.queries.pair_tables import Integers, select_number_pairs
from tracker.queries.pattern_codes import Code, make_pattern_code, widen_pattern_code
from tracker.queries.selection import (
    Selection,
    labels,
    select_answer_rows,
    stream_rows,
    where_chosen,
)
from tracker.queries.skips import skip_category
from tracker.storage.answer_keys import of_question
from tracker.storage.schema import SKIPPED


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
        labels.c.category_id == skip_category(selection),
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
