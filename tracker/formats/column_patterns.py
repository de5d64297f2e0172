"""Names of columns that hold more than one thing: ``{annotator}_{question}.{category}``."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tracker.core.errors import InvalidOption

PARTS = ("annotator", "question", "category")
"""What a name can hold, in braces."""

YES = frozenset(
    {"1", "1.0", "true", "t", "x", "yes", "y", "ja", "oui", "si", "sí", "wahr", "✓", "✔"}
)
"""Cells, in lower case, that say that the category of their column was chosen."""
NO = frozenset({"0", "0.0", "false", "f", "no", "n", "nein", "non", "falsch", "-"})
"""Cells, in lower case, that say that it was not; so does an empty one beside others."""

_BRACES = re.compile(r"\{(\w+)\}")
_LEAST = 2  # columns that a proposed pattern fits


class NamedColumn(NamedTuple):
    """A column by its place, with what its name says; what it does not say is None."""

    place: int
    annotator: str | None = None
    question: str | None = None
    category: str | None = None


@dataclass(frozen=True)
class ColumnPattern:
    """How the names of some columns are made, such as ``{annotator}_{question}``."""

    text: str

    def __post_init__(self) -> None:
        """Raise InvalidOption for a pattern that names nothing, or something twice."""
        named = _BRACES.findall(self.text)
        example = "such as: --columns '{annotator}_{question}.{category}'"
        if wrong := next((name for name in named if name not in PARTS), None):
            raise InvalidOption(
                f"--columns {self.text!r}: a name holds {', '.join(PARTS)}, not {wrong!r}", example
            )
        if not named or len({*named}) < len(named):
            what = "names nothing in braces" if not named else "names something twice"
            raise InvalidOption(f"--columns {self.text!r} {what}", example)

    @property
    def parts(self) -> Collection[str]:
        """What the names hold."""
        return _BRACES.findall(self.text)

    def columns(self, names: Sequence[str], taken: Collection[int]) -> tuple[NamedColumn, ...]:
        """Return the columns whose names fit, in the order of the header."""
        pieces = _BRACES.split(self.text)
        expression = "".join(
            f"(?P<{piece}>.+?)" if n % 2 else re.escape(piece) for n, piece in enumerate(pieces)
        )
        fits = re.compile(expression, re.DOTALL)
        return tuple(
            NamedColumn(place, **{part: text.strip() for part, text in match.groupdict().items()})
            for place, name in enumerate(names)
            if place not in taken and name and (match := fits.fullmatch(name))
        )


_PERSON = r"(?:annotator|ann|rater|coder|judge|worker|user|labell?er|reviewer|expert|person|r|a)"
_JOINED = re.compile(
    rf"{_PERSON}[ _-]?\d+(?P<first>[_. -])[^_.]+(?:(?P<second>[.:])[^.:]+)?", re.IGNORECASE
)


def proposed_pattern(names: Sequence[str]) -> str | None:
    """Return the pattern that names such as ``Annotator3_tone.polite`` plainly follow."""
    matches = [match for name in names if (match := _JOINED.fullmatch(name))]
    ways = {(match["first"], match["second"]) for match in matches}
    if len(matches) < _LEAST or len(ways) != 1:
        return None
    first, second = ways.pop()
    return f"{{annotator}}{first}{{question}}" + (f"{second}{{category}}" if second else "")
