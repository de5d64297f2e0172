"""Who answered what: each annotator's answers, and every item's answers with their annotators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Subquery,
    Text,
    case,
    cast,
    func,
    literal,
    null,
    select,
    union_all,
)

from tracker.core.audit_tallies import GoldTallies
from tracker.core.tallies import Answer, IntArray, JointPattern
from tracker.core.tally_columns import KeyedTallies, distinct_numbers, keyed_columns
from tracker.counts.kept_counts import (
    Sequences,
    counted_columns,
    counted_rows,
    kept_rows,
    kept_set,
)
from tracker.counts.pattern_codes import (
    AS_COLUMNS,
    Code,
    Packing,
    make_pattern_code,
    select_id_widths,
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
from tracker.engines.engine import Columns, rows_of
from tracker.projects.kept import kept_with_answers
from tracker.storage.schema import Alias, Annotator


@kept_with_answers
def select_answering_annotators(connection: Connection, selection: Selection) -> list[int]:
    """Return the ids of annotators with an answer that counts, ascending."""
    project = selection.question.project_id
    statement = select(labels.c.annotator_id).where(where_counted(selection, alone=True)).distinct()
    # There are no more than the project knows: having met them all, the search may stop.
    aliases = select(Alias.alias_id).where(Alias.project_id == project, Alias.to_change.is_(None))
    most = select(func.count()).where(
        Annotator.project_id == project,
        Annotator.id.not_in(sorted(selection.left_out)),
        *(() if selection.only is None else [Annotator.id.in_(sorted(selection.only))]),
        Annotator.id.not_in(aliases),
    )
    met = kept_set(connection, statement, selection.question, most)
    return sorted(annotator for (annotator,) in met)


def count_annotator_marginals(
    connection: Connection, selection: Selection
) -> dict[int, dict[Answer, int]]:
    """Return on how many items each annotator gave each answer: ``{annotator: {answer: items}}``.

    Annotators are in ascending order.
    """
    answers = select_answer_rows(selection)
    packing = Packing(select_id_widths(connection, selection))
    key = packing.key([answers.c.annotator_id, answers.c.answer])
    counts: dict[int, dict[Answer, int]] = {}
    statement = select(*key, func.count()).group_by(*(column.name for column in key))
    for *group, items in counted_rows(connection, statement, selection.question, len(key)):
        who, answer = packing.unpack(group)
        own_counts = counts.setdefault(who, {})
        own_answer = read_selected_answer(answer)
        own_counts[own_answer] = own_counts.get(own_answer, 0) + items
    return dict(sorted(counts.items()))


def count_joint_patterns(
    connection: Connection, selection: Selection
) -> Iterator[tuple[JointPattern, int]]:
    """Yield each assignment of answers to annotators once, with its number of items.

    Their order may change from run to run; `math.fsum` makes sums that do not depend on it. If
    few annotators answer everything, there are few assignments. In a crowd there are nearly as
    many as items, so only errors that need them ask for them.
    """
    items = _joint_patterns(selection)
    statement = select(items.c.joint, func.count()).group_by(items.c.joint)
    for text, number in counted_rows(connection, statement, selection.question, None):
        yield _read_joint_pattern(text), number


def select_item_joint_patterns(
    connection: Connection, selection: Selection
) -> Iterator[tuple[int, JointPattern]]:
    """Yield each item with its assignment of answers to annotators, in the order of the items."""
    items = _joint_patterns(selection)
    rows = select(items.c.item_id, items.c.joint).order_by(items.c.item_id)
    for item, text in stream_rows(connection, rows):
        yield item, _read_joint_pattern(text)


def _joint_patterns(selection: Selection) -> Subquery:
    """Return each item with its answers and their annotators as one text."""
    answers = select_answer_rows(selection)
    entry = cast(answers.c.annotator_id, Text).concat(":").concat(cast(answers.c.answer, Text))
    # In order, so that items answered alike make one text, as they are stored in any order.
    rows = (
        select(answers.c.item_id, entry.label("given"))
        .order_by(answers.c.item_id, answers.c.annotator_id)
        .subquery("given")
    )
    return (
        select(rows.c.item_id, func.aggregate_strings(rows.c.given, ",").label("joint"))
        .group_by(rows.c.item_id)
        .subquery("items")
    )


def _read_joint_pattern(text: str) -> JointPattern:
    given = (part.split(":") for part in text.split(","))
    return tuple(sorted((int(who), read_selected_answer(answer)) for who, answer in given))


AnswersInTurn: TypeAlias = Callable[[frozenset[int] | None], Subquery]
"""All answers to the items that some annotators answered, or to all.

