"""Cells that say which of two is better, in the words of people, tools and published sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from sqlalchemy import Connection, select

from tracker.formats.batch import KEEP, Batch, Cells, Faults, Flags, Numbers, text_array
from tracker.formats.special_columns import A, B, is_signed
from tracker.imports.lookup import CategoryIds
from tracker.projects.preferences import FIRST, SECOND, TIE, folded_preference, side_of
from tracker.storage.schema import Item, ItemAttribute

_MOST_TOLD = 30  # texts of which it is told what they were read as
_MIRRORED = {FIRST: SECOND, SECOND: FIRST, TIE: TIE}
_SIDED = tuple((KEEP + stem + "a", KEEP + stem + "b") for stem in ("", "response_"))
"""Columns that are of the first and of the second of two."""
COMPARED_BY = frozenset({*_SIDED[0], "item"})  # columns of a batch that says which two


class ComparedItems:
    """The two that each item compares: the same ones in the same order for every annotator."""

    def __init__(self, connection: Connection, project_id: int) -> None:
        of_both = (ItemAttribute.project_id == project_id, ItemAttribute.name.in_((A, B)))
        rows = connection.execute(
            select(Item.name, ItemAttribute.name, ItemAttribute.value)
            .join(Item, (Item.project_id == project_id) & (Item.id == ItemAttribute.item_id))
            .where(*of_both)
        )
        sides: dict[str, dict[str, str]] = {}
        for item, name, value in rows:
            sides.setdefault(item, {})[name] = value
        self._two = {item: (two[A], two[B]) for item, two in sides.items() if len(two) == 2}

    def align(self, batch: Batch, bad: Faults) -> tuple[Batch, Flags | None]:
        """Return a batch with the two in the order of their item, and which rows had the other.

        Rows that compare others than the rows before of their item are bad. None: no row had it.
        """
        columns, roles = dict(batch.columns), (*_SIDED[0], "item")
        every = np.arange(len(batch.lines))
        swapped = np.zeros(len(every), bool)
        for n, cells in enumerate(zip(*(columns[role].at(every) for role in roles), strict=True)):
            one, other, item = map(str.strip, cells)
            two = self._two.setdefault(item, (one, other))
            if two == (other, one) != (one, other):
                swapped[n] = True
            elif two != (one, other):
                reason = f"{item!r} compares {two[0]!r} with {two[1]!r} elsewhere"
                bad.add(n, f"{reason}, and {one!r} with {other!r} here", KEEP + A)
        if not swapped.any():
            return batch, None
        for first, second in _SIDED:
            if {first, second} <= columns.keys():
                left, right = columns[first].at(every), columns[second].at(every)
                columns[first], columns[second] = (
                    Cells.of_texts(np.where(swapped, *two).tolist())
                    for two in ((right, left), (left, right))
                )
        return replace(batch, columns=columns), swapped


def preference_cells(
    cells: Cells, categories: CategoryIds, batch: Batch, role: str, swapped: Flags | None = None
) -> Cells:
    """Return cells as categories of a preference; what says nothing stays, and is refused.

    The name of one of the two of its row goes first, unless the user accepts `sides`, then a
    category's own name, then what the user says it stands for. A side that has one category only
    is that category. In ``swapped`` rows the second of the item's two was the first.
    """
    if not categories.question.preference or cells.listed:
        return cells
    read, only = _readings(cells, categories, signed=is_signed(batch.names.get(role, role)))
    meanings = {text.strip(): name for text, name in read.items() if text != name}
    texts = [read.get(text, text) for text in cells.texts]
    codes = cells.codes
    if swapped is not None:
        mirror = _mirror(categories.declared, only)
        codes = np.where(swapped, codes + len(texts), codes)
        texts += [mirror.get(text, text) for text in texts]
        meanings |= {"the two in the other order": "the order of the item's first row"}
    two = [batch.columns.get(KEEP + name) for name in (A, B)]
    if two[0] is not None and two[1] is not None and {FIRST, SECOND} <= only.keys():
        named = _named_sides(cells, (two[0], two[1]))
        by_name = _count_names(cells, named, read, categories)
        if by_name.any():
            sides = {text.strip() for text in cells.take(np.flatnonzero(~by_name)).texts}
            meanings = {text: name for text, name in meanings.items() if text in sides}
            meanings |= {"the name of one of the two": "its side"}
            codes = np.where(by_name, len(texts) + named, codes)
            texts += [only[FIRST], only[SECOND]]
    categories.told |= dict([*meanings.items()][: _MOST_TOLD - len(categories.told)])
    changed = Cells(codes, text_array(texts)).mapped(str)
    return changed.take(np.arange(len(codes)))


def _readings(
    cells: Cells, categories: CategoryIds, *, signed: bool
) -> tuple[dict[str, str], dict[str | None, str]]:
    """Return the category of each text that says one, and the sides that have one category."""
    folded = {folded_preference(name): name for name in categories.declared}
    of_side: dict[str | None, list[str]] = {}
    for name in categories.declared:
        of_side.setdefault(side_of(name), []).append(name)
    only = {side: names[0] for side, names in of_side.items() if len(names) == 1}
    read: dict[str, str] = {}
    for text in cells.texts:
        stripped = text.strip()
        if not stripped or stripped in {*categories.values, *categories.merged}:
            continue
        same = stripped if stripped in categories.declared else folded.get(folded_preference(text))
        if category := same or only.get(side_of(stripped, signed=signed)):
            read[text] = category
    return read, only


def _named_sides(cells: Cells, two: tuple[Cells, Cells]) -> Numbers:
    """Return 0 for the name of the first of a row, 1 for that of the second, -1 for others."""
    codes: dict[str, int] = {}

    def coded(column: Cells) -> Numbers:
        numbers = [codes.setdefault(name.strip(), len(codes)) for name in column.texts]
        return np.array(numbers, np.int64)[column.codes]

    text, one, other = map(coded, (cells, *two))
    return np.where(one == other, -1, np.where(text == one, 0, np.where(text == other, 1, -1)))


def _count_names(
    cells: Cells, named: Numbers, read: Mapping[str, str], categories: CategoryIds
) -> Flags:
    """Return which cells are read as names; texts that say a side, too, are counted."""
    number = len(cells.texts)
    rows = np.bincount(cells.codes, minlength=number).tolist()
    names = np.bincount(cells.codes, weights=named >= 0, minlength=number).astype(int).tolist()
    by_name = np.ones(number, bool)
    for code, (text, count, among) in enumerate(zip(cells.texts, names, rows, strict=True)):
        if text in read and count:
            categories.both_ways[text.strip(), "name"] += count
            categories.both_ways[text.strip(), "side"] += among - count
            by_name[code] = not categories.sides_first
    return by_name[cells.codes] & (named >= 0)


def _mirror(declared: Sequence[str], only: Mapping[str | None, str]) -> dict[str, str]:
    """Return what each category says if the two change places."""
    turned = dict(zip(declared, reversed(declared), strict=True))
    if all(_MIRRORED.get(side_of(name) or "") == side_of(other) for name, other in turned.items()):
        return turned
    return {name: only[_MIRRORED[side]] for side, name in only.items() if side in _MIRRORED}
