"""What was left out of a file, in words."""

from __future__ import annotations

import re

_OF_A_NOUN = re.compile(r"( (?:to|of|in|on|by|for|from|with|without|that) .*)")


def left_out_words(counted: str) -> str:
    """Return "3 drafts" for "3 draft", and "2 answers to 'tone'" for "2 answer to 'tone'"."""
    number, _, phrase = counted.partition(" ")
    if number == "1":
        return counted
    noun, *rest = _OF_A_NOUN.split(phrase, maxsplit=1)
    ending = "es" if noun.endswith(("s", "x", "ch")) else "s"
    noun = noun[:-1] + "ies" if noun.endswith("y") else noun + ending
    more = "".join(rest)
    if not more.startswith(" of an "):
        more = more.replace(" that is no category", " that are no categories")
        more = more.replace(" that is ", " that are ")
    return f"{number} {noun}{more}"
