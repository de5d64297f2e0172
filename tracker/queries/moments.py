"""The moments at which something was answered, as few as a slider has places."""

from __future__ import annotations

from sqlalchemy import BigInteger, Connection, func, select, type_coerce, union_all

from tracker.core import clock
from tracker.projects.project import ProjectInfo
from tracker.queries.selection import local_moment
from tracker.storage.schema import Label, PastLabel, Snapshot

_MINUTE = 60_000_000  # microseconds
_WIDTHS = (clock.DAY, 60 * _MINUTE, _MINUTE)
_FEW = 4


def answered_moments(connection: Connection, project: ProjectInfo, most: int) -> list[str]:
    """Return the ends of the periods in which something was answered or a snapshot was taken.

    Periods are days, or hours or minutes if all was within a few. Days are dates. Of
    more than ``most`` some are left out at even distances, never the first or the last; so are
    those that are not over.
    """
    labels = (select(one.labeled_at.label("at")).where(one.project_id == project.id)
              for one in (Label, PastLabel))  # fmt: skip
    taken = select(Snapshot.taken_at).where(Snapshot.project_id == project.id)
    times = union_all(*labels, taken).subquery("times").c.at
    first, last = connection.execute(select(func.min(times), func.max(times))).one()
    if first is None:
        return []
    width = next((one for one in _WIDTHS if (last - first) // one > _FEW), _MINUTE)
    zone = project.timezone if width == clock.DAY else None
    period = (type_coerce(local_moment(zone, times), BigInteger) // width).label("period")
    numbers = connection.scalars(select(period).distinct().order_by(period))
    now = clock.now()
    if width == clock.DAY:
        days = [day for day in numbers if clock.end_of_day_number(day, zone) <= now]
        return [str(clock.date_of_number(day)) for day in _thinned(days, most)]
    ends = [(number + 1) * width for number in numbers]
    return [clock.iso(end) for end in _thinned([end for end in ends if end <= now], most)]


def _thinned(found: list[int], most: int) -> list[int]:
    if len(found) <= most:
        return found
    return [found[place * (len(found) - 1) // (most - 1)] for place in range(most)]
