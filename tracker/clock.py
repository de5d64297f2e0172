"""Moments as the ledger keeps them: whole microseconds since 1970-01-01T00:00Z."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

__all__ = ["SKEW", "iso", "now", "parse_labelled_at"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND

SKEW = 5 * 60 * 1_000_000
"""How far ahead of ours another tool's clock may run before a time counts as the future."""


def now() -> int:
    """This moment, in microseconds."""
    return (datetime.now(UTC) - _EPOCH) // _MICROSECOND


def iso(moment: int) -> str:
    """A moment as ISO 8601 in UTC with ``Z``; a fraction only where there is one."""
    return (_EPOCH + moment * _MICROSECOND).isoformat().replace("+00:00", "Z")


def parse_labelled_at(text: str) -> int:
    """The moment that a data file means: ISO 8601 (no zone is UTC) or epoch seconds.

    Raises ValueError where it is neither. Eight digits are a date, as ISO 8601 has it.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            value = round(float(text) * 1_000_000)
        except (ValueError, OverflowError):
            raise ValueError(f"{text!r} is neither ISO 8601 nor epoch seconds") from None
    else:
        value = (moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH) // _MICROSECOND
    if value < _FIRST:
        raise ValueError(f"{text!r} is neither ISO 8601 nor epoch seconds")
    return value