Nothing but the answers of its annotator and to its item decides about a row of these annotators.
"""


class Extra(NamedTuple):
    """How to read a further column of the answers, and how many bits it takes.

    Without a number, a column holds a category of a project of one, and takes as many bits. In
    a number NULL is read as 0, which is no category of such a project.
    """

    read: Callable[[Any], Any]
    bits: int | None = None
    optional: bool = False


ANSWER = Extra(read_selected_answer)
OPTIONAL_ANSWER = Extra(lambda text: read_selected_answer(text) if text else None, optional=True)


def count_against_patterns(
    connection: Connection,
    selection: Selection,
    answers: Subquery | AnswersInTurn,
    excluded: frozenset[int] = frozenset(),
    extra: Mapping[str, Extra] | None = None,
    *,
    every: bool = False,
    further: int = 0,
) -> KeyedTallies:
    """Return on how many items each annotator's answer met a pattern, by further columns.

    A key is ``(*further columns, own answer, pattern)``. With a column labeled_at of all answers
    rows have the first moment.

    Args:
        connection: to the database.
        selection: whose answers make the patterns.
        answers: one row per answer: item_id, annotator_id, answer, and the columns of ``extra``.
        excluded: annotators whose answers are in no pattern, and in no tally.
        extra: how to read the further columns, by name.
        every: whether ``answers`` are all answers of the selection, as those in turn are. Then the
            patterns are made of them, and answers whose first further column is NULL are in no
            tally.
        further: bits of ``annotator_id`` beyond those of an annotator's id.
    """
    options = (excluded, extra or {}, further)
    sequences = None
    if isinstance(answers, Subquery):
        groups = _select_groups(connection, selection, answers, every, *options)
    else:
        in_turn = answers
        groups = _select_groups(connection, selection, in_turn(None), True, *options)

        def select_of(annotators: frozenset[int]) -> Select[Any]:
            rows = in_turn(annotators)
            code, *_, statement = _select_groups(connection, selection, rows, True, *options)
            return statement.where(code.items.c.annotator_id.in_(sorted(annotators)))

        sequences = Sequences(select_of, lambda columns: groups.split(columns)[1])
    code, packing, keys, statement = groups
    most = len(statement.selected_columns) - keys - 1
    columns = counted_columns(
        connection, statement, selection.question, keys, most=most, sequences=sequences
    )
    wider = widen_pattern_code(selection, code, int(np.max(columns[-1], initial=0)))
    if wider is not None:
        return count_against_patterns(
            connection, wider, answers, excluded, extra, every=every, further=further
        )
    values, annotator = groups.split(columns)
    met, place = _distinct(values)
    named = _read_keys(met, code, packing.but_last, extra or {})
    number, *earliest = (np.asarray(column, dtype=np.int64) for column in columns[keys:-1])
    began = [-moments for moments in earliest]
    return keyed_columns(np.asarray(annotator, dtype=np.int64), named, place, number, *began)


class _Groups(NamedTuple):
    """A statement with a row per group; the annotator is the last of its ``keys``."""

    code: Code
    packing: Packing
    keys: int
    statement: Select[Any]

    def split(self, columns: Columns) -> tuple[Columns, IntArray | list[Any]]:
        """Return the keys without the annotators, and these."""
        others, annotators = self.packing.split_last(columns[: self.keys])
        return [*others], annotators


def _select_groups(
    connection: Connection,
    selection: Selection,
    answers: Subquery,
    every: bool,
    excluded: frozenset[int],
    extra: Mapping[str, Extra],
    further: int,
) -> _Groups:
    """Return what to count: the items, the first moment, negative, the most answers to an item."""
    code = make_pattern_code(connection, selection, excluded, answers if every else None)
    rows = code.items if every else answers
    packing = AS_COLUMNS
    if code.bits is not None:
        of_code, of_annotator, of_category = code.bits
        widths = [of_category if how.bits is None else how.bits for how in extra.values()]
        packing = Packing((*widths, of_code, of_category, of_annotator + further))
    further_columns = [
        func.coalesce(rows.c[name], 0) if how.optional and packing.fits else rows.c[name]
        for name, how in extra.items()
    ]
    key = packing.key([*further_columns, *code.key, rows.c.answer, rows.c.annotator_id])
    earliest = [-code.items.c.labeled_at] if "labeled_at" in code.items.c else []
    statement = select(*key, func.count(), *map(func.max, [*earliest, code.items.c.answers]))
    if every:
        first = next(iter(extra))
        statement = statement.where(code.items.c[first].is_not(None))
    else:
        # Where all items have answers an outer join finds the same: it is read item by item,
        # while SQLite would put all patterns into a table with an index first.
        of_item = answers.c.item_id == code.items.c.item_id
        statement = statement.select_from(code.items.join(answers, of_item, isouter=not extra))
    by_name = [column.name for column in key]  # for it holds bound values
    return _Groups(code, packing, len(key), statement.group_by(*by_name))


def _read_keys(
    met: Sequence[tuple[Any, ...]], code: Code, packing: Packing, extra: Mapping[str, Extra]
) -> list[tuple[Any, ...]]:
    """Return the values of further columns, the own answer and the pattern of each key."""
    decode, read = cache(code.decode), cache(read_selected_answer)
    keys = []
    for *rest, own in map(packing.unpack, met):
        values = (how.read(value) for how, value in zip(extra.values(), rest, strict=False))
        keys.append((*values, read(own), decode(tuple(rest[len(extra) :]))))
    return keys


def _distinct(columns: Sequence[IntArray | list[Any]]) -> tuple[list[tuple[Any, ...]], IntArray]:
    """Return the distinct rows of columns, and the place of each row among them."""
    if len(columns) == 1:
        values, place = distinct_numbers(np.asarray(columns[0]))
        return [(value,) for value in values.tolist()], place
    places: dict[tuple[Any, ...], int] = {}
    numbered = [places.setdefault(row, len(places)) for row in rows_of(columns)]
    place = np.array(numbered, dtype=np.int64)
    return [*places], place


# -- Answers compared with the truth: the truth of each item, and the answers to it ---------------

NOBODY = 0
"""Whose answers truths are among the answers to their item; annotators are numbered from 1."""


@kept_with_answers
def count_gold_confusions(
    connection: Connection, selection: Selection
) -> tuple[dict[int, dict[tuple[Answer, Answer], int]], int]:
    """Return truths against answers, ``{annotator: {(truth, answer): answers}}``, and the items.

    The truth of an item is what was decided of it, or the answer of its reference annotator; if
    there are several, the first one's. A reference annotator is never compared with a truth, even
    if named.
    """
    if not selection.references:
        return {}, 0
    both = _answers_with_truths(selection)
    key = [both.c.annotator_id, both.c.truth, both.c.answer]
    known = both.c.truth.is_not(None)
    counts: dict[int, dict[tuple[Answer, Answer], int]] = {}
    statement = select(*key, func.count()).where(known).group_by(*key)
    rows = counted_rows(connection, statement, selection.question, len(key))
    for annotator, truth, answer, number in rows:
        table = counts.setdefault(annotator, {})
        cell = (read_selected_answer(truth), read_selected_answer(answer))
        table[cell] = table.get(cell, 0) + number
    of_items = select(func.count(both.c.item_id.distinct())).where(known)
    ((items,),) = kept_rows(connection, of_items, selection.question)
    return counts, items


@kept_with_answers
def gold_tallies(connection: Connection, selection: Selection) -> GoldTallies:
    """Return on how many items with a truth each annotator's answer met it, by item pattern.

    The truths are those of `count_gold_confusions`. Answers of references are in no tally and no
    pattern.
    """
    if not selection.references:
        return {}
    return count_against_patterns(
        connection,
        selection.without(selection.references),
        _answers_with_truths(selection),
        frozenset({NOBODY}),
        {"truth": ANSWER},
        every=True,
    )


def select_answers_with_truths(selection: Selection, answers: Subquery) -> Subquery:
    """Return all answers to some items, each with the item's truth.

    The truth is NULL if there is none, and for answers of references. Truths come as answers
    without an annotator and are found among the other answers to their item: to sort all
    answers by item is slow, to look up a truth for each is slower.
    """
    if not selection.references:
        return select(answers, cast(null(), answers.c.answer.type).label("truth")).subquery(
            "with_truth"
        )
    truths = select_first_truths(selection).subquery("truths")
    own: dict[str, ColumnElement[Any]] = {
        "item_id": truths.c.item_id,
        "annotator_id": literal(NOBODY),
        "answer": truths.c.truth,
    }
    rows = union_all(
        select(answers), select(*(own.get(column.name, null()) for column in answers.c))
    ).subquery("rows")
    truth = func.max(case((rows.c.annotator_id == NOBODY, rows.c.answer))).over(
        partition_by=rows.c.item_id
    )
    compared = rows.c.annotator_id.not_in([NOBODY, *sorted(selection.references)])
    return select(rows, case((compared, truth)).label("truth")).subquery("with_truth")


def _answers_with_truths(selection: Selection) -> Subquery:
    """Return answers to the items that have a truth, with it; see `select_answers_with_truths`."""
    items = select(select_first_truths(selection).subquery("true").c.item_id)
    compared = selection.without(selection.references)
    return select_answers_with_truths(
        selection, select_answer_rows(compared, alone=True, items=items)
    )


def select_first_truths(selection: Selection) -> Select[Any]:
    """Return one row per item that has a truth: item_id, truth."""
    # Of the same items, whenever they were labeled: a truth is true before it is written down.
    of_references = Selection(
        selection.question,
        where=selection.where,
        unless=selection.unless,
        only=selection.references,
    )
    answers = select_answer_rows(of_references, "of_references", alone=True)
    order = case((answers.c.annotator_id == selection.decider, 0), else_=answers.c.annotator_id)
    place = func.row_number().over(partition_by=answers.c.item_id, order_by=order)
    ranked = select(answers, place.label("place")).subquery("ranked")
    return select(ranked.c.item_id, ranked.c.answer.label("truth")).where(ranked.c.place == 1)
