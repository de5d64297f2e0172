"""The tables of agreement, declared once for the terminal, the report and the pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tracker.agreement.sentences import reason
from tracker.render.blocks import Column
from tracker.render.cells import interval_cell

_TERMINAL: Final = ("terminal",)


def _interval(row: Mapping[str, Any]) -> str:
    """Return the interval of a rate, or why there is no rate."""
    if row["rate"] is None:
        return reason(row)
    return interval_cell(row["ci_low"], row["ci_high"])


CATEGORY_COLUMNS: Final = (
    Column("question", kind="name", rare=True),
    Column("category", kind="name", leads="category"),
    Column("rate", kind="figure"),
    Column("rate", "0 to 1", kind="range", faces=("terminal", "page")),
    Column("standard_error", "se", kind="figure", faces=_TERMINAL),
    Column("ci_low", "{level} interval", kind="interval", text=_interval),
    Column("agreements", kind="count"),
    Column("potential_agreements", "potential", kind="count"),
    Column("labels", kind="count", leads="items"),
    Column("specific_agreement", kind="figure", faces=_TERMINAL),
)


def category_columns(level: str = "95%") -> list[Column]:
    """Return the columns of the table of categories; ``level`` is that of the intervals."""
    return [
        column._replace(title=column.heading.format(level=level)) for column in CATEGORY_COLUMNS
    ]
