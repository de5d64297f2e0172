"""Slices of the items, and the sides that annotators take, as the database counts them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Double,
    Select,
    Subquery,
    Text,
    and_,
    case,
    func,
    literal,
    null,
    or_,
    select,
    union_all,
)
from sqlalchemy import cast as sql_cast

from tracker.agreement.groups_sql import MOST_GROUPS
from tracker.audit.counts_sql import is_drawn
from tracker.core.tallies import ItemPatterns, Pattern
from tracker.core.tally_columns import KeyedTallies
from tracker.counts.annotator_patterns import Extra, count_against_patterns
from tracker.counts.import_tallies import select_import_numbers
from tracker.counts.kept_counts import kept_rows
from tracker.counts.pattern_codes import make_pattern_code, widen_pattern_code
from tracker.counts.selection import Selection, labels, select_answer_rows
from tracker.counts.timeline import select_dated_answers
from tracker.projects.notes import list_notes
from tracker.storage.schema import Item, ItemAttribute

LEAST_ITEMS: Final = 25
"""Items of a slice, at least."""
MOST_SEARCHED: Final = 20_000
"""Answers in which an audit searches: of a larger project so many are drawn, item by item."""
TEXT_LENGTH, IMPORT, GUIDELINE = "text length", "import", "guideline"
_NO_GUIDELINE: Final = "none"
_FEW: Final = 12
"""Values of an attribute of numbers that are slices of their own; of more, quarters are."""
_QUARTERS: Final = 4
_NUMBER: Final = r"^-?[0-9]+(\.[0-9]+)?$"

_NO_NUMBER: Final = sql_cast(null(), Double).label("number")
_attributes = ItemAttribute.__table__
_items = Item.__table__


class Slice(NamedTuple):
    """A value of an attribute, or the least and the greatest number of a quarter of its values."""

    attribute: str
    value: str
    bounds: tuple[float, float] | None = None


def count_patterns_by_slice(
    connection: Connection, selection: Selection, share: float = 1.0
) -> tuple[ItemPatterns, dict[Slice, ItemPatterns]]:
    """Return how many items have each pattern, in all and of each slice, by four statements.

    An item lies in as many slices as it has attributes. Attributes of more than `MOST_GROUPS`
    different texts are left out. With a ``share`` it is that of all items, drawn by their ids.
    """
    drawn = drawn_items(selection, share)
    slices = select_slices(connection, selection, drawn)
    answers = select_answer_rows(selection, alone=True, items=drawn)
    code = make_pattern_code(connection, selection, of=answers)
    codes = [code.items.c[name] for name in code.columns]
    item, *key, number = slices.c
    statement = (
        select(
            *key,
            *codes,
            func.count(),
            func.max(code.items.c.answers),
            func.min(number),
            func.max(number),
        )
        .select_from(slices.join(code.items, code.items.c.item_id == item))
        .group_by(*key, *codes)
    )
    counts: defaultdict[tuple[str, str], Counter[Pattern]] = defaultdict(Counter)
    bounds: dict[tuple[str, str], tuple[float, float]] = {}
    most = 0
    for name, value, *row in kept_rows(connection, statement, selection.question):
        *packed, items, answers, least, greatest = row
        most = max(most, answers)
        if code.most_answers is None or answers <= code.most_answers:
            counts[name, value][code.decode(tuple(packed))] += items
        if least is not None:
            low, high = bounds.get((name, value), (least, greatest))
            bounds[name, value] = min(low, least), max(high, greatest)
    wider = widen_pattern_code(selection, code, most)
    if wider is not None:
        return count_patterns_by_slice(connection, wider, share)
    total = ItemPatterns(counts.pop(("", ""), {}))
    return total, {
        slice_of_row(*key, bounds.get(key)): ItemPatterns(patterns)
        for key, patterns in sorted(counts.items())
        if sum(patterns.values()) >= LEAST_ITEMS
    }


def select_slices(
    connection: Connection,
    selection: Selection,
    drawn: Select[Any] | None = None,
    *,
    of_answers: bool = True,
) -> Subquery:
    """Return the slices that each item lies in: item_id, name, value, number.

    Each item lies in one more, of no name, which is all items. ``drawn`` are the ids of the items,
    None for all. Without those ``of_answers``, by import and guideline, slices are of the items
    themselves.
    """
    texts, numbers = _attribute_names(connection, selection, drawn)
    guidelines = _guidelines(connection, selection) if of_answers else []
    texts = texts if of_answers else [name for name in texts if name != IMPORT]
    empty = (literal("", Text).label(name) for name in ("name", "value"))
    every = select(_items.c.id.label("item_id"), *empty, _NO_NUMBER)
    every = every.where(_items.c.project_id == selection.question.project_id)
    some = _slices(selection, texts, numbers, guidelines, drawn)
    return union_all(_of_drawn(every, _items.c.id, drawn), *some).subquery("slices")


def slice_of_row(name: str, value: str, bounds: tuple[float, float] | None) -> Slice:
    """Return a slice from its name and value, and the bounds of its numbers if it is a quarter."""
    if bounds is None:
        return Slice(name, value)
    return Slice(name, " to ".join(f"{number:,.10g}" for number in bounds), bounds)


def count_tallies_by_slice(
    connection: Connection, selection: Selection, chosen: Sequence[Slice]
) -> KeyedTallies:
    """Return the annotator tallies by the slices that an item lies in.

    The shape is ``{annotator: {(slices, own answer, pattern): items}}``; of ``slices`` each bit
    says whether it lies in that one of the ``chosen``.
    """
    texts = [part.attribute for part in chosen if part.bounds is None]
    numbers = [part.attribute for part in chosen if part.bounds is not None]
    guidelines = _guidelines(connection, selection) if GUIDELINE in texts else ()
    slices = union_all(*_slices(selection, texts, numbers, guidelines)).subquery("slices")
    lies_in = [
        and_(
            slices.c.name == part.attribute,
            slices.c.value == part.value
            if part.bounds is None
            else slices.c.number.between(*part.bounds),
        )
        for part in chosen
    ]
    bits = [func.max(case((lies, 1 << place), else_=0)) for place, lies in enumerate(lies_in)]
    members = (
        select(slices.c.item_id, reduce(add, bits).label("slices"))
        .where(or_(*lies_in))
        .group_by(slices.c.item_id)
        .subquery("members")
    )
    answers = select_answer_rows(selection)
    rows = select(*answers.c, func.coalesce(members.c.slices, 0).label("slices")).select_from(
        answers.outerjoin(members, members.c.item_id == answers.c.item_id)
    )
    return count_against_patterns(
        connection,
        selection,
        rows.subquery("of_slices"),
        extra={"slices": Extra(int, len(chosen))},
    )


def drawn_items(selection: Selection, share: float) -> Select[Any] | None:
    """Return the ids of a share of the items, drawn by their ids; None if it is all of them."""
    if share >= 1:
        return None
    ours = _items.c.project_id == selection.question.project_id
    # Drawn once, and then looked up: there are far more answers than items.
    return select(select(_items.c.id).where(ours, is_drawn(_items.c.id, share)).cte("drawn"))


def _of_drawn(
    statement: Select[Any], item: ColumnElement[Any], drawn: Select[Any] | None
) -> Select[Any]:
    return statement if drawn is None else statement.where(item.in_(drawn))


def _slices(
    selection: Selection,
    texts: Collection[str],
    numbers: Collection[str],
    guidelines: Sequence[tuple[int, str]],
    drawn: Select[Any] | None = None,
) -> Iterator[Select[Any]]:
    """Yield statements of the columns item_id, name, value and number, of chosen attributes."""
    project = selection.question.project_id
    item = _attributes.c.item_id
    own = and_(
        _attributes.c.project_id == project,
        _attributes.c.value != "",
        _attributes.c.name.not_in((TEXT_LENGTH, IMPORT, GUIDELINE)),
    )
    if texts:
        columns = (item, _attributes.c.name, _attributes.c.value, _NO_NUMBER)
        yield _of_drawn(select(*columns).where(own, _attributes.c.name.in_(texts)), item, drawn)
    if numbers:
        number = case(
            (_attributes.c.value.regexp_match(_NUMBER), sql_cast(_attributes.c.value, Double))
        )
        rows = select(item, _attributes.c.name, number.label("number"))
        rows = rows.where(own, _attributes.c.name.in_(numbers))
        yield _in_quarters(_of_drawn(rows, item, drawn))
    if TEXT_LENGTH in numbers:
        length = func.coalesce(_items.c.length, func.length(_items.c.text))
        rows = select(
            _items.c.id.label("item_id"),
            literal(TEXT_LENGTH, Text).label("name"),
            sql_cast(length, Double).label("number"),
        ).where(_items.c.project_id == project)
        yield _in_quarters(_of_drawn(rows, _items.c.id, drawn))
    if IMPORT in texts:
        of_imports = select_import_numbers(selection)
        imports = _of_drawn(of_imports, labels.c.item_id, drawn).subquery("imports")
        name = literal(IMPORT, Text).label("name")
        yield select(imports.c.item_id, name, imports.c.value, _NO_NUMBER)
    if guidelines:
        dated = select_dated_answers(selection)
        answers = _of_drawn(select(dated), dated.c.item_id, drawn).subquery("under_guidelines")
        last = func.max(answers.c.labeled_at)
        held = [(last >= literal(at, BigInteger), literal(name)) for at, name in guidelines[::-1]]
        name = literal(GUIDELINE, Text).label("name")
        value = case(*held, else_=literal(_NO_GUIDELINE)).label("value")
        yield select(answers.c.item_id, name, value, _NO_NUMBER).group_by(answers.c.item_id)


def _guidelines(connection: Connection, selection: Selection) -> list[tuple[int, str]]:
    """Return the begin and the name of each guideline of the project, in order."""
    notes = list_notes(connection, selection.question.project)
    return [(note.at, note.guideline) for note in notes if note.guideline is not None]


def _in_quarters(rows: Select[Any]) -> Select[Any]:
    """Return rows of item_id, name and number by quarters of the name's numbers; equal in one."""
    numbers = rows.subquery("numbers")
    known = select(numbers).where(numbers.c.number.is_not(None)).subquery("known")
    below = func.rank().over(partition_by=known.c.name, order_by=known.c.number) - 1
    of = func.count().over(partition_by=known.c.name)
    quarter = sql_cast(below * _QUARTERS // of, Text).label("value")
    return select(known.c.item_id, known.c.name, quarter, known.c.number)


def _attribute_names(
    connection: Connection, selection: Selection, drawn: Select[Any] | None
) -> tuple[list[str], list[str]]:
    """Return the attributes of texts, or of few numbers, and those of many numbers."""
    value = _attributes.c.value
    different = func.count(value.distinct())
    statement = (
        select(_attributes.c.name, different, func.min(value), func.max(value))
        .where(_attributes.c.project_id == selection.question.project_id, value != "")
        .group_by(_attributes.c.name)
    )
    statement = _of_drawn(statement, _attributes.c.item_id, drawn)
    texts, numbers = [IMPORT], [TEXT_LENGTH]
    for name, values, first, last in connection.execute(statement):
        both = all(re.match(_NUMBER, text) for text in (first, last))
        if both and values > _FEW:
            numbers.append(name)
        elif values <= MOST_GROUPS:
            texts.append(name)
    return texts, numbers
