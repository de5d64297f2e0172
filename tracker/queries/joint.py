"""Who answered what: each annotator's answers, and every item's answers with their annotators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from typing import cast as typing_cast

from sqlalchemy import (
    Connection,
    Text,
    cast,
    func,
    select,
)

from tracker.core.tallies import Answer, JointPattern, Pattern
from tracker.queries.pattern_codes import BITS, id_widths, packed, wide_code
from tracker.queries.selection import Selection, answers_of, read_answer, stream
from tracker.storage.schema import Item

if TYPE_CHECKING:
    from sqlalchemy import Table

_items = typing_cast("Table", Item.__table__)


def marginals(connection: Connection, selection: Selection) -> dict[int, dict[Answer, int]]:
    """Return on how many items each annotator gave each answer: ``{annotator: {answer: items}}``.

    Annotators are in ascending order.
    """
    answers = answers_of(selection)
    annotator, category = id_widths(connection, selection)
    counts: dict[int, dict[Answer, int]] = {}
    if selection.project.answers == "one" and annotator + category <= BITS:
        key = packed([answers.c.annotator_id, answers.c.answer], (annotator, category)).label("key")
        for number, items in stream(connection, select(key, func.count()).group_by("key")):
            counts.setdefault(number >> category, {})[(number & ((1 << category) - 1),)] = items
        return dict(sorted(counts.items()))
    columns = (answers.c.annotator_id, answers.c.answer)
    for who, answer, items in stream(connection, select(*columns, func.count()).group_by(*columns)):
        own_counts = counts.setdefault(who, {})
        what = read_answer(answer)
        own_counts[what] = own_counts.get(what, 0) + items
    return dict(sorted(counts.items()))


def joint_patterns(
    connection: Connection, selection: Selection
) -> Iterator[tuple[JointPattern, int]]:
    """Yield each assignment of answers to annotators once, with its number of items.

    Their order may change from run to run; `math.fsum` makes sums that do not depend on it. If
    few annotators answer everything, there are few assignments. In a crowd there are nearly as
    many as items, so only errors that need them ask for them.
    """
    answers = answers_of(selection)
    one = cast(answers.c.annotator_id, Text).concat(":").concat(cast(answers.c.answer, Text))
    # In order, so that items answered alike make one text, as they are stored in any order.
    rows = (
        select(answers.c.item_id, one.label("given"))
        .order_by(answers.c.item_id, answers.c.annotator_id)
        .subquery("given")
    )
    items = (
        select(func.aggregate_strings(rows.c.given, ",").label("joint"))
        .group_by(rows.c.item_id)
        .subquery("items")
    )
    for text, number in stream(
        connection, select(items.c.joint, func.count()).group_by(items.c.joint)
    ):
        given = (part.split(":") for part in text.split(","))
        yield tuple(sorted((int(who), read_answer(what)) for who, what in given)), number


def joint_codes(
    connection: Connection, first: Selection, second: Selection
) -> list[tuple[Pattern, Pattern, int]]:
    """Return the number of items with each pattern in the first and in the second selection.

    Items of two projects are the same if their names are. Items of only one selection are left
    out.
    """
    one, other = wide_code(connection, first), wide_code(connection, second)
    first_items, second_items = one.items.alias("mine"), other.items.alias("theirs")
    columns = [
        *(first_items.c[c] for c in one.columns),
        *(second_items.c[c] for c in other.columns),
    ]
    here, there = _items.alias("here"), _items.alias("there")
    if first.project.id == second.project.id:
        both = first_items.join(second_items, first_items.c.item_id == second_items.c.item_id)
    else:
        both = (
            first_items.join(
                here, (here.c.project_id == first.project.id) & (here.c.id == first_items.c.item_id)
            )
            .join(there, (there.c.project_id == second.project.id) & (there.c.name == here.c.name))
            .join(second_items, second_items.c.item_id == there.c.id)
        )
    named = [column.label(f"key_{n}") for n, column in enumerate(columns)]
    statement = select(*named, func.count()).select_from(both).group_by(*(c.name for c in named))
    split = len(one.columns)
    counts: dict[tuple[Pattern, Pattern], int] = {}
    for *codes, items in stream(connection, statement):
        key = one.decode(tuple(codes[:split])), other.decode(tuple(codes[split:]))
        counts[key] = counts.get(key, 0) + items
    return [(a, b, items) for (a, b), items in counts.items()]
