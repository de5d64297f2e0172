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

__all__ = ["joint_codes", "joint_patterns", "marginals"]

if TYPE_CHECKING:
    from sqlalchemy import Table

_items = typing_cast("Table", Item.__table__)


def marginals(connection: Connection, selection: Selection) -> dict[int, dict[Answer, int]]:
    """On how many items each annotator gave each answer: ``{annotator: {answer: items}}``.

    Annotators are ascending.
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
        mine = counts.setdefault(who, {})
        what = read_answer(answer)
        mine[what] = mine.get(what, 0) + items
    return dict(sorted(counts.items()))


def joint_patterns(
    connection: Connection, selection: Selection
) -> Iterator[tuple[JointPattern, int]]:
    """How many items have each assignment of answers to annotators, each once.

    Their order may change from run to run: `math.fsum` makes a sum that does not. If few
    annotators answer everything these are few. In a crowd they are nearly as many as the items:
    only errors that cannot be had from less ask for them.
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
    """How many items have each pattern in the one selection and in the other.

    Items of two projects are the same where their names are. Items of one selection only are
    not among them.
    """
    one, other = wide_code(connection, first), wide_code(connection, second)
    mine, theirs = one.items.alias("mine"), other.items.alias("theirs")
    columns = [*(mine.c[c] for c in one.columns), *(theirs.c[c] for c in other.columns)]
    here, there = _items.alias("here"), _items.alias("there")
    if first.project.id == second.project.id:
        both = mine.join(theirs, mine.c.item_id == theirs.c.item_id)
    else:
        both = (
            mine.join(here, (here.c.project_id == first.project.id) & (here.c.id == mine.c.item_id))
            .join(there, (there.c.project_id == second.project.id) & (there.c.name == here.c.name))
            .join(theirs, theirs.c.item_id == there.c.id)
        )
    named = [column.label(f"key_{n}") for n, column in enumerate(columns)]
    statement = select(*named, func.count()).select_from(both).group_by(*(c.name for c in named))
    split = len(one.columns)
    counts: dict[tuple[Pattern, Pattern], int] = {}
    for *codes, items in stream(connection, statement):
        key = one.decode(tuple(codes[:split])), other.decode(tuple(codes[split:]))
        counts[key] = counts.get(key, 0) + items
    return [(a, b, items) for (a, b), items in counts.items()]
