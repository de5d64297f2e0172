"""Places in a text that a program counts in UTF-16, as Java and browsers do."""

from __future__ import annotations

from bisect import bisect_left


class CharacterPlaces:
    """The places of a text in characters of Unicode."""

    def __init__(self, text: str) -> None:
        wide = (n for n, one in enumerate(text) if ord(one) > 0xFFFF)
        self._wide = [n + before for before, n in enumerate(wide)]
        """Where the characters that UTF-16 counts twice begin, counted in UTF-16."""

    def of(self, place: int) -> int:
        """Return a place that was counted in UTF-16."""
        return place - bisect_left(self._wide, place)
