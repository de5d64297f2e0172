"""The items that people and models answered: by kind in one join, by pattern for a few pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from sqlalchemy import (
    Connection,
    FromClause,
    Integer,
    Select,
    Subquery,
    case,
    func,
    literal,
    select,
)

from tracker.core.audit_tallies import BesideModels, BesidePatterns, beside_models_tally
from tracker.counts.pattern_codes import AS_COLUMNS, Code, Packing, make_pattern_code
from tracker.counts.selection import (
    Selection,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
)
from tracker.counts.shared_items import LEAST_SHARED
from tracker.counts.tallies import select_number_pairs

_FLAG = 1  # bit


def count_items_beside_models(
    connection: Connection, selection: Selection, models: Collection[int], most: int
) -> BesideModels:
    """Return every person's items that each model answered, by how many gave its answer.

    Items that one person alone answered say nothing. ``selection`` is the people's answers,
    ``most`` the greatest number of them to an item.
    """
    digits = most.bit_length()
    wide = replace(selection, bits=max(selection.bits, digits))
    code = make_pattern_code(connection, wide)
    annotators = 0 if code.bits is None else code.bits[1]
    packing = Packing((annotators, annotators, digits, digits, _FLAG))
    if code.bits is None or not packing.fits:
        return beside_models_tally(_patterns(connection, wide, models, code), LEAST_SHARED)
    people, model = _rows(wide, models)
    shift = (model.c.answer - 1) * wide.bits
    held = code.items.c[code.columns[0]].bitwise_rshift(shift)
    given = held.bitwise_and(literal((1 << wide.bits) - 1, Integer))
    same = case((people.c.answer == model.c.answer, 1), else_=0)
    (key,) = packing.key(
        [people.c.annotator_id, model.c.annotator_id, code.items.c.answers, given, same]
    )
    statement = select(key, func.count().label("items"))
    statement = _of_several(statement.select_from(_joined(code, people, model)), code)
    keys, items = select_number_pairs(connection, statement.group_by(key.name)).T
    first, second, answers, number, alike = packing.unpack([keys])
    pairs, pair = np.unique(np.stack([first, second]), axis=1, return_inverse=True)
    pair = pair.reshape(-1)
    enough = np.bincount(pair, items, pairs.shape[1]) >= LEAST_SHARED
    kept = enough[pair]
    return BesideModels(
        tuple(zip(*pairs[:, enough].tolist(), strict=True)),
        answers[kept],
        number[kept],
        alike[kept],
        (np.cumsum(enough) - 1)[pair[kept]],
        items[kept],
        lambda wanted: _patterns(connection, wide, models, code, wanted),
    )


def _rows(selection: Selection, models: Collection[int]) -> tuple[Subquery, Subquery]:
    """Return one row per answer of a person, and one per answer of a model."""
    beside = replace(selection, only=frozenset(models), left_out=frozenset())
    return select_answer_rows(selection, "people"), select_answer_rows(beside, "models")


def _joined(code: Code, people: Subquery, model: Subquery) -> FromClause:
    """Return every answer of a person beside every one of a model to an item, and its columns."""
    item = code.items.c.item_id
    return model.join(code.items, item == model.c.item_id).join(people, people.c.item_id == item)


def _of_several(statement: Select[Any], code: Code) -> Select[Any]:
    return statement.where(code.items.c.answers >= 2)


def _patterns(
    connection: Connection,
    selection: Selection,
    models: Collection[int],
    code: Code,
    wanted: Collection[tuple[int, int]] | None = None,
) -> BesidePatterns:
    """Return the items of each pair by pattern; the order of a set's ids varies."""
    people, model = _rows(selection, models)
    key = AS_COLUMNS.key(
        [
            people.c.annotator_id,
            model.c.annotator_id,
            *(code.items.c[name] for name in code.columns),
            people.c.answer,
            model.c.answer,
        ]
    )
    statement = _of_several(
        select(*key, func.count()).select_from(_joined(code, people, model)), code
    )
    if wanted is not None:
        for place, rows in enumerate((people, model)):
            statement = statement.where(
                rows.c.annotator_id.in_(sorted({pair[place] for pair in wanted}))
            )
    decode, read = cache(lambda *codes: code.decode(codes)), cache(read_selected_answer)
    found: dict[tuple[int, int], Counter[Any]] = {}
    for who, which, *codes, own, given, items in stream_rows(
        connection, statement.group_by(*(column.name for column in key))
    ):
        if wanted is None or (who, which) in wanted:
            answer = read(given)
            row = (decode(*codes), answer, read(own) == answer)
            found.setdefault((who, which), Counter())[row] += items
    return found
