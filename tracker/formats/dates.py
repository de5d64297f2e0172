"""Dates as people write them: day, month and year in some order, or the names of months."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Any

from tracker.core import clock
from tracker.core.errors import InvalidOption

Moment = Callable[[str], int]  # reads a cell as a moment; raises ValueError

_TIME = (
    r"(?:[,\sT]+(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2})"
    r"(?:[.,](?P<fraction>\d{1,6})\d*)?)?(?:\s*(?P<half>[ap])\.?m\.?)?)?"
)
_ZONE = r"(?:\s*(?P<zone>(?:UTC|GMT)?[+-]\d{2}:?\d{2}|[A-Z]{1,4})(?:\s*\(.*\))?)?"
_WEEKDAY = r"(?:[a-z]{2,9}\.?,?\s+)?"
_NUMBERS = re.compile(
    r"(?P<first>\d{1,4})(?P<mark>[./-])(?P<second_>\d{1,2})(?P=mark)(?P<last>\d{1,4})"
    + _TIME + _ZONE, re.IGNORECASE
)  # fmt: skip
_DOTTED = re.compile(r"\s*\d+\.")
_NAMED = tuple(
    re.compile(_WEEKDAY + form + _ZONE if "zone" not in form else _WEEKDAY + form, re.IGNORECASE)
    for form in (
        r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?[\s-]+(?P<month>[a-z]{3,9})\.?,?[\s-]+"
        r"(?P<year>\d{4}|\d{2})" + _TIME,
        r"(?P<month>[a-z]{3,9})\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year>\d{4})" + _TIME,
        r"(?P<month>[a-z]{3,9})\s+(?P<day>\d{1,2})" + _TIME + r"\s+(?P<zone>[A-Z]{3,4})\s+"
        r"(?P<year>\d{4})",
    )
)
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september",
           "october", "november", "december")  # fmt: skip
_ZONES = {"Z": 0, "UTC": 0, "GMT": 0, "EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6,
          "MST": -7, "PDT": -7, "PST": -8}  # fmt: skip

ORDERS = {"dmy": "day{0}month{0}year", "mdy": "month{0}day{0}year", "ymd": "year{0}month{0}day"}
"""The orders in which a date may be written, in words; ``{0}`` is what stands between."""
_ORDERS_IN_WORDS = {
    words.format(mark): order for order, words in ORDERS.items() for mark in ("/", ".", "-")
}


def read_moment(text: str) -> int:
    """Return the moment of a cell that can be read in one way only; raises ValueError.

    That is ISO 8601, seconds or milliseconds since 1970, or a date with its year first or a month.
    """
    try:
        return clock.parse_timestamp(text)
    except ValueError:
        with suppress(ValueError):
            return _moment_with_one_reading(text)
        raise


def _moment_with_one_reading(text: str) -> int:
    for form in _NAMED:
        if (named := form.fullmatch(text)) is not None:
            name = named["month"].lower()  # in English, whole or cut off
            month = next((n for n, month in enumerate(_MONTHS, 1) if month.startswith(name)), 0)
            return _moment(named, named["year"], month, named["day"])
    if re.match(r"\d{4}", text) is None:
        raise ValueError
    return _moment_in_order(text, "ymd")


def date_format_reader(form: str) -> Moment:
    """Return a reader of dates as `datetime.strptime` has them, or of dates in an order.

    An order is one of `ORDERS`, such as ``day.month.year``. Raises InvalidOption.
    """
    if (order := _ORDERS_IN_WORDS.get(form)) is not None:
        return DateOrder(re.sub(r"[a-z]", "", form)[0]).reader(order)
    example = datetime(2024, 2, 25, 13, 45, tzinfo=UTC)
    try:  # without a year Python 3.13 warns of leap days
        day = re.search("%[YyGcx]", form) and datetime.strptime(example.strftime(form), form).date()  # noqa: DTZ007
    except (ValueError, re.error):
        day = None
    if day != example.date():
        raise InvalidOption(
            f"--date-format {form!r} does not say where year, month and day are",
            "such as: --date-format day.month.year",
        )

    def read(text: str) -> int:
        try:
            moment = datetime.strptime(text, form)  # noqa: DTZ007 - without a zone it is UTC
            return clock.moment_of_datetime(moment, end_of_day=False)
        except ValueError:
            if not form.startswith("%Y"):
                with suppress(ValueError):
                    return read_moment(text)
            raise ValueError(f"{text!r} is no date of the form {form!r}") from None

    return read


class DateOrder:
    """The orders of day, month and year in which all dates of a column can be read.

    Dates with dots have the day first if all of them can.
    """

    def __init__(self, mark: str = ".") -> None:
        self.mark = mark
        self.doubtful: str | None = None
        self._left = {".": {*ORDERS}, "": {*ORDERS}}  # of dates with dots, and of others
        self._only: dict[tuple[str, str], str] = {}  # an example that only one order reads

    @property
    def left(self) -> set[str]:
        if self.mark != ".":
            return self._left[""]
        return self._left["."] & {"dmy"} or self._left["."]

    def see(self, texts: Iterable[str]) -> None:
        """Leave out the orders in which one of these cells is no date."""
        for text in texts:
            orders = _orders_of(text)
            if not orders or orders == {"ymd"}:
                continue
            mark = _NUMBERS.match(text.strip())["mark"]  # type: ignore[index]
            kind = "." if mark == "." else ""
            self.mark = self.mark if kind else mark
            if len(orders) == 1:
                self._only.setdefault((kind, min(orders)), text.strip())
            elif not (kind or self.doubtful):
                different = len({_moment_in_order(text, order) for order in orders}) > 1
                self.doubtful = text.strip() if different else None
            self._left[kind] &= orders

    @property
    def contradiction(self) -> tuple[str, str] | None:
        """Two cells that no order reads both; None if one reads them all."""
        for kind, orders in self._left.items():
            only = [text for (mark, _), text in self._only.items() if mark == kind]
            if not orders:
                return only[0], only[1] if only[1:] else self.doubtful or ""
        return None

    def in_words(self, order: str) -> str:
        """Return an order as the column writes it, and ``--date-format`` has it."""
        return ORDERS[order].format(self.mark)

    def day(self, text: str, order: str) -> str:
        """Return the day of a cell in this order, with the name of its month."""
        day = datetime.fromisoformat(clock.iso(_moment_in_order(text, order)))
        return f"{day.day} {_MONTHS[day.month - 1].title()} {day.year}"

    def reader(self, order: str) -> Moment:
        """Return a reader of dates in this order, and of those that leave no doubt.

        Dates with dots have the day first unless the order is of such dates.
        """
        dotted = order if self.mark == "." else "dmy"

        def read(text: str) -> int:
            try:
                return read_moment(text)
            except ValueError:
                with suppress(ValueError):
                    return _moment_in_order(text, dotted if _DOTTED.match(text) else order)
                raise ValueError(f"{text!r} is no date written {self.in_words(order)}") from None

        return read


def _orders_of(text: str) -> set[str]:
    """Return the orders in which a cell is a date; none if it is not a date of three numbers."""
    written = _NUMBERS.fullmatch(text.strip())
    if written is None:
        return set()
    if len(written["first"]) > 2:
        possible = {"ymd"} if len(written["first"]) == 4 else set()
    else:
        possible = {"dmy", "mdy"}
        if len(written["last"]) < 4 and written["mark"] == "-":
            possible.add("ymd")
    readers = {order: partial(_moment_in_order, order=order) for order in possible}
    return {order for order, read in readers.items() if is_readable(text, read)}


def are_dates(cells: Iterable[str]) -> bool:
    """Return whether the first cells that are not numbers are dates, perhaps in several orders."""
    texts = [cell for cell in cells if re.fullmatch(r"[\d.,]*\d", cell) is None or _orders_of(cell)]
    return bool(texts) and all(is_readable(t, read_moment) or _orders_of(t) for t in texts[:5])


def is_readable(text: str, read: Callable[[str], Any]) -> bool:
    """Return whether a reader of cells reads a text; it raises ValueError or OverflowError."""
    with suppress(ValueError, OverflowError):
        read(text)
        return True
    return False


def _moment_in_order(text: str, order: str) -> int:
    written = _NUMBERS.fullmatch(text.strip())
    if written is None:
        raise ValueError
    parts = dict(zip(order, (written["first"], written["second_"], written["last"]), strict=True))
    return _moment(written, parts["y"], int(parts["m"]), parts["d"])


def _moment(written: re.Match[str], year: str, month: int, day: str) -> int:
    if len(year) not in {2, 4}:
        raise ValueError
    full = int(year) if len(year) == 4 else int(year) + (1900 if int(year) >= 69 else 2000)
    hour, half = int(written["hour"] or 0), (written["half"] or "").lower()
    if half and not 1 <= hour <= 12:
        raise ValueError
    moment = datetime(
        full, month, int(day),
        hour % 12 + 12 * (half == "p") if half else hour,
        int(written["minute"] or 0), int(written["second"] or 0),
        int((written["fraction"] or "").ljust(6, "0")), _zone(written["zone"]),
    )  # fmt: skip
    return clock.moment_of_datetime(moment, end_of_day=False)


def _zone(zone: str | None) -> timezone:
    """Return a zone by its name or its distance from UTC; raises ValueError."""
    if zone is None:
        return UTC
    if (hours := _ZONES.get(zone.upper())) is not None:
        return timezone(timedelta(hours=hours))
    sign, digits = zone.lstrip("UTCGMutcgm")[:1], re.sub(r"\D", "", zone)
    if sign not in {"+", "-"} or len(digits) != 4:
        raise ValueError
    away = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-away if sign == "-" else away)
