"""What became of each item between two states: which answers stayed, went, changed and came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import (
    Column,
    Connection,
    FromClause,
    MetaData,
    Select,
    Table,
    Text,
    case,
    func,
    insert,
    null,
    or_,
    select,
    union_all,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.types import TypeEngine

from tracker.core.tallies import Answer, ItemPatterns, Pattern, make_pattern
from tracker.counts.pattern_codes import AS_COLUMNS, wide_pattern_code
from tracker.counts.selection import (
    Selection,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
)
from tracker.projects.questions import QuestionInfo
from tracker.storage import backends
from tracker.storage.schema import Item

NEW_ITEMS, NEW, REVISED, REMOVED = KINDS = (
    "new_items",
    "new_answers",
    "revised_answers",
    "removed_answers",
)
"""The kinds of change; an answer to an item that had none is part of a new item."""

_KEPT, _CHANGED = "=", ">"
_CAME, _WENT = "+", "-"


@dataclass(frozen=True)
class ItemChange:
    """What became of the answers to one item; each a sorted tuple of answers."""

    kept: tuple[Answer, ...] = ()
    before: tuple[Answer, ...] = ()
    after: tuple[Answer, ...] = ()
    came: tuple[Answer, ...] = ()
    went: tuple[Answer, ...] = ()

    @property
    def is_new(self) -> bool:
        """Whether the item had no answer before."""
        return not (self.kept or self.before or self.went)

    def counts(self) -> dict[str, int]:
        """How many changes of each kind there are, an item that is new being one."""
        if self.is_new:
            return {NEW_ITEMS: 1}
        return {NEW: len(self.came), REVISED: len(self.before), REMOVED: len(self.went)}

    def pattern(self, kinds: frozenset[str]) -> Pattern:
        """The pattern of the item if only these kinds of change had happened."""
        came = NEW_ITEMS if self.is_new else NEW
        return make_pattern(
            [
                *self.kept,
                *(self.after if REVISED in kinds else self.before),
                *(self.came if came in kinds else ()),
                *(() if REMOVED in kinds else self.went),
            ]
        )


Keep: TypeAlias = Callable[[Select[Any]], FromClause]
"""Makes rows of one state something that a statement about both states can read."""


def compared_answers(_: Connection, selection: Selection, keep: Keep) -> FromClause:
    """The answers that count: item_id, annotator_id, answer."""
    return keep(select(*select_answer_rows(selection, alone=True).c))


@contextmanager
def temporary_rows(connection: Connection, name: str, rows: Select[Any]) -> Iterator[Table]:
    """A temporary table of rows, whose key is their item and annotator."""
    database = backends.backend_of(connection)
    columns = tuple((column.name, type(column.type)) for column in rows.selected_columns)
    table = _table(name, database.temporary_schema, columns)
    table.create(connection)
    connection.execute(insert(table).from_select([name for name, _ in columns], rows))
    database.refresh_statistics(connection, table)
    yield table
    table.drop(connection)


@cache  # what is made of the same table is compiled once
def _table(name: str, schema: str, columns: tuple[tuple[str, type[TypeEngine[Any]]], ...]) -> Table:
    definitions: list[Column[Any]] = [
        Column(
            column,
            kind,
            primary_key=column in {"item_id", "annotator_id"},
            autoincrement=False,
            nullable=False,
        )
        for column, kind in columns
    ]
    return Table(name, MetaData(schema=schema), *definitions, info={"clustered": True})


def item_changes_between(
    connection: Connection, first: FromClause, second: FromClause
) -> Counter[ItemChange]:
    """How many items changed in each way; those that did not change are not among them."""
    nothing = sql_cast(null(), first.c.answer.type)
    every = union_all(
        select(
            first.c.item_id, first.c.annotator_id, first.c.answer.label("a"), nothing.label("b")
        ),
        select(second.c.item_id, second.c.annotator_id, nothing, second.c.answer),
    ).subquery("every_answer")
    met = (
        select(
            every.c.item_id,
            every.c.annotator_id,
            func.max(every.c.a).label("a"),
            func.max(every.c.b).label("b"),
        )
        .group_by(every.c.item_id, every.c.annotator_id)
        .subquery("met")
    )
    a, b = (sql_cast(met.c[name], Text) for name in ("a", "b"))
    token = case(
        (met.c.a.is_(None), _CAME + b),
        (met.c.b.is_(None), _WENT + a),
        (met.c.a == met.c.b, _KEPT + a),
        else_=_CHANGED + a + _CHANGED + b,
    )
    differs = or_(met.c.a.is_(None), met.c.b.is_(None), met.c.a != met.c.b)
    code = func.aggregate_strings(token, ",").label("code")
    changed = func.max(case((differs, 1), else_=0)) == 1
    codes = select(code).group_by(met.c.item_id).having(changed).subquery("codes")
    counts: Counter[ItemChange] = Counter()
    for text, number in stream_rows(
        connection, select(codes.c.code, func.count()).group_by(codes.c.code)
    ):
        change = _read(text)
        if change.before or change.came or change.went:
            counts[change] += number
    return counts


def _read(code: str) -> ItemChange:
    parts: dict[str, list[Any]] = {_KEPT: [], _CHANGED: [], _CAME: [], _WENT: []}
    for token in code.split(","):
        parts[token[0]].append(token[1:])

    def answers(texts: list[str]) -> tuple[Answer, ...]:
        return tuple(sorted(map(read_selected_answer, texts)))

    both = [tuple(map(read_selected_answer, text.split(_CHANGED))) for text in parts[_CHANGED]]
    # A set is joined in the order of reading: two texts may be one answer.
    pairs = [(before, after) for before, after in both if before != after]
    kept = [before for before, after in both if before == after]
    return ItemChange(
        tuple(sorted([*answers(parts[_KEPT]), *kept])),
        tuple(sorted(before for before, _ in pairs)),
        tuple(sorted(after for _, after in pairs)),
        answers(parts[_CAME]),
        answers(parts[_WENT]),
    )


def patterns_with_item_changes(
    unchanged: ItemPatterns, changes: Mapping[ItemChange, int], kinds: frozenset[str]
) -> ItemPatterns:
    """The item patterns if only these kinds of change had happened."""
    rows = [(change.pattern(kinds), items) for change, items in changes.items()]
    return compared_item_patterns([*unchanged, *rows])


def compared_item_patterns(rows: Iterable[tuple[Pattern, int]]) -> ItemPatterns:
    """Add up items by pattern, those without an answer left out."""
    counts: Counter[Pattern] = Counter()
    for pattern, items in rows:
        if pattern:
            counts[pattern] += items
    return ItemPatterns(dict(sorted(counts.items())))


# -- Every item on both sides: by its answers on the one and on the other, whoever gave them ------


OTHER_ITEMS, SAME_ITEMS = ITEM_KINDS = ("other_items", "same_items")
"""What sides of different answers differ by: items of one side alone, and items of both."""

_items = Item.__table__

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


def shared_item_steps(connection: Connection, first: CodedItems, second: CodedItems) -> list[Step]:
    """The items of both sides, by their patterns."""
    named = AS_COLUMNS.key([*first.codes, *second.codes])
    both = first.rows.join(second.rows, first.rows.c.item_id == second.rows.c.item_id)
    statement = select(*named, func.count()).select_from(both).group_by(*(c.name for c in named))
    counts: Counter[tuple[Pattern, Pattern]] = Counter()
    split = len(first.codes)
    for *codes, items in stream_rows(connection, statement):
        counts[first.decode(tuple(codes[:split])), second.decode(tuple(codes[split:]))] += items
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
