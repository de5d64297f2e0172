"""Numbers of things in words."""

from __future__ import annotations

from collections.abc import Sequence


def count_noun(number: int, noun: str) -> str:
    """Return a number of things: "1 item", "2,000 items"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(share: float | None) -> str:
    """Return a share as a whole percentage that is 0 or 100 only if it is that."""
    if share is None:
        return "-"
    text = f"{share:.0%}"
    return f"{share:.2%}" if text in {"0%", "100%"} and share not in {0.0, 1.0} else text


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return names as a sentence has them: a, b and 3 more."""
    if len(names) > most:
        return first_names(names, most)
    *first, last = names or [""]
    return f"{', '.join(first)} and {last}" if first else last


def first_names(names: Sequence[str], most: int, between: str = ", ") -> str:
    rest = len(names) - most
    return between.join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def quoted(category: str) -> str:
    """Return a category's name as a sentence has it."""
    return f"“{category}”"


def is_or_are(number: int) -> str:
    return "is" if number == 1 else "are"


def capitalized(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def of_question(name: str) -> str:
    """Return the beginning of a sentence about one of several questions."""
    return f"Of {quoted(name)}: "
