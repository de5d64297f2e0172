"""Where a reader is: in which project, and as of when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypedDict

from fastapi import Depends, Query

if TYPE_CHECKING:
    from tracker.ledger import Selecting

LARGEST = 2**31 - 1
"""The largest number that a column of the ledger holds, and so the largest in an address."""


class Then(TypedDict):
    """A moment on both clocks; None for now."""

    as_of: str | None
    known_at: str | None


@dataclass(frozen=True)
class Place:
    """The project that a page is of, and the moment that it shows; None for now.

    Attributes:
        project: the project's name.
        as_of: a date or a time, as the reader gave it: only answers labeled by then.
        known_at: likewise: what the ledger knew then.
    """

    project: str
    as_of: str | None = None
    known_at: str | None = None

    @property
    def then(self) -> Then:
        """Return the moment as a part of an address, and as arguments."""
        return {"as_of": self.as_of, "known_at": self.known_at}

    @property
    def key(self) -> tuple[str | None, str | None]:
        """Return the moment as what figures depend on."""
        return self.as_of, self.known_at

    @property
    def selecting(self) -> Selecting:
        """Return the arguments that ask a ledger for that moment."""
        found: Selecting = {}
        if self.as_of is not None:
            found["as_of"] = self.as_of
        if self.known_at is not None:
            found["known_at"] = self.known_at
        return found

    def of(self, question: str) -> Selecting:
        """Return the same for one of the project's questions."""
        return {**self.selecting, "question": question}


def place_of(
    project: str,
    as_of: Annotated[str | None, Query(max_length=40)] = None,
    known_at: Annotated[str | None, Query(max_length=40)] = None,
) -> Place:
    """Return where a request to a page of a project leads."""
    return Place(project, (as_of or "").strip() or None, (known_at or "").strip() or None)


At = Annotated[Place, Depends(place_of)]
