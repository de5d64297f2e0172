"""Every item on both sides: by its answers on the one and on the other, whoever gave them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, FromClause, Select, Table, func, select

from tracker.compare.item_changes import (
    KINDS,
    ItemChange,
    Keep,
    compared_item_patterns,
    patterns_with_item_changes,
)
from tracker.core.tallies import ItemPatterns, Pattern
from tracker.projects.question import QuestionInfo
from tracker.queries import Selection
from tracker.queries.packing import AS_COLUMNS
from tracker.queries.pattern_codes import wide_pattern_code
from tracker.queries.selection import stream_rows
from tracker.storage.schema import Item

OTHER_ITEMS, SAME_ITEMS = ITEM_KINDS = ("other_items", "same_items")
"""What sides of different answers differ by: items of one side alone, and items of both."""

_items = cast("Table", Item.__table__)

Step = tuple[Pattern, Pattern, int]
"""Items by their pattern before and after, ``()`` if an item has no answer there."""


class ItemCounts(NamedTuple):
    """How many items have answers on the first side alone, on the second alone, on both."""

    only_a: int
    only_b: int
    both: int


@dataclass(frozen=True)
class Steps:
    """Every item that has an answer on either side."""

    rows: Sequence[Step]

    @cached_property
    def items(self) -> ItemCounts:
        """How many items either side has."""
        met: Counter[tuple[bool, bool]] = Counter()
        for before, after, items in self.rows:
            met[bool(before), bool(after)] += items
        return ItemCounts(met[True, False], met[False, True], met[True, True])

    @property
    def kinds(self) -> list[str]:
        """The kinds of items that there are."""
        only_a, only_b, both = self.items
        return [*([OTHER_ITEMS] if only_a or only_b else []), *([SAME_ITEMS] if both else [])]

    def patterns(self, kinds: frozenset[str]) -> ItemPatterns:
        """The item patterns of the first side, items of these kinds as on the second."""
        return compared_item_patterns(
            (after if (SAME_ITEMS if before and after else OTHER_ITEMS) in kinds else before, items)
            for before, after, items in self.rows
        )


def item_steps_of_changes(unchanged: ItemPatterns, changes: Mapping[ItemChange, int]) -> Steps:
    """Every item of a state that became another."""
    rows = [(pattern, pattern, items) for pattern, items in unchanged if items]
    for change, items in changes.items():
        rows.append((change.pattern(frozenset()), change.pattern(frozenset(KINDS)), items))
    return Steps(rows)


def patterns_without_item_changes(
    first: ItemPatterns, changes: Mapping[ItemChange, int]
) -> ItemPatterns:
    """The patterns of the items of a state that did not change."""
    return first - patterns_with_item_changes(ItemPatterns(), changes, frozenset())


class CodedItems(NamedTuple):
    """Items, each with its answers as a code."""

    rows: FromClause
    decode: Callable[[tuple[Any, ...]], Pattern]

    @property
    def codes(self) -> list[Any]:
        """The columns of the code."""
        return [column for column in self.rows.c if column.name != "item_id"]


def coded_items_for_steps(
    connection: Connection, selection: Selection, keep: Keep, beside: QuestionInfo
) -> CodedItems:
    """The items with an answer that counts, by their ids in the project ``beside``.

    Items of two projects are the same if their names are; others are left out.
    """
    code = wide_pattern_code(connection, selection)
    coded = code.items
    codes = [coded.c[name] for name in code.columns]
    rows: Select[Any] = select(coded.c.item_id, *codes)
    project_id = selection.question.project_id
    if beside.project_id != project_id:
        own, theirs = _items.alias("own"), _items.alias("theirs")
        rows = (
            select(theirs.c.id.label("item_id"), *codes)
            .join(own, (own.c.project_id == project_id) & (own.c.id == coded.c.item_id))
            .join(
                theirs, (theirs.c.project_id == beside.project_id) & (theirs.c.name == own.c.name)
            )
        )
    return CodedItems(keep(rows), code.decode)


def shared_item_steps(connection: Connection, one: CodedItems, other: CodedItems) -> list[Step]:
    """The items of both sides, by their patterns."""
    named = AS_COLUMNS.key([*one.codes, *other.codes])
    both = one.rows.join(other.rows, one.rows.c.item_id == other.rows.c.item_id)
    statement = select(*named, func.count()).select_from(both).group_by(*(c.name for c in named))
    counts: Counter[tuple[Pattern, Pattern]] = Counter()
    split = len(one.codes)
    for *codes, items in stream_rows(connection, statement):
        counts[one.decode(tuple(codes[:split])), other.decode(tuple(codes[split:]))] += items
    return [(before, after, items) for (before, after), items in counts.items()]


def all_item_steps(first: ItemPatterns, second: ItemPatterns, shared: Sequence[Step]) -> Steps:
    """The items of both sides, and the rest of each side's."""
    only_a = first - compared_item_patterns((before, items) for before, _, items in shared)
    only_b = second - compared_item_patterns((after, items) for _, after, items in shared)
    return Steps(
        [
            *shared,
            *((before, (), items) for before, items in only_a),
            *(((), after, items) for after, items in only_b),
        ]
    )
