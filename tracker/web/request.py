"""Where a reader is: in which project, and as of when."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypedDict, TypeVar

from fastapi import Depends, Query, Request
from fastapi.dependencies.models import Dependant

from tracker.core.kept import KeptResults, Older, StillCounting
from tracker.ledger import Ledger
from tracker.web.identity import LOCAL, SAFE, Identity

if TYPE_CHECKING:
    from tracker.counts.choosing import Selecting


class Then(TypedDict):
    """A moment on both clocks; None for now."""

    as_of: str | None
    known_at: str | None


@dataclass(frozen=True)
class Place:
    """The project that a page is of, and the moment that it shows; None for now.

    Attributes:
        as_of: a date or a time, as the reader gave it: only answers labeled by then.
        known_at: likewise: what the ledger knew then.
    """

    project: str
    as_of: str | None = None
    known_at: str | None = None

    @property
    def then(self) -> Then:
        return {"as_of": self.as_of, "known_at": self.known_at}

    @property
    def key(self) -> tuple[str | None, str | None]:
        return self.as_of, self.known_at

    @property
    def selecting(self) -> Selecting:
        """Return the arguments that ask a ledger for that moment."""
        selecting: Selecting = {}
        if self.as_of is not None:
            selecting["as_of"] = self.as_of
        if self.known_at is not None:
            selecting["known_at"] = self.known_at
        return selecting

    def of(self, question: str) -> Selecting:
        """Return the same for one of the project's questions."""
        return {**self.selecting, "question": question}


def place_of(
    project: str,
    as_of: Annotated[str | None, Query(max_length=40)] = None,
    known_at: Annotated[str | None, Query(max_length=40)] = None,
) -> Place:
    return Place(project, (as_of or "").strip() or None, (known_at or "").strip() or None)


At = Annotated[Place, Depends(place_of)]


# -- The ledger as a request sees it: its notices collected, its figures kept ---------------------


_Result = TypeVar("_Result")
PATIENCE = 0.7
"""Seconds after which a page is shown with older figures, or without."""
_FIGURES = "live"  # the element of a page that has them
WAIT = "wait"
"""In an address: to wait for the figures."""


class _Kept(NamedTuple):
    result: Any
    notices: tuple[str, ...]


class Asked:
    """One request's view of the ledger.

    Attributes:
        ledger: the ledger; what it has to say of a result is added to ``notices``.
        notices: a sentence for each reservation about what was asked.
        older: the oldest of the figures that stand in for those being computed; None if none do.
    """

    def __init__(
        self,
        ledger: Ledger,
        figures: KeptResults,
        by: str | None = None,
        *,
        changes: bool = True,
        until: float | None = None,
    ) -> None:
        """``by`` is who asks, for the change log; ``changes``: the request may change something.

        ``until`` is when to give up, by the monotonic clock; see `KeptResults.get`.
        """
        self.notices: list[str] = []
        self.older: Older | None = None
        self.ledger = ledger.acting_for(by)
        self.ledger.notice = self.notices.append
        self.ledger.database.kept = figures
        self._figures = figures
        self._changes = changes
        self.until = until
        self._revisions: dict[str, str] = {}

    def revision(self, project: str) -> str:
        """Return the revision of a project, read once if nothing is changed; raises NotFound."""
        if self._changes or project not in self._revisions:
            self._revisions[project] = self.ledger.revision(project)
        return self._revisions[project]

    def figure(
        self, project: str, *asked: Hashable, compute: Callable[[Ledger], _Result]
    ) -> _Result:
        """Return what ``compute`` gives, kept until the project changes or a day is over.

        ``asked`` is all that the result depends on beside the project. To whom waits no longer the
        result of before the change is given, if there is one; else StillCounting is raised.
        """

        def whole() -> _Kept:
            ledger, notices = copy.copy(self.ledger), list[str]()
            ledger.notice = notices.append
            return _Kept(compute(ledger), tuple(notices))

        revision = self.revision(project), datetime.now(UTC).date()
        try:
            kept = self._figures.get((project, *asked), revision, whole, self.until)
        except StillCounting as counting:
            if counting.older is None:
                raise
            kept = counting.older.result
            self._note_older(counting.older)
        self.notices += kept.notices
        result: _Result = kept.result
        return result

    def _note_older(self, older: Older) -> None:
        before = self.older or older
        remaining = max(before.remaining, older.remaining)
        self.older = Older(None, min(before.at, older.at), remaining)


async def asked_of(request: Request) -> Asked:
    """Return the ledger for a request; its page is told of it."""
    who: Identity | None = request.state.identity
    by = None if who is None or who is LOCAL else who.name
    state, changes = request.app.state, request.method not in SAFE
    until = monotonic() + state.patience if _can_wait(request) else None
    asked = Asked(state.ledger, state.figures, by, changes=changes, until=until)
    asked.ledger.database.wait = getattr(request.state, "wait", None)
    request.state.asked = asked
    return asked


def _can_wait(request: Request) -> bool:
    """Return whether a browser shows a page, or its figures anew, that can fetch them later."""
    headers, of_program = request.headers, request.scope["route"].path.startswith("/api/")
    shown = headers.get("sec-fetch-mode") == "navigate" or headers.get("hx-target") == _FIGURES
    return shown and request.method == "GET" and not of_program and WAIT not in request.query_params


AskedLedger = Annotated[Asked, Depends(asked_of)]


def parameter_names(dependant: Dependant) -> list[str]:
    """Return the names of the parameters of a route's query, those of its parts too."""
    names = [parameter.alias for parameter in dependant.query_params]
    return names + [name for part in dependant.dependencies for name in parameter_names(part)]
