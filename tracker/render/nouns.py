"""Numbers of things in words."""

from __future__ import annotations


def count_noun(number: int, noun: str) -> str:
    """Return a number of things: "1 item", "2,000 items"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
