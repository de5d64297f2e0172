"""Items that annotators skipped, or said that none applies to, with the others who did."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Subquery, case, func, select

from tracker.core.audit_tallies import SkipTallies
from tracker.queries.selection import Selection, labels, stream_rows, where_counted
from tracker.storage.schema import NONE_APPLIES, SKIPPED


def skip_tallies(connection: Connection, selection: Selection) -> SkipTallies:
    """Return how many items each annotator skipped or not, by how many of those who saw it skipped.

    A skipped answer is an answer here, even if a later pass has another. In a project whose
    answers may be empty, an answer that none applies is counted instead.
    """
    answers = _seen(selection, "seen")
    every = _seen(selection, "every")
    items = (
        select(
            every.c.item_id,
            func.sum(every.c.skipped).label("skipped"),
            func.count().label("seen"),
        )
        .group_by(every.c.item_id)
        .subquery("items")
    )
    key = (answers.c.annotator_id, answers.c.skipped, items.c.skipped, items.c.seen)
    # An outer join, although every such item has answers: see `count_against_patterns`.
    statement = (
        select(*key, func.count())
        .select_from(items.outerjoin(answers, answers.c.item_id == items.c.item_id))
        .group_by(*key)
    )
    tallies: dict[int, dict[tuple[bool, int, int], int]] = {}
    for who, skipped, skipping, seeing, number in stream_rows(connection, statement):
        tallies.setdefault(who, {})[bool(skipped), int(skipping), seeing] = number
    return tallies


def _with_skipped(selection: Selection) -> bool:
    return selection.question.answers == "one"


def skip_category(selection: Selection) -> int:
    """Return the reserved category that an answer without a label has."""
    return SKIPPED if _with_skipped(selection) else NONE_APPLIES


def _seen(selection: Selection, name: str) -> Subquery:
    """Return one row per answer: item_id, annotator_id, and skipped, 1 or 0."""
    columns: tuple[Any, ...] = (labels.c.item_id, labels.c.annotator_id)
    skipped = case((labels.c.category_id == skip_category(selection), 1), else_=0)
    where = where_counted(selection, skipped=_with_skipped(selection))
    if selection.question.answers == "one":
        return select(*columns, skipped.label("skipped")).where(where).subquery(name)
    return (
        select(*columns, func.max(skipped).label("skipped"))
        .where(where)
        .group_by(*columns)
        .subquery(name)
    )
