"""Cells that say which of two is better, in the words of people, tools and published sets."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tracker.formats.batch import KEEP, Batch, Cells
from tracker.formats.pair_columns import A, B, is_signed
from tracker.imports.lookup import CategoryIds
from tracker.projects.preferences import FIRST, SECOND, folded_preference, side_of

_MOST_TOLD = 30  # texts of which it is told what they were read as


def preference_cells(cells: Cells, categories: CategoryIds, batch: Batch, role: str) -> Cells:
    """Return cells as categories of a preference; what says nothing stays, and is refused.

    A category's own name goes first, then what the user says it stands for. A side that has one
    category only is that category, also as the name of one of the two.
    """
    if not categories.question.preference or cells.listed:
        return cells
    declared = categories.declared
    own = {folded_preference(name): name for name in declared}
    of_side: dict[str | None, list[str]] = {}
    for name in declared:
        of_side.setdefault(side_of(name), []).append(name)
    only = {side: names[0] for side, names in of_side.items() if len(names) == 1}
    signed = is_signed(batch.names.get(role, role))

    def read(text: str) -> str:
        stripped = text.strip()
        known = not stripped or stripped in categories.values or stripped in categories.merged
        if known or stripped in declared:
            return text
        same = own.get(folded_preference(text))
        return same or only.get(side_of(stripped, signed=signed), text)

    category = {text: read(text) for text in cells.texts}
    told = {text.strip(): name for text, name in category.items() if text != name}
    sides = [batch.columns.get(KEEP + name) for name in (A, B)]
    unread = [text for text, name in category.items() if name == text and side_of(text) is None]
    changed = cells.mapped(category.__getitem__)
    if any(map(str.strip, unread)) and sides[0] is not None and sides[1] is not None:
        named = _by_name(changed, (sides[0], sides[1]), only)
        told |= {"the name of one of the two": "its side"} if {*unread} - {*named.texts} else {}
        changed = named
    categories.told |= dict([*told.items()][: _MOST_TOLD - len(categories.told)])
    return changed


def _by_name(cells: Cells, two: tuple[Cells, Cells], only: Mapping[str | None, str]) -> Cells:
    """Return cells in which the name of one of the two is the category that it is better."""
    every = np.arange(len(cells.codes))
    texts = [
        next((only[side] for side, name in ((FIRST, a), (SECOND, b))
              if text.strip() == name.strip() and side in only and a != b), text)
        for text, a, b in zip(*(column.at(every) for column in (cells, *two)), strict=True)
    ]  # fmt: skip
    return Cells.of_texts(texts)
