"""Moments as the ledger stores them: whole microseconds since 1970-01-01T00:00Z."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_OF_NO_ZONE = datetime(1970, 1, 1)  # noqa: DTZ001 - a text is made of it sooner
_MICROSECOND = timedelta(microseconds=1)
FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
"""The first moment of the year 1."""
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_AGO = re.compile(
    r"([0-9]{1,9}) *(?:(d|h|w)|(minute|hour|day|week)s?)(?: +ago)?", re.ASCII | re.IGNORECASE
)
_MINUTES = {"minute": 1, "hour": 60, "h": 60, "day": 1440, "d": 1440, "week": 10080, "w": 10080}

_LEAST_MS = 1e11
"""The least number that is taken for epoch milliseconds; as seconds it lies in the year 5138."""

DAY = 86_400_000_000
"""Microseconds of a day of 24 hours."""
_FIRST_OFFSETS = 1990
"""Answers are not older: the year from which on changes of a zone's offset are looked for."""

SKEW = 5 * 60 * 1_000_000
"""How far ahead of ours another tool's clock may run before a time counts as the future."""


def now() -> int:
    """Return the present moment, in microseconds."""
    return (datetime.now(UTC) - _EPOCH) // _MICROSECOND


def iso(moment: int) -> str:
    """Return a moment as ISO 8601 in UTC with ``Z``; with a fraction only if there is one."""
    return f"{(_EPOCH_OF_NO_ZONE + timedelta(0, 0, moment)).isoformat()}Z"


def parse_timestamp(text: str) -> int:
    """Return the moment in a data file: ISO 8601 (no zone is UTC), epoch seconds or milliseconds.

    Raises ValueError if it is none. Eight digits are a date, as ISO 8601 has it; a number
    too large for seconds before the year 5000 is one of milliseconds.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            number = float(text)
            unit = 1_000 if _LEAST_MS <= abs(number) < 1_000 * _LEAST_MS else 1_000_000
            value = round(number * unit)
        except (ValueError, OverflowError):
            raise ValueError(f"{text!r} is neither ISO 8601 nor epoch seconds") from None
    else:
        value = (moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH) // _MICROSECOND
    if not FIRST <= value <= _LAST:
        raise ValueError(f"{text!r} is neither ISO 8601 nor epoch seconds")
    return value


def zone_named(name: str | None) -> tzinfo:
    """Return a time zone by its name, such as Europe/Berlin; None is UTC.

    Raises ValueError for a name that is none.
    """
    if name is None:
        return UTC
    try:
        return ZoneInfo(name)
    except (OSError, KeyError, ValueError):
        raise ValueError(f"{name!r} is no time zone") from None


def local_time(moment: int, zone: str | None) -> datetime:
    """Return a moment as the clocks of a time zone show it."""
    return (_EPOCH + moment * _MICROSECOND).astimezone(zone_named(zone))


def day_of_moment(moment: int, zone: str | None) -> date:
    """Return the day that a moment lies in, in a time zone."""
    return local_time(moment, zone).date()


def day_number(moment: int, zone: str | None) -> int:
    """Return the day that a moment lies in, in a time zone, as days since 1970-01-01."""
    return (day_of_moment(moment, zone) - _EPOCH.date()).days


def end_of_day_number(day: int, zone: str | None) -> int:
    """Return the last moment of a day, counted from 1970-01-01, in a time zone."""
    return moment_of_datetime(date_of_number(day), end_of_day=True, zone=zone)


def date_of_number(day: int) -> date:
    """Return a day by its number, counted from 1970-01-01."""
    return _EPOCH.date() + timedelta(days=day)


def moment_of_local(local: int, zone: str | None) -> int:
    """Return the moment at which the clocks of a zone show a time, as microseconds since 1970.

    Of an hour that they show twice it is the first one.
    """
    shown = (_EPOCH + local * _MICROSECOND).replace(tzinfo=zone_named(zone))
    return (shown - _EPOCH) // _MICROSECOND


@cache
def zone_offsets(zone: str, until: int) -> tuple[tuple[int, int], ...]:
    """Return from when on which offset from UTC holds in a zone, in microseconds, newest first.

    They go to the end of the year ``until``; the last one holds for all that was before it, too.
    """
    rules = zone_named(zone)

    def offset(at: datetime) -> timedelta:
        return at.astimezone(rules).utcoffset() or timedelta()

    low = datetime(_FIRST_OFFSETS, 1, 1, tzinfo=UTC)
    offsets = [(low, offset(low))]
    while low.year <= until:
        high = low + timedelta(days=7)
        if offset(high) != offset(low):
            begin, end = low, high
            while end - begin > timedelta(minutes=1):
                middle = begin + (end - begin) / 2
                begin, end = (middle, end) if offset(middle) == offset(low) else (begin, middle)
            offsets.append((end.replace(second=0, microsecond=0), offset(high)))
        low = high
    return tuple(
        ((at - _EPOCH) // _MICROSECOND, offset // _MICROSECOND) for at, offset in reversed(offsets)
    )


def parse_human_time(text: str, *, now: int, end_of_day: bool, zone: str | None = None) -> int:
    """Return the moment in a person's words: ISO 8601 (no zone is UTC), a date, or how long ago.

    A date is its day's first microsecond in a time zone, or its last with ``end_of_day``, so that
    a span from one date to another holds both days. ``7d``, ``36h`` and ``3 weeks ago`` count back
    from ``now``. Raises ValueError if the text is none of these.
    """
    words = " ".join(text.split())
    if words == "now":
        return now
    ago = _AGO.fullmatch(words)
    if ago is not None:
        unit = (ago[2] or ago[3]).lower()
        return _within(now - int(ago[1]) * _MINUTES[unit] * 60_000_000, text)
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            return moment_of_datetime(read(words), end_of_day=end_of_day, zone=zone)
        except ValueError:
            continue
    raise ValueError(f"{text!r} is no time")


def moment_of_datetime(value: date, *, end_of_day: bool, zone: str | None = None) -> int:
    """Return the moment of a datetime (no zone is UTC), or the first or last of a zone's day.

    Raises ValueError for one that lies outside the years 1 to 9999 in UTC.
    """
    if not isinstance(value, datetime):
        if end_of_day and value < date.max:  # an hour may be there twice, or the last one not
            after = value + timedelta(days=1)
            return moment_of_datetime(after, end_of_day=False, zone=zone) - 1
        begin = time.max if end_of_day else time.min
        value = datetime.combine(value, begin, zone_named(zone))
    moment = (value.replace(tzinfo=value.tzinfo or UTC) - _EPOCH) // _MICROSECOND
    return _within(moment, str(value))


def _within(moment: int, text: str) -> int:
    if not FIRST <= moment <= _LAST:
        raise ValueError(f"{text!r} lies outside the years 1 to 9999")
    return moment
