"""What models answered to the items that people answered: one statement for all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from sqlalchemy import ColumnElement, Connection, FromClause, Subquery, case, func, literal, select

from tracker.core.beside_columns import BesideColumns, beside_columns_of
from tracker.core.tallies import Answer, IntArray, Pattern
from tracker.counts.annotator_patterns import select_first_truths
from tracker.counts.kept_counts import counted_pairs, counted_rows
from tracker.counts.pattern_codes import (
    AS_COLUMNS,
    Code,
    Packing,
    make_pattern_code,
    widen_pattern_code,
)
from tracker.counts.selection import Selection, read_selected_answer, select_answer_rows
from tracker.projects.kept import kept_with_answers


def of_models(selection: Selection, models: Collection[int]) -> Selection:
    """Return the answers of models in place of those of people."""
    return replace(selection, only=frozenset(models), left_out=frozenset())


def join_people_and_models(code: Code, people: Subquery, model: Subquery) -> FromClause:
    """Return every answer of a person beside every one of a model to an item, and its columns.

    The people are joined as if there might be none, so that they are read item by item: see
    `count_against_patterns`.
    """
    item = code.items.c.item_id
    of_item = people.c.item_id == item
    return model.join(code.items, item == model.c.item_id).join(people, of_item, isouter=True)


@kept_with_answers
def count_beside_people(
    connection: Connection,
    people: Selection,
    models: frozenset[int],
    persons: frozenset[int] | None = None,
    least: int = 1,
) -> BesideColumns:
    """Return what models and people answered to the same items; see `BesideColumns`.

    Args:
        connection: to the database.
        people: the people's answers, of which the patterns are made.
        models: whose answers are set beside them.
        persons: those of the people who have rows; None for all.
        least: how many people answered an item, at least.
    """
    code = make_pattern_code(connection, people)
    answers = select_answer_rows(people, "people")
    model = select_answer_rows(of_models(people, models), "models")
    packing = AS_COLUMNS
    if code.bits is not None:
        of_code, of_annotator, of_answer = code.bits
        packing = Packing((of_annotator, of_annotator, of_answer, of_answer, of_code))
    own = [model.c.annotator_id, answers.c.annotator_id, model.c.answer, answers.c.answer]
    key = packing.key([*own, *code.key])
    number = code.items.c.answers
    statement = select(*key, func.count().label("items"), func.max(number).label("most"))
    if packing.fits:  # an item of more answers than the code holds is told by their number
        wide = case((number > code.most_answers, -number), else_=key[0]).label("key_0")
        statement = select(wide, func.count().label("items"))
    statement = statement.select_from(join_people_and_models(code, answers, model))
    if least > 1:
        statement = statement.where(number >= least)
    if persons is not None:
        statement = statement.where(answers.c.annotator_id.in_(sorted(persons)))
    statement = statement.group_by(*(column.name for column in key))
    if packing.fits:
        keys, items = counted_pairs(connection, statement, people.question).T
        most = -int(keys.min(initial=0))
    else:
        rows = [*counted_rows(connection, statement, people.question, len(key), most=True)]
        most = max((row[-1] for row in rows), default=0)
    wider = widen_pattern_code(people, code, most)
    if wider is not None:
        return count_beside_people(connection, wider, models, persons, least)
    return _unpacked(packing, code, keys, items) if packing.fits else _of_rows(code, rows)


def _unpacked(packing: Packing, code: Code, keys: IntArray, items: IntArray) -> BesideColumns:
    model, person, *both, of_item = packing.unpack([keys])
    categories, place = np.unique(np.concatenate(both), return_inverse=True)
    codes, pattern = np.unique(of_item, return_inverse=True)
    answers = tuple((category,) for category in categories.tolist())
    patterns = tuple(code.decode((integer,)) for integer in codes.tolist())
    of_model, of_person = np.split(place, 2)
    return BesideColumns(answers, patterns, model, person, of_model, of_person, pattern, items)


def _of_rows(code: Code, rows: Sequence[tuple[Any, ...]]) -> BesideColumns:
    """Return rows of model, person, their answers, the code and the items, of equal ones one."""
    read, decode = cache(read_selected_answer), cache(code.decode)
    counts: Counter[tuple[int, int, Answer, Answer, Pattern]] = Counter()
    for model, person, given, own, *codes, items, _ in rows:
        counts[model, person, read(given), read(own), decode(tuple(codes))] += items
    return beside_columns_of(counts)


# -- Every item that a model answered, with what is known of it: its truth, what people said ------


Labelled: TypeAlias = Mapping[tuple[Answer, Answer | None, Pattern], int]
"""Items by a model's answer, the truth if it is known, and people's answers, of which there may be
none."""


@kept_with_answers
def count_labelled_answers(
    connection: Connection, people: Selection, models: frozenset[int]
) -> dict[int, Labelled]:
    """Return for each model its items by its answer, their truth and the pattern of people's.

    The truth is what was decided of the item or, without a decision, a reference's answer.
    """
    code = make_pattern_code(connection, people)
    model = select_answer_rows(of_models(people, models), "models")
    joined: FromClause = model.outerjoin(code.items, code.items.c.item_id == model.c.item_id)
    truth: ColumnElement[Any] = literal(None)
    if people.references:
        truths = select_first_truths(people).subquery("truths")
        joined = joined.outerjoin(truths, truths.c.item_id == model.c.item_id)
        truth = truths.c.truth
    key = AS_COLUMNS.key([model.c.annotator_id, model.c.answer, truth, *code.key])
    statement = select(*key, func.count(), func.max(code.items.c.answers))
    statement = statement.select_from(joined).group_by(*(column.name for column in key))
    decode = cache(code.decode)
    counts: dict[int, Counter[tuple[Answer, Answer | None, Pattern]]] = {}
    most = 0
    rows = counted_rows(connection, statement, people.question, len(key), most=True)
    for who, given, known, *codes, items, answers in rows:
        most = max(most, answers or 0)
        if code.holds(answers or 0):
            pattern = decode(tuple(codes)) if answers else ()
            true = None if known is None else read_selected_answer(known)
            counts.setdefault(who, Counter())[read_selected_answer(given), true, pattern] += items
    wider = widen_pattern_code(people, code, most)
    return dict(counts) if wider is None else count_labelled_answers(connection, wider, models)
