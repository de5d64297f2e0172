"""Counts of agreement alone: exclusions, spans, confidences, periods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    Select,
    Subquery,
    and_,
    case,
    func,
    literal,
    select,
    true,
)
from sqlalchemy import cast as sql_cast

from tracker.core.results import Record
from tracker.core.tallies import IntArray, most_given, pattern_without
from tracker.counts.annotator_patterns import select_answering_annotators, select_first_truths
from tracker.counts.kept_counts import counted_columns
from tracker.counts.pattern_codes import wide_pattern_code
from tracker.counts.selection import (
    Selection,
    labels,
    read_selected_answer,
    stream_rows,
    where_chosen,
    where_counted,
    with_answers,
)
from tracker.counts.tallies import PartTallies, count_tallies_of_parts, join_answer_pairs
from tracker.counts.timeline import Stretches, select_dated_answers
from tracker.engines.engine import rows_of
from tracker.measures.accuracy import BINS, ConfidenceTally
from tracker.projects.items import count_project_items
from tracker.storage.schema import NONE_APPLIES, SKIPPED, Annotator, AnswerDetail, Item, PastLabel
from tracker.storage.schema.labels import detail_of, of_question

_past = PastLabel.__table__


@dataclass(frozen=True)
class Inclusion(Record):
    """Numbers of answers by outcome; each answer counts once, under the first that applies.

    Attributes:
        standing: answers that stand, of every pass and every annotator.
        other_kinds: by a reference annotator or a model that was not named.
        not_chosen: outside the chosen annotators, times or items.
        later_passes: given again to an item on a later pass.
        counted: all others, which are counted.
        past: records of answers that no longer stand: superseded, older, or repeated.
        taken_back: records of undone imports.
    """

    items: int
    standing: int
    skipped: int
    other_kinds: int
    not_chosen: int
    later_passes: int
    counted: int
    past: int
    taken_back: int


def count_included_answers(connection: Connection, selection: Selection) -> Inclusion:
    question = selection.question
    other_kind: ColumnElement[bool] = labels.c.annotator_id.in_(
        select(Annotator.id).where(
            Annotator.project_id == question.project_id, Annotator.kind != "human"
        )
    )
    if selection.only is not None:
        other_kind = and_(other_kind, labels.c.annotator_id.not_in(sorted(selection.only)))
    limits: list[ColumnElement[bool]] = list(where_chosen(selection))
    fate = case(
        (labels.c.category_id == SKIPPED, "skipped"),
        (other_kind, "other_kinds"),
        (where_counted(selection), "counted"),
        # What is not chosen may be neither true nor false: an item may lack the attribute.
        (and_(true(), *limits), "later_passes"),
        else_="not_chosen",
    ).label("fate")
    answers = (
        select(labels.c.item_id, labels.c.annotator_id, labels.c["pass"], fate)
        .where(of_question(labels, question.key))
        .distinct()
        .subquery("fates")
    )
    rows = connection.execute(
        select(answers.c.fate, func.count().label("answers")).group_by(answers.c.fate)
    )
    fates = {row.fate: row.answers for row in rows}
    taken_back = case((_past.c.taken_back_by.is_not(None), 1), else_=0)
    past = connection.execute(
        select(func.count(), func.sum(taken_back)).where(of_question(_past, question.key))
    ).one()
    undone = int(past[1] or 0)
    return Inclusion(
        items=count_project_items(connection, question.project),
        standing=sum(fates.values()),
        **{
            name: fates.get(name, 0)
            for name in ("skipped", "other_kinds", "not_chosen", "later_passes", "counted")
        },
        past=past[0] - undone,
        taken_back=undone,
    )


_items = Item.__table__


class Document(NamedTuple):
    """One document that has an answer.

    Attributes:
        length: its length in the project's offsets; None if it is not known.
        answers: by annotator id, ascending, the spans ``(category id, start, end)``, ascending;
            empty if the answer is "none applies".
    """

    item: int
    length: int | None
    answers: dict[int, list[tuple[int, int, int]]]


def select_span_documents(connection: Connection, selection: Selection) -> Iterator[Document]:
    """Yield the documents of a selection by item id, each with its counted answers."""
    current = None
    for item, length, annotator, category, start, end in stream_rows(
        connection, select_span_rows(selection)
    ):
        if annotator is None:
            continue
        if current is None or item != current.item:
            if current is not None:
                yield current
            current = Document(item, length, {})
        spans = current.answers.setdefault(annotator, [])
        if category != NONE_APPLIES:
            spans.append((category, start, end))
    if current is not None:
        yield current


def select_span_rows(selection: Selection) -> Select[Any]:
    """Return one row per label, and one for each item without a counted answer.

    They come in the order in which both tables are stored, so that nothing is sorted. The join
    is an outer one to make the items come first: a document's length is then read once, not
    looked up for every label.
    """
    key = ("annotator_id", "pass", "category_id", "span_start", "span_end")
    of_item = and_(
        labels.c.project_id == _items.c.project_id,
        labels.c.item_id == _items.c.id,
        where_counted(selection),
    )
    return (
        select(
            _items.c.id,
            _items.c.length,
            labels.c.annotator_id,
            labels.c.category_id,
            labels.c.span_start,
            labels.c.span_end,
        )
        .select_from(_items.outerjoin(labels, of_item))
        .where(_items.c.project_id == selection.question.project_id)
        .order_by(_items.c.id, *(labels.c[column] for column in key))
    )


_details = AnswerDetail.__table__

Tallies = dict[int, list[ConfidenceTally]]
"""The tallies of each annotator with a confidence."""


def any_confidence(connection: Connection, selection: Selection) -> bool:
    known = select(literal(1)).where(
        of_question(_details, selection.question.key), _details.c.confidence.is_not(None)
    )
    return bool(connection.scalar(select(known.exists())))


def select_answer_details(
    connection: Connection, selection: Selection, annotators: Set[int], items: Set[int]
) -> dict[tuple[int, int], tuple[float | None, str | None]]:
    """Return the confidence and the comment of some answers that have one.

    The shape is ``{(annotator id, item id): (confidence, comment)}``.
    """
    if not annotators or not items:
        return {}
    statement = (
        select(labels.c.annotator_id, labels.c.item_id, _details.c.confidence, _details.c.comment)
        .join(_details, detail_of(_details, labels))
        .where(
            where_counted(selection),
            labels.c.annotator_id.in_(sorted(annotators)),
            labels.c.item_id.in_(sorted(items)),
        )
    )
    rows = connection.execute(statement)
    return {(row.annotator_id, row.item_id): (row.confidence, row.comment) for row in rows}


def confidences_against_gold(connection: Connection, selection: Selection) -> Tallies:
    """Return confidences by whether the answer is the item's truth, of one statement.

    Items without a truth are left out. ``selection`` has the references. Of several categories
    the answer is the truth if all are those of the truth.
    """
    answers = _confident(selection.without(selection.references))
    truths = select_first_truths(selection).subquery("truths")
    key = [answers.c.annotator_id, answers.c.answer, truths.c.truth, answers.c.bin]
    statement = (
        select(*key, *_sums(answers))
        .join(truths, truths.c.item_id == answers.c.item_id)
        .group_by(*key)
    )
    held = (
        (annotator, ConfidenceTally(number, _same(answer, truth), *sums))
        for annotator, answer, truth, number, *sums in stream_rows(connection, statement)
    )
    return _by_annotator(held)


def confidences_against_majority(
    connection: Connection, selection: Selection, voters: Selection
) -> Tallies:
    """Return confidences by whether the answer is what most of the others said.

    Items on which the others are tied, or that nobody else answered, are left out.
    """
    code = wide_pattern_code(connection, voters)
    answers = _confident(selection)
    columns = [code.items.c[name] for name in code.columns]
    key = [answers.c.annotator_id, answers.c.answer, answers.c.bin, *columns]
    statement = (
        select(*key, *_sums(answers))
        .join(code.items, code.items.c.item_id == answers.c.item_id)
        .group_by(*key)
    )
    voting = set(select_answering_annotators(connection, voters))

    def held() -> Iterator[tuple[int, ConfidenceTally]]:
        for annotator, answer, number, *codes, count, total, squares in stream_rows(
            connection, statement
        ):
            own, pattern = read_selected_answer(answer), code.decode(tuple(codes))
            most = most_given(pattern_without(pattern, own) if annotator in voting else pattern)
            if most is not None:
                yield annotator, ConfidenceTally(number, most == own, count, total, squares)

    return _by_annotator(held())


def _same(first: int | str, second: int | str) -> bool:
    return read_selected_answer(first) == read_selected_answer(second)


def _confident(selection: Selection) -> Subquery:
    """Return one row per answer with a confidence: item, annotator, answer, confidence, bin."""
    confidence = _details.c.confidence
    bounds = [(confidence <= (n + 1) / BINS, n) for n in range(BINS - 1)]
    columns = (
        labels.c.item_id,
        labels.c.annotator_id,
        confidence,
        case(*bounds, else_=BINS - 1).label("bin"),
    )
    statement = (
        select(*columns)
        .join(_details, detail_of(_details, labels))
        .where(where_counted(selection), confidence.is_not(None))
    )
    return with_answers(statement, selection, columns[:3]).subquery("confident")


def _sums(answers: Subquery) -> tuple[ColumnElement[Any], ...]:
    confidence = answers.c.confidence
    return (
        sql_cast(func.count(), Integer),
        func.sum(confidence),
        func.sum(confidence * confidence),
    )


def _by_annotator(held: Iterator[tuple[int, ConfidenceTally]]) -> Tallies:
    """Return one tally for each bin of each annotator, and for right and wrong, in order."""
    counts: Counter[tuple[int, int, bool]] = Counter()
    totals: dict[tuple[int, int, bool], list[tuple[float, float]]] = {}
    for annotator, tally in held:
        key = (annotator, tally.bin, tally.right)
        counts[key] += tally.answers
        totals.setdefault(key, []).append((tally.total, tally.squares))
    tallies: Tallies = {}
    for (annotator, number, right), answers in sorted(counts.items()):
        total, squares = (
            sum(sorted(sums)) for sums in zip(*totals[annotator, number, right], strict=True)
        )
        tallies.setdefault(annotator, []).append(
            ConfidenceTally(number, right, answers, total, squares)
        )
    return tallies


def count_tallies_by_stretch(
    connection: Connection, selection: Selection, stretches: Stretches
) -> PartTallies:
    """Return the annotator tallies of answers by the stretch in which they were given."""
    dated = select_dated_answers(selection)
    part = stretches.select_number(selection, dated).label("part")
    answers = select(dated.c.item_id, dated.c.annotator_id, dated.c.answer, part)
    return count_tallies_of_parts(
        connection, selection, answers.subquery("answers"), stretches.bits
    )


class PairPeriods(NamedTuple):
    """How often each two annotators answered alike, by the period of the later answer."""

    annotators: IntArray  # the ids of both, first < second, shape (pairs, 2)
    pair: IntArray  # a place in them, shape (rows,), as all that follow
    period: IntArray
    alike: IntArray  # items answered alike
    items: IntArray  # items that both answered


def count_pairs_by_period(
    connection: Connection, selection: Selection, stretches: Stretches, begins: Sequence[int]
) -> PairPeriods:
    """Return how often each two annotators answered alike, by when the later of them answered.

    Periods begin at the stretches ``begins``, ascending; what is before the first is in it.
    """
    first, second = (_rows(selection, stretches, begins, name) for name in ("first", "second"))
    later = case((first.c.period > second.c.period, first.c.period), else_=second.c.period)
    key: list[ColumnElement[Any]] = [first.c.annotator_id, second.c.annotator_id, later]
    if selection.question.answers == "one":
        key.append(case((first.c.answer == second.c.answer, literal(1, Integer)), else_=0))
    else:
        key += [first.c.answer, second.c.answer]
    named = [column.label(f"key_{place}") for place, column in enumerate(key)]
    statement = select(*named, func.count()).select_from(join_answer_pairs(first, second))
    # By name: the columns hold bound values.
    grouped = statement.group_by(*(column.name for column in named))
    columns = counted_columns(connection, grouped, selection.question, len(named))
    lower, higher, period, alike = map(np.asarray, columns[:4])
    if len(columns) > 5:
        alike = np.array([*starmap(_same, rows_of(columns[3:5]))], dtype=np.int64)
    items = np.asarray(columns[-1])
    width = int(higher.max(initial=0)) + 1
    both, pair = np.unique(lower * width + higher, return_inverse=True)
    annotators = np.stack(np.divmod(both, width), axis=1)
    return PairPeriods(annotators, pair, period, alike * items, items)


def _rows(selection: Selection, stretches: Stretches, begins: Sequence[int], name: str) -> Subquery:
    dated = select_dated_answers(selection).alias(f"dated_{name}")
    period = _period(stretches.select_number(selection, dated), begins).label("period")
    return select(dated.c.item_id, dated.c.annotator_id, dated.c.answer, period).subquery(name)


def _period(at: ColumnElement[int], begins: Sequence[int], first: int = 0) -> ColumnElement[Any]:
    """Return the place of the period of a stretch, found by halves."""
    if len(begins) < 2:
        return sql_cast(literal(first, Integer), BigInteger)
    middle = len(begins) // 2
    earlier, later = (
        _period(at, begins[:middle], first),
        _period(at, begins[middle:], first + middle),
    )
    return case((at < literal(begins[middle], BigInteger), earlier), else_=later)
