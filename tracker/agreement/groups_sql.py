"""Groups of items and annotators by an attribute, as the database counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, Connection, Text, and_, case, func, or_, select, true
from sqlalchemy import cast as sql_cast
from sqlalchemy.sql.selectable import FromClause

from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, ItemPatterns, PairTallies, Pattern, make_pattern
from tracker.counts.import_tallies import select_import_numbers
from tracker.counts.pattern_codes import (
    Code,
    make_pattern_code,
    wide_pattern_code,
    widen_pattern_code,
)
from tracker.counts.selection import (
    Selection,
    labels,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
    where_counted,
)
from tracker.counts.tallies import join_answer_pairs
from tracker.storage.schema import ItemAttribute

MOST_GROUPS = 1000
_attributes = ItemAttribute.__table__.alias("grouped")


@dataclass(frozen=True)
class GroupAnnotators:
    """The number of annotators who answered items of a group, and their lowest and highest ids."""

    number: int
    first: int
    last: int


def count_patterns_by_group(
    connection: Connection, selection: Selection, attribute: str | None
) -> dict[str | None, ItemPatterns]:
    """Return the number of items with each pattern, by attribute value; None for items without one.

    Without an attribute it is by the imports that brought their answers, by number: an item may
    be in several groups.

    Raises InvalidOption for an attribute with more than `MOST_GROUPS` values.
    """
    code = make_pattern_code(connection, selection)
    groups: dict[str | None, dict[Pattern, int]] = {}
    most = 0
    grouping = _grouping(selection, attribute)
    key = [grouping.value, *_columns(code)]
    statement = (
        select(*key, func.count(), func.max(code.items.c.answers))
        .select_from(grouping.joined(code.items))
        .group_by(*key)
    )
    with closing(stream_rows(connection, statement)) as rows:
        for value, *codes, items, answers in rows:
            most = max(most, answers)
            counts = groups.setdefault(value, {})
            if len(groups) > MOST_GROUPS + (None in groups):
                raise InvalidOption(
                    f"the attribute {attribute!r} has more than {MOST_GROUPS:,} values",
                    "choose an attribute of few values, or fewer items: --where attribute=value",
                )
            if code.most_answers is None or answers <= code.most_answers:
                pattern = code.decode(tuple(codes))
                counts[pattern] = counts.get(pattern, 0) + items
    wider = widen_pattern_code(selection, code, most)
    if wider is not None:
        return count_patterns_by_group(connection, wider, attribute)
    return {value: ItemPatterns(counts) for value, counts in groups.items()}


def count_patterns_by_cluster(
    connection: Connection, selection: Selection, attribute: str
) -> Iterator[tuple[str | int, Pattern, int]]:
    """Yield the number of items of each cluster with each pattern: (cluster, pattern, items).

    A cluster is the items with one value, named by it; an item without a value is a cluster by
    itself, named by its id. A cluster's rows follow each other, whatever the database's order
    of texts. A pattern may occur more than once among them; its items add up.
    """
    code = wide_pattern_code(connection, selection)
    grouping = _grouping(selection, attribute)
    alone = case((grouping.value.is_(None), code.items.c.item_id))
    key = [grouping.value, alone, *_columns(code)]
    statement = (
        select(*key, func.count())
        .select_from(grouping.joined(code.items))
        .group_by(*key)
        .order_by(grouping.value, alone)
    )
    for value, item, *codes, items in stream_rows(connection, statement):
        yield (item if value is None else value), code.decode(tuple(codes)), items


def select_annotators_by_group(
    connection: Connection, selection: Selection, attribute: str | None
) -> dict[str | None, GroupAnnotators]:
    """Return whose answers count, by the items' value; None for items without one."""
    grouping = _grouping(selection, attribute)
    met = (
        select(grouping.value.label("value"), labels.c.annotator_id)
        .select_from(grouping.joined(labels))
        .where(where_counted(selection))
        .distinct()
        .subquery("met")
    )
    who = met.c.annotator_id
    statement = select(met.c.value, func.count(), func.min(who), func.max(who))
    rows = stream_rows(connection, statement.group_by(met.c.value))
    return {value: GroupAnnotators(*numbers) for value, *numbers in rows}


def pair_tallies_by_group(
    connection: Connection,
    selection: Selection,
    attribute: str | None,
    values: Sequence[str | None],
) -> dict[str | None, PairTallies]:
    """Return the pair tallies of the items with each of some values; None for items without one."""
    first, second = select_answer_rows(selection, "first"), select_answer_rows(selection, "second")
    grouping = _grouping(selection, attribute)
    named = [value for value in values if value is not None]
    wanted: ColumnElement[bool] = grouping.value.in_(named)
    if None in values:
        wanted = or_(wanted, grouping.value.is_(None))
    key = [
        grouping.value,
        first.c.annotator_id,
        second.c.annotator_id,
        first.c.answer,
        second.c.answer,
    ]
    statement = (
        select(*key, func.count())
        .select_from(grouping.joined(join_answer_pairs(first, second), first))
        .where(wanted)
        .group_by(*key)
    )
    groups: dict[str | None, dict[tuple[int, int], dict[tuple[Answer, Answer], int]]] = {}
    for value, a, b, answer_a, answer_b, items in stream_rows(connection, statement):
        table = groups.setdefault(value, {}).setdefault((a, b), {})
        cell = (read_selected_answer(answer_a), read_selected_answer(answer_b))
        table[cell] = table.get(cell, 0) + items
    return {value: PairTallies(counts) for value, counts in groups.items()}


def _columns(code: Code) -> list[ColumnElement[int]]:
    return [code.items.c[name] for name in code.columns]


class _Grouping(NamedTuple):
    """Where the items' values are: a column, its rows, and which of them are of this grouping."""

    value: ColumnElement[Any]
    rows: FromClause
    which: ColumnElement[bool]

    def joined(self, others: FromClause, items: FromClause | None = None) -> FromClause:
        """Return rows with the value of their item, whose id they have, or else ``items``."""
        of = others if items is None else items
        return others.outerjoin(self.rows, and_(self.which, self.rows.c.item_id == of.c.item_id))


def _grouping(selection: Selection, attribute: str | None) -> _Grouping:
    if attribute is None:
        rows = select_import_numbers(selection).subquery("grouped")
        return _Grouping(rows.c.value, rows, true())
    which = and_(
        _attributes.c.project_id == selection.question.project_id, _attributes.c.name == attribute
    )
    return _Grouping(_attributes.c.value, _attributes, which)


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
    for entry in text.split(","):
        group, _, answer = entry.partition(":")
        answers.setdefault(int(group), []).append(read_selected_answer(answer))
    return tuple((group, make_pattern(answers[group])) for group in sorted(answers))
