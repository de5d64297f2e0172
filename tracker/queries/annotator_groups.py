"""Items by what each of several groups of annotators answered, counted by one statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from contextlib import closing
from typing import TypeAlias

from sqlalchemy import Connection, Text, case, func, select
from sqlalchemy import cast as sql_cast

from tracker.core.tallies import Answer, Pattern, make_pattern
from tracker.queries.selection import (
    Selection,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
)

GroupPatterns: TypeAlias = tuple[tuple[int, Pattern], ...]
"""The pattern of each group's answers to an item, by the group's place; groups without are out."""


def count_patterns_by_annotator_group(
    connection: Connection, selection: Selection, groups: Sequence[Set[int]]
) -> dict[GroupPatterns, int]:
    """Return the number of items with the same patterns of all groups' answers, in a fixed order.

    Args:
        connection: to the ledger.
        selection: whose answers count.
        groups: the annotators of each group; an annotator of none is of one more, the last.
    """
    answers = select_answer_rows(selection, alone=True)
    whose = [
        (answers.c.annotator_id.in_(sorted(members)), str(place))
        for place, members in enumerate(groups)
    ]
    group = case(*whose, else_=str(len(groups)))
    given = group.concat(":").concat(sql_cast(answers.c.answer, Text))
    items = (
        select(func.aggregate_strings(given, ",").label("given"))
        .group_by(answers.c.item_id)
        .subquery("given")
    )
    statement = select(items.c.given, func.count()).group_by(items.c.given)
    counts: Counter[GroupPatterns] = Counter()
    with closing(stream_rows(connection, statement)) as rows:
        for text, number in rows:
            counts[_read(text)] += number
    return dict(sorted(counts.items()))


def _read(text: str) -> GroupPatterns:
    """Return the patterns in a text such as ``0:2,1:3+4``; its order varies."""
    answers: dict[int, list[Answer]] = {}
    for one in text.split(","):
        group, _, answer = one.partition(":")
        answers.setdefault(int(group), []).append(read_selected_answer(answer))
    return tuple((group, make_pattern(answers[group])) for group in sorted(answers))
