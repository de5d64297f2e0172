"""What models answered beside people, by the slices that the items lie in."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, func, select

from tracker.audit.slices_sql import (
    LEAST_ITEMS,
    MOST_SEARCHED,
    Slice,
    drawn_items,
    select_slices,
    slice_of_row,
)
from tracker.core.tallies import Answer, Pattern
from tracker.counts.beside_people import of_models
from tracker.counts.pattern_codes import make_pattern_code, widen_pattern_code
from tracker.counts.selection import (
    Selection,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
)

BySlice = dict[Slice, Counter[tuple[Answer, Pattern]]]
"""Items of each slice by the model's answer and the pattern of people's; ``EVERYTHING`` has all."""
EVERYTHING = Slice("", "")


def searched_items(people: Selection, answers: int) -> Select[Any] | None:
    """Return the ids of items drawn so that few of the answers are searched; None for all."""
    return drawn_items(people, MOST_SEARCHED / max(answers, 1))


def count_beside_people_by_slice(
    connection: Connection, people: Selection, models: frozenset[int], items: int
) -> dict[int, BySlice]:
    """Return for each model its items by slice; of many items so many are drawn as are searched.

    ``items`` is how many the models and people answered. Slices of few items are left out.
    """
    drawn = searched_items(people, items)
    slices = select_slices(connection, people, drawn, of_answers=False)
    answers = select_answer_rows(people, alone=True, items=drawn)
    code = make_pattern_code(connection, people, of=answers)
    model = select_answer_rows(of_models(people, models), "models", items=drawn)
    item, name, value, number = slices.c
    key = (model.c.annotator_id, name, value, model.c.answer, *code.key)
    statement = (
        select(
            *key, func.count(), func.max(code.items.c.answers), func.min(number), func.max(number)
        )
        .select_from(
            model.join(code.items, code.items.c.item_id == model.c.item_id).join(
                slices, item == model.c.item_id
            )
        )
        .group_by(*key)
    )
    decode, read = cache(code.decode), cache(read_selected_answer)
    counts: dict[tuple[int, str, str], Counter[tuple[Answer, Pattern]]] = {}
    bounds: dict[tuple[str, str], tuple[float, float]] = {}
    most = 0
    for who, attribute, text, given, *row in stream_rows(connection, statement):
        *codes, number_of_items, answered, least, greatest = row
        most = max(most, answered)
        if code.holds(answered):
            patterns = counts.setdefault((who, attribute, text), Counter())
            patterns[read(given), decode(tuple(codes))] += number_of_items
        if least is not None:
            low, high = bounds.get((attribute, text), (least, greatest))
            bounds[attribute, text] = min(low, least), max(high, greatest)
    wider = widen_pattern_code(people, code, most)
    if wider is not None:
        return count_beside_people_by_slice(connection, wider, models, items)
    found: dict[int, BySlice] = {}
    for (who, attribute, text), patterns in sorted(counts.items()):
        if not attribute or sum(patterns.values()) >= LEAST_ITEMS:
            part = slice_of_row(attribute, text, bounds.get((attribute, text)))
            found.setdefault(who, {})[part] = patterns
    return found
