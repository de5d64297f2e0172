"""Preferences: which of two things a category says is better, in the words of people and files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from tracker.core.errors import InvalidOption

PREFERENCE: Final = "preference"
"""What an answer is called that says which of two things, ``a`` or ``b``, is better.

The ledger holds it as one category, with which it is counted."""
FIRST, TIE, SECOND = "a", "tie", "b"
SIDES: Final = (FIRST, TIE, SECOND)
"""What an answer can say; the categories of a question that declares no others."""

_NOUN = (
    r"(?:the\s+)?(?:(?:model|system|response|answer|assistant|option|output|completion|text)\s*)?"
)
_PLACES: Final = {FIRST: "a|1|left|first|one", SECOND: "b|2|right|second|two"}
_HOW = r"(?:\s+(?:is|was|wins?|won|much|far|clearly|slightly|significantly|better|preferred))*"
_SIDE: Final = {
    side: re.compile(rf"{_NOUN}(?:{places})(?:\s+(?:model|response|answer|one))?{_HOW}")
    for side, places in _PLACES.items()
}
_TIE: Final = re.compile(
    r"ties?|tied|draw|equal(?:ly good|ly bad)?|same|about the same|no (?:preference|difference)"
    r"|(?:(?:the|both|are|about) )*(?:equal|same)|both(?:\s*(?:are\s*)?(?:good|bad))?|neither"
    r"|tie \((?:both\s*bad|both\s*good)\)|a\s*[=~≈]+\s*b|b\s*[=~≈]+\s*a|="
)
_ORDER: Final = re.compile(r"(?P<one>[ab])\s*(?P<sign>>+|<+)\s*(?P<other>[ab])")
_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?")


def folded_preference(text: str) -> str:
    """Return a text as preferences are compared: ``[[A]]`` and ``Model_A`` in small letters."""
    return re.sub(r"(?<=\w)[\s_-]+(?=\w)", " ", text.casefold().strip("[]\"' \t\n"))


def side_of(text: str, *, signed: bool = True) -> str | None:
    """Return what a text says: ``a`` is better, ``b`` is, ``tie``; None if it does not say it.

    A ``signed`` number is how much better the second is: -3 for a first one that is much better.
    Else 1 and 2 are the first and the second, and no other number says anything.
    """
    text = folded_preference(text)
    if _NUMBER.fullmatch(text) and (signed or text not in {"1", "2"}):
        value = float(text)
        return None if not signed else FIRST if value < 0 else SECOND if value > 0 else TIE
    if order := _ORDER.fullmatch(text):
        better, worse = order["one"], order["other"]
        if order["sign"][0] == "<":
            better, worse = worse, better
        return None if better == worse else better
    if _TIE.fullmatch(text):
        return TIE
    return next((side for side, fits in _SIDE.items() if fits.fullmatch(text)), None)


def check_preferences(categories: Iterable[str]) -> None:
    """Raise InvalidOption for a category that does not say which of two is better, or a tie."""
    for name in categories:
        if side_of(name) is None:
            raise InvalidOption(
                f"the category {name!r} of a preference says neither that a or b is better, "
                "nor a tie",
                "such as: a,tie,b; a>>b,a>b,tie,b>a,b>>a; or -3,-2,-1,0,1,2,3",
            )
