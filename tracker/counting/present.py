"""What the labels of a selection have at all: times, durations, empty answers, later passes."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, case, func, select

from tracker.counting.selection import Selection, chosen, labels
from tracker.counting.skips import empty_category
from tracker.schema import SKIPPED

__all__ = ["Present", "present"]


class Present(NamedTuple):
    """Whether any answer has a time of its own, or a duration; is empty; is given again."""

    times: bool
    seconds: bool
    empty: bool
    repeats: bool


def present(connection: Connection, selection: Selection) -> Present:
    """What there is to look at, by one look at all labels: where there is none, all are met."""
    given = labels.c.category_id != SKIPPED

    def any_of(*conditions: ColumnElement[bool]) -> ColumnElement[Any]:
        return func.max(case((and_(*conditions), 1), else_=0))

    row = connection.execute(
        select(
            any_of(given, labels.c.timed),
            any_of(given, labels.c.spent_ms.is_not(None)),
            any_of(labels.c.category_id == empty_category(selection)),
            any_of(given, labels.c["pass"] > 1),
        ).where(labels.c.project_id == selection.project.id, *chosen(selection, alone=True))
    ).one()
    return Present(*(bool(found) for found in row))
