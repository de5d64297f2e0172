"""What the labels of a selection contain: times, durations, empty answers, later passes."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, case, false, literal, or_, select

from tracker.queries.selection import Selection, chosen, labels
from tracker.queries.skips import empty_category
from tracker.storage.schema import SKIPPED


class Present(NamedTuple):
    """Whether any answer has a time of its own or a duration, is empty, or is given again."""

    times: bool
    seconds: bool
    empty: bool
    repeats: bool


def present(connection: Connection, selection: Selection) -> Present:
    """Return what the labels contain; each search stops at the first hit."""
    given = labels.c.category_id != SKIPPED
    sought = (
        and_(given, labels.c.timed),
        and_(given, labels.c.spent_ms.is_not(None)),
        labels.c.category_id == empty_category(selection),
        and_(given, labels.c["pass"] > 1),
    )
    of_project = (labels.c.project_id == selection.project.id, *chosen(selection, alone=True))

    def there(condition: ColumnElement[bool]) -> ColumnElement[bool]:
        return select(literal(1)).where(*of_project, condition).exists()

    # Most projects have none of them, which takes one look at all labels, not four.
    rare = (labels.c.timed, labels.c.spent_ms.is_not(None), labels.c["pass"] > 1, sought[2])
    any_of = select(there(or_(*rare)).label("there")).subquery("any_of")
    tests = (case((any_of.c.there, there(one)), else_=false()) for one in sought)
    row = connection.execute(select(*tests)).one()
    return Present(*(bool(tests) for tests in row))
