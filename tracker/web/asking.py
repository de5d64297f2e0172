"""The ledger as a request sees it: its notices collected, its figures kept."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from time import monotonic
from typing import Annotated, NamedTuple, TypeVar

from fastapi import Depends, Request

from tracker.ledger import Ledger
from tracker.web.figures import Figures
from tracker.web.identity import LOCAL, SAFE, Identity

_Result = TypeVar("_Result")
PATIENCE = 0.7
"""Seconds after which a page that is opened is shown without its figures."""
WAIT = "wait"
"""In an address: to wait for the figures, where no script fetches them."""


class _Kept(NamedTuple):
    result: object
    notices: tuple[str, ...]


class Asked:
    """One request's view of the ledger.

    Attributes:
        ledger: the ledger; what it has to say of a result is added to ``notices``.
        notices: a sentence for each reservation about what was asked.
        until: when whoever asks waits no longer; None if they do.
    """

    def __init__(
        self,
        ledger: Ledger,
        figures: Figures,
        by: str | None = None,
        *,
        changes: bool = True,
        until: float | None = None,
    ) -> None:
        """``by`` is who asks, for the change log; ``changes``: the request may change something.

        ``until`` is when to give up, by the monotonic clock; see `Figures.get`.
        """
        self.notices: list[str] = []
        self.ledger = ledger.acting_for(by)
        self.ledger.notice = self.notices.append
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

        ``asked`` is all that the result depends on beside the project.
        """

        def whole() -> _Kept:
            ledger, notices = copy.copy(self.ledger), list[str]()
            ledger.notice = notices.append
            return _Kept(compute(ledger), tuple(notices))

        day = datetime.now(UTC).date()
        kept = self._figures.get((project, self.revision(project), day, *asked), whole, self.until)
        self.notices += kept.notices
        result: _Result = kept.result  # type: ignore[assignment]
        return result


def asked_of(request: Request) -> Asked:
    """Return the ledger for a request."""
    who: Identity | None = request.state.identity
    by = None if who is None or who is LOCAL else who.name
    state, changes = request.app.state, request.method not in SAFE
    until = monotonic() + state.patience if _is_opened(request) else None
    return Asked(state.ledger, state.figures, by, changes=changes, until=until)


def _is_opened(request: Request) -> bool:
    """Return whether a browser opens a page, which can show that it is not ready."""
    opened = request.headers.get("sec-fetch-mode") == "navigate" and request.method == "GET"
    of_program = request.scope["route"].path.startswith("/api/")
    return opened and not of_program and WAIT not in request.query_params


AskedLedger = Annotated[Asked, Depends(asked_of)]
