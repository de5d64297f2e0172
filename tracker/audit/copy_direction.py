"""Of two whose answers were found to be copied: whose came later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from tracker import queries
from tracker.audit.findings import Flag
from tracker.queries import Selection

__all__ = ["in_order"]

_NEARLY_ALWAYS = 0.95


def in_order(connection: Connection, selection: Selection, found: Sequence[Flag]) -> list[Flag]:
    """The flags; those of copying say whose answers came later, where the times tell.

    They do where of all items that both answered alike the times are known, and the same one's
    came later on nearly all.
    """
    pairs = {
        (flag.annotator, flag.other): flag
        for flag in found
        if flag.state == "flagged" and flag.other is not None
    }
    orders = queries.pair_order(connection, selection, list(pairs)) if pairs else {}
    return [
        _told(flag, orders[flag.annotator, flag.other])
        if flag.other is not None and (flag.annotator, flag.other) in orders
        else flag
        for flag in found
    ]


def _told(flag: Flag, order: tuple[int, int, int]) -> Flag:
    first, second, unknown = order
    details = dict(flag.details) | {
        "answered_alike": sum(order),
        "first_later": second,
        "second_later": first,
    }
    told = "who answered first is not known"
    if not unknown and max(first, second) >= _NEARLY_ALWAYS * sum(order):
        later = "{other}" if first > second else "{annotator}"
        told = f"{later} answered later on {max(first, second)} of {sum(order)} answered alike"
    elif not unknown:
        told = "neither consistently answered first"
    why = (flag.why or "").removesuffix(".")
    return replace(flag, details=details, why=f"{why}; {told}.")
