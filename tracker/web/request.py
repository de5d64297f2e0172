"""Where a reader is: in which project, and as of when."""

from __future__ import annotations

import copy
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypedDict, TypeVar

from fastapi import Depends, Query, Request
from fastapi.dependencies.models import Dependant

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


# -- Results kept as long as the ledger's revision stays: nothing is counted twice, none is stale -


_Result = TypeVar("_Result")
_MOST = 24 * 2**20  # bytes as they are written; in memory it is five times as much
_ASIDE = 4  # results computed at once while nobody waits
_LEAST, _UNKNOWN = 1_000, 100_000  # bytes of any result; of one that cannot be measured


class StillCounting(Exception):
    """The result is being computed, and whoever asks does not wait for it."""


class Figures:
    """Results of the ledger by what was asked and the revision that they belong to.

    Whoever asks for a result that is being computed waits for it. An error is raised to all who
    wait, and is not kept. Results that were not asked for longest are dropped when all of them
    take more than ``most`` bytes, as they would be written.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}
        self._bytes = 0
        self._aside = threading.BoundedSemaphore(_ASIDE)

    def get(
        self, key: Hashable, compute: Callable[[], _Result], until: float | None = None
    ) -> _Result:
        """Return the result that is kept under a key, computed now if there is none.

        Raises StillCounting at ``until``, by the monotonic clock; it is computed nevertheless,
        unless the time was over before.
        """
        with self._lock:
            future: Future[Any] | None = self._kept.get(key)
            mine = future is None
            if future is None:
                if until is not None and monotonic() >= until:
                    raise StillCounting
                future = self._kept[key] = Future()
            else:
                self._kept.move_to_end(key)
        if mine:
            self._begin(key, future, compute, aside=until is not None)
        if until is not None:
            wait([future], max(0.0, until - monotonic()))
            if not future.done():
                raise StillCounting
        result: _Result = future.result()
        return result

    def clear(self) -> None:
        """Drop all results."""
        with self._lock:
            for key in [*self._sizes]:
                self._kept.pop(key, None)
            self._sizes.clear()
            self._bytes = 0

    def _begin(
        self, key: Hashable, future: Future[Any], compute: Callable[[], Any], *, aside: bool
    ) -> None:
        """Compute a result, aside if others may go on meanwhile; here if much is done aside."""

        def run() -> None:
            try:
                result = compute()
            except BaseException as error:
                with self._lock:
                    self._kept.pop(key, None)
                future.set_exception(error)
            else:
                self._keep(key, result)
                future.set_result(result)

        def run_aside() -> None:
            try:
                run()
            finally:
                self._aside.release()

        if not aside or not self._aside.acquire(blocking=False):
            run()
            return
        try:
            threading.Thread(target=run_aside, name="tracker-figure", daemon=True).start()
        except RuntimeError:  # the machine has no thread to spare
            run_aside()

    def _keep(self, key: Hashable, result: object) -> None:
        """Add up what a result takes; drop those not asked for longest, never this one."""
        size = _size(result)
        with self._lock:
            self._sizes[key] = size
            self._bytes += size
            while self._bytes > self._most and len(self._sizes) > 1:
                oldest = next(one for one in self._kept if one in self._sizes and one != key)
                del self._kept[oldest]
                self._bytes -= self._sizes.pop(oldest)


def _size(result: object) -> int:
    try:
        return len(pickle.dumps(result, pickle.HIGHEST_PROTOCOL)) + _LEAST
    except Exception:  # what cannot be written may be kept nevertheless
        return _UNKNOWN


# -- The ledger as a request sees it: its notices collected, its figures kept ---------------------


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


def parameter_names(dependant: Dependant) -> list[str]:
    """Return the names of the parameters of a route's query, those of its parts too."""
    names = [parameter.alias for parameter in dependant.query_params]
    return names + [name for part in dependant.dependencies for name in parameter_names(part)]
