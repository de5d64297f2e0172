"""Items that annotators share, also with models, and how alike their answers are."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    Subquery,
    case,
    func,
    literal,
    select,
)

from tracker.core.audit_tallies import (
    DIFFERENT,
    MINORITY,
    SAME,
    BesideModels,
    BesidePatterns,
    PairPatterns,
    SharedItems,
    audit_tally_of_pairs,
    beside_models_tally,
    patterns_beside_models,
)
from tracker.core.tallies import Answer, IntArray, Pattern
from tracker.counts.beside_people import count_beside_people, join_people_and_models, of_models
from tracker.counts.kept_counts import counted_pairs, counted_rows
from tracker.counts.pattern_codes import AS_COLUMNS, Code, Packing, make_pattern_code
from tracker.counts.selection import (
    Selection,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
)

LEAST_SHARED = 20
"""Items that two must share before they are counted as a pair."""

_OF_GIVEN = 2  # bits
_TABLE_BITS = 22  # of numbers that a table is quicker for than to sort them


def count_shared_items(
    connection: Connection, selection: Selection, most: int, least: int = LEAST_SHARED
) -> SharedItems:
    """Return every pair's shared items, by all that determines how likely the two are to agree.

    Pairs of fewer than ``least`` shared items are only told to be linked. ``most`` is the greatest
    number of answers to an item.
    """
    digits = most.bit_length()
    # Wide enough at once: to join every two answers again would take as long again.
    wide = replace(selection, bits=max(selection.bits, digits))
    code = make_pattern_code(connection, wide)
    annotators = 0 if code.bits is None else code.bits[1]
    packing = Packing((annotators, annotators, 5 * digits, _OF_GIVEN))
    if code.bits is None or not packing.fits:
        return audit_tally_of_pairs(_patterns(connection, selection, code, least))
    keys, items = counted_pairs(
        connection, _by_kind(wide, code, packing, digits), selection.question
    ).T
    halves = Packing((2 * annotators, 5 * digits + _OF_GIVEN))
    of_pair, of_kind = halves.unpack([keys])
    pairs, pair = _numbered(of_pair, 2 * annotators)
    kinds, kind = _numbered(of_kind, 5 * digits + _OF_GIVEN)
    enough = np.bincount(pair, items, len(pairs)) >= least
    kept = enough[pair]
    linked = np.stack(Packing((annotators, annotators)).unpack([pairs]), axis=1)
    parts = Packing((digits, 2 * digits, 2 * digits, _OF_GIVEN))
    answers, alike, minority, given = parts.unpack([kinds])
    return SharedItems(
        tuple((first, second) for first, second in linked[enough].tolist()),
        answers,
        alike,
        minority,
        given,
        (np.cumsum(enough) - 1)[pair[kept]],
        kind[kept],
        items[kept],
        lambda wanted: _patterns(connection, selection, code, least, wanted),
        linked,
    )


def _by_kind(selection: Selection, code: Code, packing: Packing, digits: int) -> Select[Any]:
    """Return items by one integer: pair, answers, ways to share an answer, what both gave.

    The ways to share count any answer, and an answer of a minority.
    """
    of_item = _item_kinds(selection, code, digits)
    first, second = select_answer_rows(selection, "first"), select_answer_rows(selection, "second")
    held = _held(selection, of_item.c.code, (first.c.answer - 1) * selection.bits)
    shared = case((2 * held < of_item.c.answers + 2, MINORITY), else_=SAME)
    given = case((first.c.answer == second.c.answer, shared), else_=DIFFERENT)
    (key,) = packing.key([first.c.annotator_id, second.c.annotator_id, of_item.c.kind, given])
    statement = select(key, func.count().label("items"))
    statement = statement.select_from(_joined(of_item, first, second)).where(_is_pair(second))
    return statement.group_by(key.name)  # by name: it holds bound values


def _item_kinds(selection: Selection, code: Code, digits: int) -> Subquery:
    """Return one row per item: item_id, code, answers, kind.

    The kind is one integer of everything but what two annotators gave.
    """
    assert code.bits is not None
    column, answers = code.items.c[code.columns[0]], code.items.c.answers
    alike: ColumnElement[Any] = literal(0)
    minority: ColumnElement[Any] = literal(0)
    for shift in range(0, code.bits[0], selection.bits):
        held = _held(selection, column, literal(shift, Integer))
        ways = held * (held - 1)
        alike = alike + ways
        # As in `is_minority`: fewer than half of the others, two left out.
        minority = minority + case((2 * held < answers + 2, ways), else_=0)
    kind = Packing((digits, 2 * digits, 2 * digits)).pack([answers, alike, minority])
    # An offset keeps this a statement of its own: counted once an item, not for every pair.
    rows = select(code.items.c.item_id, column.label("code"), answers, kind.label("kind"))
    return rows.offset(0).subquery("kinds")


def _held(
    selection: Selection, code: ColumnElement[Any], shift: ColumnElement[Any]
) -> ColumnElement[Any]:
    """Return how many gave the category whose digit of a code is so many bits from its end."""
    return code.bitwise_rshift(shift).bitwise_and((1 << selection.bits) - 1)


def _joined(of_item: Subquery, first: Subquery, second: Subquery) -> Any:
    """Return every two answers to an item, beside the item's columns.

    The joins are outer ones, whose order SQLite keeps: the item's columns are found once, not
    for every two annotators. The surplus is an annotator without a second: NULL.
    """
    return of_item.outerjoin(first, first.c.item_id == of_item.c.item_id).outerjoin(
        second,
        (first.c.item_id == second.c.item_id) & (first.c.annotator_id < second.c.annotator_id),
    )


def _is_pair(second: Subquery) -> ColumnElement[bool]:
    """Return whether a row has a second annotator, so that no other row is sorted.

    The condition is one that SQLite cannot see to rule out NULL: if it could, it would make the
    outer joins inner ones, and choose their order itself.
    """
    return func.coalesce(second.c.annotator_id, -1) >= 0


def _numbered(values: IntArray, bits: int) -> tuple[IntArray, IntArray]:
    """Return the distinct values, ascending, and the place among them of each; of so many bits."""
    if bits > _TABLE_BITS:
        return np.unique(values, return_inverse=True)
    seen = np.zeros(1 << bits, dtype=np.bool_)
    seen[values] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[values]


def _patterns(
    connection: Connection,
    selection: Selection,
    code: Code,
    least: int,
    wanted: Collection[tuple[int, int]] | None = None,
) -> PairPatterns:
    """Return the items of each pair by pattern and by the answer that both gave.

    The order of a set's ids varies, so the answers are compared here.
    """
    pairs: dict[tuple[int, int], int] = {}
    patterns: dict[Pattern, int] = {}
    answers: dict[Answer, int] = {}
    read = cache(read_selected_answer)

    @cache
    def place_of(*codes: Any) -> int:
        return patterns.setdefault(code.decode(codes), len(patterns))

    numbers = array("q")
    asked = None if wanted is None else {*wanted}
    for first, second, *codes, first_answer, second_answer, items in stream_rows(
        connection, _by_pattern(selection, code, wanted)
    ):
        if second is None or (asked is not None and (first, second) not in asked):
            continue
        own = read(first_answer)
        same = answers.setdefault(own, len(answers)) if own == read(second_answer) else -1
        pair = pairs.setdefault((first, second), len(pairs))
        numbers.extend((pair, place_of(*codes), same, items))
    table = np.frombuffer(numbers, dtype=np.int64).reshape(-1, 4)
    # A pattern may have come spelled in several ways: its rows are one.
    of_pattern, of_pair = len(answers) + 1, len(patterns) * (len(answers) + 1)
    keys, place = np.unique(
        table[:, 0] * of_pair + table[:, 1] * of_pattern + table[:, 2] + 1, return_inverse=True
    )
    items_of = np.bincount(place, table[:, 3], len(keys)).astype(np.int64)
    rest, pair = keys % max(of_pair, 1), keys // max(of_pair, 1)
    enough = np.bincount(pair, items_of, len(pairs)) >= least
    kept = enough[pair]
    return PairPatterns(
        pairs=tuple(
            annotators for annotators, many in zip(pairs, enough.tolist(), strict=True) if many
        ),
        patterns=tuple(patterns),
        answers=tuple(answers),
        pair=(np.cumsum(enough) - 1)[pair[kept]],
        pattern=rest[kept] // of_pattern,
        same=rest[kept] % of_pattern - 1,
        items=items_of[kept],
        linked=np.array([*pairs], dtype=np.int64).reshape(-1, 2),
    )


def _by_pattern(
    selection: Selection, code: Code, wanted: Collection[tuple[int, int]] | None
) -> Select[Any]:
    """Return items by pair, code and both answers, for annotators of the wanted pairs."""
    first, second = select_answer_rows(selection, "first"), select_answer_rows(selection, "second")
    key: list[ColumnElement[Any]] = [
        first.c.annotator_id,
        second.c.annotator_id,
        *(code.items.c[name] for name in code.columns),
        first.c.answer,
        second.c.answer,
    ]
    named = AS_COLUMNS.key(key)
    statement = select(*named, func.count()).select_from(_joined(code.items, first, second))
    if wanted is not None:
        for place, answers in enumerate((first, second)):
            who = sorted({pair[place] for pair in wanted})
            statement = statement.where(answers.c.annotator_id.in_(who))
    return statement.group_by(*(column.name for column in named))  # by name: it holds bound values


# -- Which annotators share an item, in one pass: not every two, but enough to link all who do ----


def count_links_of_annotators(
    connection: Connection, selection: Selection
) -> list[tuple[int, int, int]]:
    """Return items by annotator and by the annotator of the lowest id who answered them.

    Who shares an item is linked by the one of the lowest id; the two may be the same.
    """
    answers = select_answer_rows(selection, alone=True)
    lowest = func.min(answers.c.annotator_id).over(partition_by=answers.c.item_id)
    rows = select(answers.c.annotator_id, lowest.label("lowest")).subquery("rows")
    key = (rows.c.annotator_id, rows.c.lowest)
    statement = select(*key, func.count()).group_by(*key).order_by(*key)
    links = counted_rows(connection, statement, selection.question, len(key))
    return [(who, first, items) for who, first, items in links]


# -- The items that people and models answered: by kind in one join, by pattern for a few pairs ---


_FLAG = 1  # bit


def count_items_beside_models(
    connection: Connection, selection: Selection, models: Collection[int], most: int
) -> BesideModels:
    """Return every person's items that each model answered, by how many gave its answer.

    Items that one person alone answered say nothing. ``selection`` is the people's answers,
    ``most`` the greatest number of them to an item.
    """
    digits = most.bit_length()
    wide = replace(selection, bits=max(selection.bits, digits))
    code = make_pattern_code(connection, wide)
    annotators = 0 if code.bits is None else code.bits[1]
    packing = Packing((annotators, annotators, digits, digits, _FLAG))
    if code.bits is None or not packing.fits:
        columns = count_beside_people(connection, wide, frozenset(models), least=2)
        return beside_models_tally(columns, LEAST_SHARED)
    people = select_answer_rows(wide, "people")
    model = select_answer_rows(of_models(wide, models), "models")
    shift = (model.c.answer - 1) * wide.bits
    held = code.items.c[code.columns[0]].bitwise_rshift(shift)
    given = held.bitwise_and(literal((1 << wide.bits) - 1, Integer))
    same = case((people.c.answer == model.c.answer, 1), else_=0)
    (key,) = packing.key(
        [people.c.annotator_id, model.c.annotator_id, code.items.c.answers, given, same]
    )
    statement = (
        select(key, func.count().label("items"))
        .select_from(join_people_and_models(code, people, model))
        .where(code.items.c.answers >= 2)
    )
    keys, items = counted_pairs(connection, statement.group_by(key.name), selection.question).T
    first, second, answers, number, alike = packing.unpack([keys])
    pairs, pair = np.unique(np.stack([first, second]), axis=1, return_inverse=True)
    pair = pair.reshape(-1)
    enough = np.bincount(pair, items, pairs.shape[1]) >= LEAST_SHARED
    kept = enough[pair]
    return BesideModels(
        tuple(zip(*pairs[:, enough].tolist(), strict=True)),
        answers[kept],
        number[kept],
        alike[kept],
        (np.cumsum(enough) - 1)[pair[kept]],
        items[kept],
        lambda wanted: _patterns_beside_models(connection, wide, wanted),
    )


def _patterns_beside_models(
    connection: Connection, selection: Selection, wanted: Collection[tuple[int, int]]
) -> BesidePatterns:
    """Return the items of each pair by pattern."""
    persons, models = (frozenset(side) for side in zip(*wanted, strict=True))
    columns = count_beside_people(connection, selection, models, persons, least=2)
    return patterns_beside_models(columns, wanted)
