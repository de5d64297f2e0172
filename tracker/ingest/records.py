"""What every reader yields and the loader takes: batches of raw records, and rejections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["KEEP", "ROLES", "Batch", "Rejection"]

ROLES = (
    "item",
    "annotator",
    "category",
    "labelled_at",
    "seconds",
    "pass",
    "text",
    "gold",
    "start",
    "end",
    "n_tokens",
    "kind",
)
"""What a column can mean."""

KEEP = "keep:"
"""Before the name of a column that is kept as an attribute of the item."""


@dataclass(frozen=True)
class Batch:
    """Some records of one source, column by column.

    ``lines`` holds the line on which each record starts; every sequence in ``columns`` is as
    long, its texts as they stood in the file, by role (see `ROLES`, `KEEP`).
    """

    lines: Sequence[int]
    columns: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Rejection:
    """A record that cannot be taken: where it is and what is wrong with it."""

    source: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.source}, line {self.line}: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """The rejection as JSON."""
        return {"source": self.source, "line": self.line, "reason": self.reason}


@dataclass
class Rejections:
    """All rejections counted, and the first of them kept.

    Memory does not grow with the number of bad rows.
    """

    KEPT = 1000
    LONGEST = 1200  # characters of a reason, which may quote a cell
    count: int = 0
    ragged: int = 0  # of these, rows that are in no batch
    first: list[Rejection] = field(default_factory=list)

    def add(self, source: str, line: int, reason: str) -> None:
        """Count one more rejection."""
        self.count += 1
        if len(self.first) < self.KEPT:
            short = reason if len(reason) <= self.LONGEST else reason[: self.LONGEST] + "…"
            self.first.append(Rejection(source, line, short))
