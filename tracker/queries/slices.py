"""Item patterns of every slice of the items that may be worse than the rest.

A slice is the items with one value of a kept attribute, with a number in one quarter of an
attribute's numbers, with texts of one quarter of the lengths, or with answers of one import.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import (
    Connection,
    Double,
    Select,
    Table,
    Text,
    and_,
    case,
    func,
    literal,
    null,
    select,
    union_all,
)
from sqlalchemy import cast as sql_cast

from tracker.core.tallies import ItemPatterns, Pattern
from tracker.queries.groups import MOST_GROUPS
from tracker.queries.import_tallies import select_import_numbers
from tracker.queries.pattern_codes import make_pattern_code, widen_pattern_code
from tracker.queries.selection import Selection, stream_rows
from tracker.storage.schema import Item, ItemAttribute

LEAST_ITEMS: Final = 25
"""Items of a slice, at least."""
TEXT_LENGTH, IMPORT = "text length", "import"
_FEW: Final = 12
"""Values of an attribute of numbers that are slices of their own; of more, quarters are."""
_QUARTERS: Final = 4
_NUMBER: Final = r"^-?[0-9]+(\.[0-9]+)?$"

_attributes = cast("Table", ItemAttribute.__table__)
_items = cast("Table", Item.__table__)


class Slice(NamedTuple):
    """A value of an attribute, or the least and the greatest number of a quarter of its values."""

    attribute: str
    value: str


def count_patterns_by_slice(
    connection: Connection, selection: Selection
) -> dict[Slice, ItemPatterns]:
    """Return how many items of each slice have each pattern, by two statements.

    An item lies in as many slices as it has attributes. Attributes of more than `MOST_GROUPS`
    different texts are left out.
    """
    slices = union_all(*_slices(connection, selection)).subquery("slices")
    code = make_pattern_code(connection, selection)
    codes = [code.items.c[name] for name in code.columns]
    number = slices.c.number
    statement = (
        select(
            slices.c.name,
            slices.c.value,
            *codes,
            func.count(),
            func.max(code.items.c.answers),
            func.min(number),
            func.max(number),
        )
        .select_from(slices.join(code.items, code.items.c.item_id == slices.c.item_id))
        .group_by(slices.c.name, slices.c.value, *codes)
    )
    counts: defaultdict[tuple[str, str], Counter[Pattern]] = defaultdict(Counter)
    bounds: dict[tuple[str, str], tuple[float, float]] = {}
    most = 0
    for name, value, *row in stream_rows(connection, statement):
        *packed, items, answers, least, greatest = row
        most = max(most, answers)
        if code.most_answers is None or answers <= code.most_answers:
            counts[name, value][code.decode(tuple(packed))] += items
        if least is not None:
            low, high = bounds.get((name, value), (least, greatest))
            bounds[name, value] = min(low, least), max(high, greatest)
    wider = widen_pattern_code(selection, code, most)
    if wider is not None:
        return count_patterns_by_slice(connection, wider)
    return {
        Slice(key[0], _range(*bounds[key]) if key in bounds else key[1]): ItemPatterns(patterns)
        for key, patterns in sorted(counts.items())
        if sum(patterns.values()) >= LEAST_ITEMS
    }


def _range(least: float, greatest: float) -> str:
    return f"{least:,.10g} to {greatest:,.10g}"


def _slices(connection: Connection, selection: Selection) -> Iterator[Select[Any]]:
    """Yield statements of the columns item_id, name, value and number."""
    texts, numbers = _attribute_names(connection, selection)
    project = selection.question.project_id
    none = sql_cast(null(), Double).label("number")
    own = and_(_attributes.c.project_id == project, _attributes.c.value != "")
    if texts:
        yield select(_attributes.c.item_id, _attributes.c.name, _attributes.c.value, none).where(
            own, _attributes.c.name.in_(texts)
        )
    if numbers:
        number = case(
            (_attributes.c.value.regexp_match(_NUMBER), sql_cast(_attributes.c.value, Double))
        )
        rows = (
            select(_attributes.c.item_id, _attributes.c.name, number.label("number"))
            .where(own, _attributes.c.name.in_(numbers))
            .subquery("numbers")
        )
        quarter = func.ntile(_QUARTERS).over(partition_by=rows.c.name, order_by=rows.c.number)
        yield select(
            rows.c.item_id, rows.c.name, sql_cast(quarter, Text).label("value"), rows.c.number
        ).where(rows.c.number.is_not(None))
    length = func.coalesce(_items.c.length, func.length(_items.c.text))
    lengths = (
        select(_items.c.id, sql_cast(length, Double).label("number"))
        .where(_items.c.project_id == project, length.is_not(None))
        .subquery("lengths")
    )
    quarter = func.ntile(_QUARTERS).over(order_by=lengths.c.number)
    yield select(
        lengths.c.id.label("item_id"),
        literal(TEXT_LENGTH, Text).label("name"),
        sql_cast(quarter, Text).label("value"),
        lengths.c.number,
    )
    imports = select_import_numbers(selection).subquery("imports")
    yield select(imports.c.item_id, literal(IMPORT, Text).label("name"), imports.c.value, none)


def _attribute_names(connection: Connection, selection: Selection) -> tuple[list[str], list[str]]:
    """Return the attributes of texts, or of few numbers, and those of many numbers."""
    value = _attributes.c.value
    different = func.count(value.distinct())
    statement = (
        select(_attributes.c.name, different, func.min(value), func.max(value))
        .where(_attributes.c.project_id == selection.question.project_id, value != "")
        .group_by(_attributes.c.name)
    )
    texts, numbers = [], []
    for name, values, first, last in connection.execute(statement):
        both = all(re.match(_NUMBER, text) for text in (first, last))
        if both and values > _FEW:
            numbers.append(name)
        elif values <= MOST_GROUPS:
            texts.append(name)
    return texts, numbers
