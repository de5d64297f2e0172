"""Times of a table whose dates are written in an order that only the whole column tells."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from shlex import quote
from typing import Any, Protocol

from tracker.core.errors import Refused
from tracker.imports.batch import Batch, Cells
from tracker.imports.column_roles import Layout
from tracker.imports.dates import ORDERS, DateOrder, date_format_reader
from tracker.imports.readers.reader import Reading
from tracker.imports.readers.source import ReadAs

_IN_MEMORY = 64 * 1024 * 1024  # bytes of batches that wait for the end of a file
_IN_ORDER = r"^\s*\d{1,3}[./-]\d{1,2}[./-]"


class Table(Protocol):
    """What has columns with names."""

    name: str
    layout: ReadAs | None
    facts: dict[str, Any]


def with_read_dates(batches: Iterator[Batch], table: Table, reading: Reading) -> Iterator[Batch]:
    """Yield the batches of a table, each with the reader of its times.

    From the first batch that has dates such as 1/2/2026, batches wait in a temporary file until all
    dates were seen. Raises Refused if these can be read in two ways, or no way reads all.
    """
    if reading.options.date_format is not None:
        moment = date_format_reader(reading.options.date_format)
        yield from (replace(batch, moment=moment) for batch in batches)
        return
    for batch in batches:
        times = batch.columns.get("labeled_at")
        if times is not None and _in_order(times):
            yield from _in_one_order(chain([batch], batches), table)
        else:
            yield batch
        del batch


def _in_order(times: Cells) -> bool:
    """Return whether there may be dates that do not begin with their year."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(times.distinct, _IN_ORDER)).as_py())


def _in_one_order(batches: Iterator[Batch], table: Table) -> Iterator[Batch]:
    order, number = DateOrder(), 0
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as waiting:
        for batch in batches:
            number += 1
            order.see(batch.columns["labeled_at"].texts)
            pickle.dump(batch, waiting)
        layout = table.layout
        assert isinstance(layout, Layout)
        column = layout.names[layout.roles["labeled_at"]]
        chosen = _chosen(order, table.name, column)
        table.layout = replace(layout, dates=order.in_words(chosen))
        table.facts["date_format"] = order.date_format(chosen)
        moment = order.reader(chosen)
        waiting.seek(0)
        for _ in range(number):
            yield replace(pickle.load(waiting), moment=moment)  # noqa: S301 - written just now


def _chosen(order: DateOrder, name: str, column: str) -> str:
    """Return the order of a column's dates. Raises Refused if that is in doubt."""
    without = f"leave out the column: --ignore {quote(column)}"
    if (found := order.contradiction) is not None:
        raise Refused(
            f"{name}: no order of day and month reads both {found[0]!r} and {found[1]!r} "
            f"in {column!r}",
            f"write the dates in one way, or {without}",
        )
    if order.doubtful is not None and len(order.left) > 1:
        told = sorted(order.left, key=[*ORDERS].index)[:2]
        days = [order.day(order.doubtful, one) for one in told]
        # Who writes points has the day first.
        forms = [order.date_format(one) for one in told if order.mark != "." or one != "mdy"]
        ways = " or ".join(f"--date-format {quote(form)}" for form in forms)
        raise Refused(
            f"{name}: {order.doubtful!r} in {column!r} may be {days[0]} or {days[1]}",
            f"say {'which' if forms[1:] else 'how'}: {ways}; or {without}",
        )
    return min(order.left)
