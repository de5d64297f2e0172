"""What all the catalogue's rooms share: names as users may write them."""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from tracker.core.errors import InvalidOption

LONGEST_NAME = 500
"""Bytes of UTF-8 that a name may have."""

LONGEST_TEXT = 10_000
"""Bytes of UTF-8 that a note may have."""

# Python would also read "1_000" and the digits of other scripts; a spreadsheet would not.
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def near_names(name: str, names: Iterable[str], cutoff: float = 0.5) -> str | None:
    """Return advice with the names nearest to a mistaken one; None if none is near."""
    from difflib import get_close_matches  # only for a mistake

    matches = get_close_matches(name, list(names), n=3, cutoff=cutoff)
    return f"did you mean {' or '.join(map(repr, matches))}?" if matches else None


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def look_alike_names(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return names that differ only in case, inner spaces or the form of their characters."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(_folded(name), []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def resembling_names(new: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return for new names a known one that differs by a slip in one of its words.

    Names that differ in their digits, in their first three characters, or in a short word do not
    resemble each other; each is compared with 100 that begin alike.
    """
    by_beginning: dict[str, list[tuple[str, str]]] = {}
    for name in known:
        folded = _folded(name)
        by_beginning.setdefault(folded[:3], []).append((folded, name))
    resembling = {}
    for name in new:
        folded = _folded(name)
        for other, original in by_beginning.get(folded[:3], [])[:100]:
            if original != name and _differ_by_slip(folded, other):
                resembling[name] = original
                break
    return resembling


_BETWEEN_WORDS = re.compile(r"[\W_]+")


def _differ_by_slip(name: str, other: str) -> bool:
    words, others = _BETWEEN_WORDS.split(name), _BETWEEN_WORDS.split(other)
    pairs = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    if len(words) != len(others) or len(pairs) != 1:
        return False
    from difflib import SequenceMatcher  # only for new names

    short, long = sorted(pairs[0], key=len)
    if len(short) < 5 or not (short + long).isalpha():
        return False
    blocks = SequenceMatcher(None, short, long, autojunk=False).get_matching_blocks()
    same = sum(block.size for block in blocks)
    return len(short) - same < 2 and len(long) - same <= 2


def check_entered_name(name: str, noun: str) -> str:
    """Return the name less surrounding space; raises InvalidOption if it cannot be one."""
    stripped = name.strip()
    if not stripped:
        raise InvalidOption(f"the {noun}'s name is empty")
    if len(stripped.encode()) > LONGEST_NAME:
        raise InvalidOption(f"the {noun}'s name is longer than {LONGEST_NAME} bytes")
    if "\0" in stripped:
        raise InvalidOption(f"the {noun}'s name holds a NUL character")
    return stripped


def check_entered_text(text: str, noun: str) -> str:
    """Return the text less surrounding space; raises InvalidOption if it cannot be kept."""
    stripped = text.strip()
    if not stripped:
        raise InvalidOption(f"the {noun} is empty", "say what happened")
    # NUL, and bytes of the command line that were not UTF-8.
    if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in stripped):
        raise InvalidOption(f"the {noun} holds something that is not a character")
    if len(stripped.encode()) > LONGEST_TEXT:
        raise InvalidOption(f"the {noun} is longer than {LONGEST_TEXT:,} bytes", "shorten it")
    return stripped


def is_numeric_category_name(name: str) -> bool:
    """Return whether a category's name is a finite number as every program would read it."""
    return _NUMBER.fullmatch(name) is not None and abs(float(name)) < float("inf")


def is_structured_name(text: str) -> bool:
    """Return whether a text is a list or an object as JSON or Python writes them."""
    if text[:1] + text[-1:] not in {"[]", "{}"}:
        return False
    for read in (json.loads, ast.literal_eval):
        try:
            return isinstance(read(text), list | dict | set)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return False


def category_unfit_for_scale(scale: str, category: str) -> str | None:
    """Return why a category cannot be of a scale ("is not a number …"); None if it can."""
    if scale not in {"interval", "ratio"}:
        return None
    if not is_numeric_category_name(category):
        return f"is not a number, as a scale of {scale} needs"
    if scale == "ratio" and float(category) < 0:
        return "is negative, as no value of a ratio scale is"
    return None
