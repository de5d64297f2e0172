"""Dates as people write them: day, month and year in some order, or the names of months."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

from tracker.core import clock
from tracker.core.errors import InvalidOption

Moment = Callable[[str], int]
"""Reads a cell as a moment; raises ValueError."""

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
_YEAR, _DIGIT = re.compile(r"\b\d{4}\b"), re.compile(r"\d+")


def read_moment(text: str) -> int:
    """Return the moment of a cell that can be read in one way only; raises ValueError.

    That is ISO 8601, seconds or milliseconds since 1970, a date that begins with its year, or one
    that names its month.
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
            return _moment(named, named["year"], _month(named["month"]), named["day"])
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
            "such as: --date-format '%d.%m.%Y %H:%M'",
        )

    def read(text: str) -> int:
        try:
            moment = datetime.strptime(text, form)  # noqa: DTZ007 - without a zone it is UTC
            return clock.moment_of_datetime(moment, end_of_day=False)
        except ValueError:
            raise ValueError(f"{text!r} is no date of the form {form!r}") from None

    return read


class DateOrder:
    """The orders of day, month and year in which all dates of a column can be read."""

    def __init__(self, mark: str = "/") -> None:
        self.left = {*ORDERS}
        self.mark = mark
        self.doubtful: str | None = None
        self._forms: dict[str, str] = {}  # an example of each form, but for its order
        self._only: dict[str, str] = {}  # an example that only one order reads

    def see(self, texts: Iterable[str]) -> None:
        """Leave out the orders in which one of these cells is no date."""
        for text in texts:
            if not text.strip():
                continue
            orders = _orders_of(text)
            if not orders or orders == {"ymd"}:
                self._forms.setdefault("", "")
                continue
            if len(self._forms) < 2:
                self._forms.setdefault(_DIGIT.sub("0", _YEAR.sub("Y", text.strip())), text.strip())
            if len(orders) == 1:
                self._only.setdefault(min(orders), text.strip())
            elif (
                self.doubtful is None
                and len({_moment_in_order(text, order) for order in orders}) > 1
            ):
                self.doubtful = text.strip()
            self.left &= orders
            self.mark = _NUMBERS.match(text.strip())["mark"]  # type: ignore[index]

    @property
    def contradiction(self) -> tuple[str, str] | None:
        """Two cells that no order reads both; None if one reads them all."""
        first, second, *_ = (*self._only.values(), self.doubtful or "", "")
        return None if self.left else (first, second)

    def in_words(self, order: str) -> str:
        """Return an order as the column writes it: ``day.month.year``."""
        return ORDERS[order].format(self.mark)

    def date_format(self, order: str) -> str:
        """Return how dates of this order are written, for ``--date-format``.

        It is the order in words if they are written in several ways, or with more than seconds.
        """
        [*forms] = self._forms.values()
        if len(forms) != 1 or not (written := _NUMBERS.fullmatch(forms[0])):
            return self.in_words(order)
        if written["fraction"] or written["zone"]:
            return self.in_words(order)
        return ordered_date_format(forms[0], order)

    def day(self, text: str, order: str) -> str:
        """Return the day of a cell in this order, with the name of its month."""
        day = datetime.fromisoformat(clock.iso(_moment_in_order(text, order)))
        return f"{day.day} {_MONTHS[day.month - 1].title()} {day.year}"

    def reader(self, order: str) -> Moment:
        """Return a reader of dates in this order, and of those that leave no doubt."""

        def read(text: str) -> int:
            try:
                return read_moment(text)
            except ValueError:
                with suppress(ValueError):
                    return _moment_in_order(text, order)
                raise ValueError(f"{text!r} is no date written {self.in_words(order)}") from None

        return read


def ordered_date_format(text: str, order: str) -> str:
    """Return the format, as `datetime.strptime` has it, of a date in this order."""
    written = _NUMBERS.fullmatch(text)
    assert written is not None
    year = "%Y" if 4 in {len(written["first"]), len(written["last"])} else "%y"
    form = written["mark"].join(year if part == "y" else f"%{part}" for part in order)
    if written["hour"] is None:
        return form
    between = text[written.end("last") : written.start("hour")]
    clock_form = "%I:%M" if written["half"] else "%H:%M"
    seconds = ":%S" if written["second"] else ""
    return f"{form}{between}{clock_form}{seconds}{' %p' if written['half'] else ''}"


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
    return {order for order in possible if _is_date(text, order)}


def _is_date(text: str, order: str) -> bool:
    try:
        _moment_in_order(text, order)
    except ValueError:
        return False
    return True


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


def _month(name: str) -> int:
    """Return the number of a month by its English name, whole or cut off; 0 if it is none."""
    return next((n for n, month in enumerate(_MONTHS, 1) if month.startswith(name.lower())), 0)
