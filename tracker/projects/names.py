"""What all the catalogue's rooms share: names as users may write them."""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Iterable
from itertools import chain, takewhile
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


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae"})


def plain_forms(name: str) -> list[str]:
    """Return a name without case and accents, and again with ae for an umlaut."""
    whole = unicodedata.normalize("NFKC", name).casefold()
    forms = []
    for text in dict.fromkeys((whole, whole.translate(_UMLAUTS))):
        signs = unicodedata.normalize("NFKD", text)
        forms.append("".join(sign for sign in signs if not unicodedata.combining(sign)))
    return forms


def resembling_names(new: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return for new names a known one that is probably the same.

    It is if the names differ in nothing but case, accents, spaces and the punctuation beside a
    letter ("very-good", "Very good"); signs at the ends count ("A+", "A-"), and so does what is
    between digits. Or if they differ by a slip: one word of at least six letters has at one place
    one letter in place of another, one more or less, one in place of two ("Servis", "Service"), or
    two exchanged, and all other words and the first three characters are the same. Numbers resemble
    nothing. Of names with a slip each is compared with 100 that begin alike.
    """
    by_key: dict[str, str] = {}
    by_beginning: dict[str, list[tuple[list[str], str]]] = {}
    for name in known:
        if not is_numeric_category_name(name):
            first, *others = plain_forms(name)
            begin_alike = by_beginning.setdefault(first[:3], [])
            if len(begin_alike) < _MOST_COMPARED:
                begin_alike.append((_BETWEEN_WORDS.split(first), name))
            for form in (first, *others):
                by_key.setdefault(_joined(form), name)
    resembling = {}
    for name in new:
        if is_numeric_category_name(name):
            continue
        forms = plain_forms(name)
        words, near = _BETWEEN_WORDS.split(forms[0]), by_beginning.get(forms[0][:3], ())
        same = (by_key.get(_joined(form)) for form in forms)
        slips = (other for others, other in near if _differ_by_slip(words, others))
        for other in chain(same, slips):
            if other not in {None, name}:
                resembling[name] = str(other)
                break
    return resembling


def are_spelt_alike(name: str, other: str) -> bool:
    """Return whether two names differ in nothing but what `resembling_names` has for spelling."""
    return not {*map(_joined, plain_forms(name))}.isdisjoint(map(_joined, plain_forms(other)))


_BETWEEN_WORDS = re.compile(r"[\W_]+")
_BESIDE_LETTERS = re.compile(
    r"(?<=[^\W\d_])[\W_]+(?=[^\W_])|(?<=[^\W_])[\W_]+(?=[^\W\d_])|^\s+|\s+$"
)
_SHORTEST = 6  # letters of a word that may hold a slip
_MOST_COMPARED = 100  # names that begin alike


def _joined(form: str) -> str:
    return _BESIDE_LETTERS.sub("", form)


def _differ_by_slip(words: list[str], others: list[str]) -> bool:
    if len(words) != len(others):
        return False
    pairs = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
    if len(pairs) != 1:
        return False
    short, long = sorted(pairs[0], key=len)
    if len(short) < _SHORTEST or len(long) > len(short) + 1 or not (short + long).isalpha():
        return False
    begin = _alike_at_the_start(short, long)
    end = _alike_at_the_start(short[begin:][::-1], long[begin:][::-1])
    part, other = short[begin : len(short) - end], long[begin : len(long) - end]
    return len(part) < 2 or (len(part) == 2 and part == other[::-1])


def _alike_at_the_start(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


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
