"""Where a reader is: in which project, and as of when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Query

if TYPE_CHECKING:
    from tracker.ledger import Selecting


@dataclass(frozen=True)
class Place:
    """The project that a page is of, and the moment that it shows; None for now.

    Attributes:
        project: the project's name.
        as_of: a date or a time, as the reader gave it.
    """

    project: str
    as_of: str | None = None

    @property
    def selecting(self) -> Selecting:
        """Return the arguments that ask a ledger for that moment."""
        return {} if self.as_of is None else {"as_of": self.as_of}

    def of(self, question: str) -> Selecting:
        """Return the same for one of the project's questions."""
        return {**self.selecting, "question": question}


def place_of(
    project: str,
    as_of: Annotated[str | None, Query(max_length=40)] = None,
) -> Place:
    """Return where a request to a page of a project leads."""
    return Place(project, (as_of or "").strip() or None)


At = Annotated[Place, Depends(place_of)]
