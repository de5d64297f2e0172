"""The state of recorded findings: that which their last change but for appeals left them in."""

from __future__ import annotations

from typing import cast

from sqlalchemy import Subquery, Table, func, select

from tracker.storage.schema import FlagChange

_changes = cast("Table", FlagChange.__table__)


def settling_changes(project_id: int) -> Subquery:
    """The change that made each flag's state, as a subquery with the columns of `FlagChange`."""
    last = (
        select(_changes.c.flag_id, func.max(_changes.c.number).label("number"))
        .where(_changes.c.project_id == project_id, _changes.c.action != "appealed")
        .group_by(_changes.c.flag_id)
        .subquery("last_settled")
    )
    is_last = (_changes.c.flag_id == last.c.flag_id) & (_changes.c.number == last.c.number)
    return (
        select(_changes)
        .join(last, is_last)
        .where(_changes.c.project_id == project_id)
        .subquery("settled")
    )
