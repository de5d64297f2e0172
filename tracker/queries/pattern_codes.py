"""The answers to an item as one code inside a statement, and the decoding into a pattern."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    FunctionElement,
    Integer,
    Subquery,
    Text,
    case,
    func,
    select,
)
from sqlalchemy import cast as sql_cast

from tracker.core.tallies import Pattern, make_pattern
from tracker.queries.packing import Digits, Packing
from tracker.queries.selection import (
    Selection,
    labels,
    read_selected_answer,
    select_answer_rows,
    where_counted,
)
from tracker.storage.answer_keys import of_question
from tracker.storage.schema import Annotator, Category

MOST_CODE_COLUMNS = 8


@dataclass(frozen=True)
class Code:
    """How the answers to an item become one code: its expressions, and its decoding."""

    items: Subquery  # item_id, code columns, answers
    columns: tuple[str, ...]
    decode: Callable[[tuple[Any, ...]], Pattern]
    most_answers: int | None  # to an item, that the code can hold
    bits: tuple[int, int, int] | None = None  # of one column, an annotator, a category


def make_pattern_code(
    connection: Connection,
    selection: Selection,
    excluded: frozenset[int] = frozenset(),
    within: Subquery | None = None,
    *,
    of: Subquery | None = None,
) -> Code:
    """Return the code for a selection: digits of an integer if they fit, else strings.

    Answers of ``excluded`` annotators are in no code, but their items are all there. If
    ``within`` is given, which has one row per answer of the selection, each of its rows gets
    the item's code beside it: sorting those rows was expensive, and joining them with a row per
    item is more so. ``of`` are the answers, if not all of the selection; if they have a column
    ``at``, each item has its greatest one as ``last`` beside its code.
    """
    answers = within if of is None else of
    rows = select_answer_rows(selection, alone=True) if answers is None else answers
    beside = within is not None
    if selection.question.answers == "one":
        annotators, categories = select_highest_ids(connection, selection)
        # The highest digit may hold every annotator.
        kept = annotators.bit_length() - selection.bits
        digits = Digits.fitting(selection.bits, max(categories, 1), kept)
        if len(digits.starts) <= MOST_CODE_COLUMNS:
            code = _digit_code(rows, digits, excluded, beside=beside)
            widths = (
                selection.bits * categories,
                annotators.bit_length(),
                categories.bit_length(),
            )
            fits = len(code.columns) == 1 and Packing(widths).fits
            return replace(code, bits=widths) if fits else code
    return _string_code(rows, excluded, beside=beside)


def select_id_widths(connection: Connection, selection: Selection) -> tuple[int, int] | None:
    """Return how many bits the id of an annotator takes, and an answer; None if it is a text."""
    if selection.question.answers != "one":
        return None
    annotators, categories = select_highest_ids(connection, selection)
    return annotators.bit_length(), categories.bit_length()


def select_highest_ids(connection: Connection, selection: Selection) -> tuple[int, int]:
    """Return the highest ids of an annotator and of a category; both are numbered without gaps."""
    question = selection.question
    row = connection.execute(
        select(
            select(func.count())
            .select_from(Annotator)
            .where(Annotator.project_id == question.project_id)
            .scalar_subquery()
            .label("annotators"),
            select(func.max(Category.id))
            .where(of_question(Category, question.key))
            .scalar_subquery()
            .label("categories"),
        )
    ).one()
    return row.annotators, max(row.categories, 0)


def _digit_code(
    answers: Subquery, digits: Digits, excluded: frozenset[int], *, beside: bool
) -> Code:
    columns: dict[str, FunctionElement[Any]] = {}
    for start in digits.starts:
        one = digits.one(answers.c.answer, start)
        if excluded:
            one = case((answers.c.annotator_id.in_(sorted(excluded)), 0), else_=one)
        columns[f"code_{start}"] = func.sum(one)
    items = _items(answers, columns, beside=beside)
    return Code(items, tuple(columns), digits.decode, (1 << digits.bits) - 1)


def _string_code(answers: Subquery, excluded: frozenset[int], *, beside: bool) -> Code:
    """Return a code of answers joined by commas; their order varies, and decoding folds it."""
    answer: ColumnElement[str] = sql_cast(answers.c.answer, Text)
    if excluded:
        answer = case((answers.c.annotator_id.not_in(sorted(excluded)), answer))  # else NULL
    columns = {"code": func.aggregate_strings(answer, ",")}
    items = _items(answers, columns, beside=beside)

    def decode(codes: tuple[str | None]) -> Pattern:
        if codes[0] is None:
            return ()
        return make_pattern(read_selected_answer(answer) for answer in codes[0].split(","))

    return Code(items, ("code",), decode, None)


def _items(
    answers: Subquery, columns: Mapping[str, FunctionElement[Any]], *, beside: bool
) -> Subquery:
    """Return code columns and the number of answers, a row per item, or ``beside`` each answer."""
    item = answers.c.item_id

    def made(name: str, value: FunctionElement[Any]) -> ColumnElement[Any]:
        made = value.over(partition_by=item) if beside else value
        whole = isinstance(value.type, Integer)  # a sum of such may come as a decimal number
        return (sql_cast(made, BigInteger) if whole else made).label(name)

    named = [made(*one) for one in columns.items()]
    named.append(made("answers", func.count()))
    if "at" in answers.c:
        named.append(made("last", func.max(answers.c.at)))
    if beside:
        return select(answers, *named).subquery("patterns")
    return select(item, *named).group_by(item).subquery("patterns")


def widen_pattern_code(selection: Selection, code: Code, most_answers: int) -> Selection | None:
    """Return the selection with wider digits if they were too narrow; None if they were not."""
    if code.most_answers is None or most_answers <= code.most_answers:
        return None
    return replace(selection, bits=most_answers.bit_length())


def wide_pattern_code(connection: Connection, selection: Selection) -> Code:
    """Return a code that holds every item, because rows that were streamed cannot be taken back."""
    code = make_pattern_code(connection, selection)
    if code.most_answers is None:
        return code
    answers = (
        select(func.count().label("answers"))
        .where(where_counted(selection, alone=True))
        .group_by(labels.c.item_id)
        .subquery("answers")
    )
    most = connection.scalar(select(func.max(answers.c.answers))) or 0
    wider = widen_pattern_code(selection, code, most)
    return code if wider is None else make_pattern_code(connection, wider)
