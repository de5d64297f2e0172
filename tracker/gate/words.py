"""Checks and their outcomes in words."""

from __future__ import annotations

from tracker.gate.checks import (
    AtLeast,
    Check,
    Figure,
    ItemsAtLeast,
    MaxDrop,
    NoFlags,
    OverlapAtLeast,
)
from tracker.gate.context import Standing
from tracker.measures import MEASURES
from tracker.snapshots import SnapshotRecord

__all__ = ["apart", "called", "name_of", "sentence", "snapshot_called", "why_none"]

_MOST_DIGITS = 9  # two numbers that agree so far differ by rounding


def name_of(check: Check, category: str | None = None) -> str:
    """A check's name, or what it asks for; ``category`` is the one of each that it is about."""
    if check.name is not None:
        each = isinstance(check, AtLeast | MaxDrop) and category not in {
            None,
            check.figure.category,
        }
        return f"{check.name}: {category}" if each else check.name
    match check:
        case AtLeast(figure=figure, at_least=least, on=on):
            bound = "lower bound of " if on == "ci_low" else ""
            return f"{bound}{_asked(figure, category)} at least {least:g}"
        case MaxDrop(figure=figure, max_drop=drop, since=since):
            then = "the last snapshot" if since is None else f"snapshot {since}"
            return f"{_asked(figure, category)} at most {drop:g} below {then}"
        case NoFlags(kinds=kinds):
            return f"no finding of {', '.join(kinds) or 'any kind'}"
        case ItemsAtLeast(items=items):
            return f"at least {items:,} item{'' if items == 1 else 's'} with two answers"
        case OverlapAtLeast(share=share):
            return f"at least {share:g} of the items with two answers"


def _asked(figure: Figure, category: str | None) -> str:
    return figure.measure or f'agreement on "{category or figure.category}"'


def called(figure: Standing | Figure) -> str:
    """A figure in a sentence."""
    if figure.measure is not None:
        return MEASURES[figure.measure].title
    return f'agreement on "{figure.category}"'


def snapshot_called(snapshot: SnapshotRecord) -> str:
    """A snapshot in a sentence."""
    return f"snapshot {snapshot.id}" + (f" ({snapshot.name})" if snapshot.name else "")


def why_none(figure: Standing) -> str:
    """Why there is no figure."""
    reason = figure.undefined or ""
    if figure.measure is not None:
        return MEASURES[figure.measure].undefined.get(reason, reason.replace("_", " "))
    return "nobody gave it to an item of two answers"


def apart(value: float, other: float) -> tuple[str, str]:
    """Two numbers to three places, or to as many as it takes to tell them apart."""
    for digits in range(3, _MOST_DIGITS):
        shown = f"{value:.{digits}f}", f"{other:.{digits}f}"
        if shown[0] != shown[1]:
            return shown
    return f"{value:.3f}", f"{other:.3f}"


def sentence(text: str) -> str:
    """A text with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."
