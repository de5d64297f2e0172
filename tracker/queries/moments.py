"""The moments at which something was answered, as few as a slider has places."""

from __future__ import annotations

from sqlalchemy import BigInteger, Connection, func, select, type_coerce, union_all

from tracker.core import clock
from tracker.storage.schema import Label, PastLabel, Snapshot

_MINUTE = 60_000_000  # microseconds
_DAY = 24 * 60 * _MINUTE
_WIDTHS = (_DAY, 60 * _MINUTE, _MINUTE)
_FEW = 4


def answered_moments(connection: Connection, project_id: int, most: int) -> list[str]:
    """Return the ends of the periods in which something was answered or a snapshot was taken.

    Periods are days, or hours or minutes if all was within a few. Days are dates. Of
    more than ``most`` some are left out at even distances, never the first or the last; so are
    those that are not over.
    """
    labels = (select(one.labeled_at.label("at")).where(one.project_id == project_id)
              for one in (Label, PastLabel))  # fmt: skip
    taken = select(Snapshot.taken_at).where(Snapshot.project_id == project_id)
    times = union_all(*labels, taken).subquery("times").c.at
    first, last = connection.execute(select(func.min(times), func.max(times))).one()
    if first is None:
        return []
    width = next((one for one in _WIDTHS if (last - first) // one > _FEW), _MINUTE)
    period = (type_coerce(times, BigInteger) // width).label("period")
    ends = [
        (number + 1) * width
        for number in connection.scalars(select(period).distinct().order_by(period))
    ]
    now = clock.now()
    return [_text(end, width) for end in _thinned([end for end in ends if end <= now], most)]


def _thinned(found: list[int], most: int) -> list[int]:
    if len(found) <= most:
        return found
    return [found[place * (len(found) - 1) // (most - 1)] for place in range(most)]


def _text(end: int, width: int) -> str:
    return clock.iso(end - 1)[:10] if width == _DAY else clock.iso(end)
