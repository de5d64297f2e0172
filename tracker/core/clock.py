"""Moments as the ledger stores them: whole microseconds since 1970-01-01T00:00Z."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
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

SKEW = 5 * 60 * 1_000_000
"""How far ahead of ours another tool's clock may run before a time counts as the future."""


def now() -> int:
    """Return the present moment, in microseconds."""
    return (datetime.now(UTC) - _EPOCH) // _MICROSECOND


def iso(moment: int) -> str:
    """Return a moment as ISO 8601 in UTC with ``Z``; with a fraction only if there is one."""
    return (_EPOCH + moment * _MICROSECOND).isoformat().replace("+00:00", "Z")


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


def parse_human_time(text: str, *, now: int, end_of_day: bool) -> int:
    """Return the moment in a person's words: ISO 8601 (no zone is UTC), a date, or how long ago.

    A date is its day's first microsecond, or its last with ``end_of_day``, so that a span
    from one date to another holds both days. ``7d``, ``36h`` and ``3 weeks ago`` count back
    from ``now``. Raises ValueError if the text is none of these.
    """
    words = " ".join(text.split())
    ago = _AGO.fullmatch(words)
    if ago is not None:
        unit = (ago[2] or ago[3]).lower()
        return _within(now - int(ago[1]) * _MINUTES[unit] * 60_000_000, text)
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            return moment_of_datetime(read(words), end_of_day=end_of_day)
        except ValueError:
            continue
    raise ValueError(f"{text!r} is no time")


def moment_of_datetime(value: date, *, end_of_day: bool) -> int:
    """Return the moment of a datetime (no zone is UTC), or the first or last of a date's day.

    Raises ValueError for one that lies outside the years 1 to 9999 in UTC.
    """
    if not isinstance(value, datetime):
        value = datetime.combine(value, time.max if end_of_day else time.min)
    moment = (value.replace(tzinfo=value.tzinfo or UTC) - _EPOCH) // _MICROSECOND
    return _within(moment, str(value))


def _within(moment: int, text: str) -> int:
    if not FIRST <= moment <= _LAST:
        raise ValueError(f"{text!r} lies outside the years 1 to 9999")
    return moment
