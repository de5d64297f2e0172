"""Answers with a confidence, compared with the truth or with what the others said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Subquery,
    case,
    func,
    literal,
    select,
)
from sqlalchemy import cast as sql_cast

from tracker.core.tallies import Answer, Pattern, pattern_without
from tracker.counts.annotator_patterns import select_first_truths
from tracker.counts.pattern_codes import wide_pattern_code
from tracker.counts.selection import (
    Selection,
    labels,
    read_selected_answer,
    select_answering_annotators,
    stream_rows,
    where_counted,
    with_answers,
)
from tracker.measures.accuracy import BINS, ConfidenceTally
from tracker.storage.schema import AnswerDetail
from tracker.storage.schema.labels import detail_of, of_question

_details = AnswerDetail.__table__

Tallies = dict[int, list[ConfidenceTally]]
"""The tallies of each annotator with a confidence."""


def any_confidence(connection: Connection, selection: Selection) -> bool:
    """Return whether any answer to the question ever had a confidence."""
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

    Args:
        connection: to the ledger.
        selection: whose confidences, at which times and items.
        voters: the others, at the same times and items.
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
            most = _majority(pattern_without(pattern, own) if annotator in voting else pattern)
            if most is not None:
                yield annotator, ConfidenceTally(number, most == own, count, total, squares)

    return _by_annotator(held())


def _same(one: int | str, other: int | str) -> bool:
    """Return whether two answers are the same; several categories come in any order."""
    return read_selected_answer(one) == read_selected_answer(other)


def _majority(pattern: Pattern) -> Answer | None:
    """Return the answer given most often; None if there is none, or several."""
    ranked = sorted(pattern, key=lambda one: -one[1])
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


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
    for annotator, one in held:
        key = (annotator, one.bin, one.right)
        counts[key] += one.answers
        totals.setdefault(key, []).append((one.total, one.squares))
    found: Tallies = {}
    for (annotator, number, right), answers in sorted(counts.items()):
        total, squares = (
            sum(sorted(sums)) for sums in zip(*totals[annotator, number, right], strict=True)
        )
        found.setdefault(annotator, []).append(
            ConfidenceTally(number, right, answers, total, squares)
        )
    return found
