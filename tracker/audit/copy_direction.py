"""Of two whose answers were found to be copied: whose came later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from tracker import queries
from tracker.audit.finding import Flag
from tracker.queries import Selection


def in_order(connection: Connection, selection: Selection, found: Sequence[Flag]) -> list[Flag]:
    """Return the flags; those of copying with how often each one's answers came later.

    Counted are the items that both answered alike; on some of them the times may not be known.
    """
    pairs = {
        (flag.annotator, flag.other): flag
        for flag in found
        if flag.state == "flagged" and flag.other is not None
    }
    orders = queries.pair_order(connection, selection, list(pairs)) if pairs else {}
    return [
        _with_order(flag, orders[flag.annotator, flag.other])
        if flag.other is not None and (flag.annotator, flag.other) in orders
        else flag
        for flag in found
    ]


def _with_order(flag: Flag, order: tuple[int, int, int]) -> Flag:
    first, second, _ = order
    details = dict(flag.details) | {
        "answered_alike": sum(order),
        "first_later": second,
        "second_later": first,
    }
    return replace(flag, details=details)
