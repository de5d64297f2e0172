"""Results that a server keeps as long as what they rest on stays the same."""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import wraps
from time import monotonic
from typing import Any, NamedTuple, ParamSpec, TypeVar

from tracker.core import clock

KEPT, MOMENT, ENGINE, READ = "tracker_kept", "tracker_moment", "tracker_engine", "tracker_read"
"""What a connection that reads is told of: the results that are kept, the past it shows, what
counts in the database's stead, and what it has read so far (see `read_once`)."""
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_MOST = 64 * 2**20  # bytes as they are written; in memory it may be five times as much
_LARGE = 4  # a result of more than this part of them is a large one
_ASIDE = 4  # results computed at once while nobody waits
_LEAST, _UNKNOWN = 1_000, 100_000  # bytes of any result; of one that cannot be measured


def read_once(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Ask the database once in a transaction that only reads; callers never change the result.

    The function is of a connection and of arguments that can be hashed.
    """

    @wraps(function)
    def reading(*args: _Arguments.args, **keywords: _Arguments.kwargs) -> _Result:
        connection: Any = args[0]
        results: dict[object, _Result] | None = connection.info.get(READ)
        if results is None:
            return function(*args, **keywords)
        asked = (function, args[1:], *keywords.items())
        if asked not in results:
            results[asked] = function(*args, **keywords)
        return results[asked]

    return reading


class Older(NamedTuple):
    """The result of a revision before, while that of the present one is computed.

    Attributes:
        result: the result.
        at: when it was computed.
        remaining: how many seconds are left, if it takes as long as before.
    """

    result: Any
    at: int
    remaining: float


class StillCounting(Exception):
    """The result is being computed, and whoever asks does not wait for it."""

    def __init__(self, older: Older | None = None) -> None:
        super().__init__("the result is being computed")
        self.older = older


@dataclass
class _Entry:
    """A result, or one that is being computed.

    Attributes:
        revision: of what it rests on.
        future: of the result.
        began: when it was begun, by the monotonic clock.
        before: the last result of another revision, until there is this one.
        size: bytes of the result as it is written, or of the one before.
        ended: when it was there.
        took: seconds.
    """

    revision: Hashable
    future: Future[Any] = field(default_factory=Future)
    began: float = field(default_factory=monotonic)
    before: _Entry | None = None
    size: int = 0
    ended: int = 0
    took: float = 0.0

    @property
    def older(self) -> Older | None:
        """Return the result before, if there is one."""
        if self.before is None:
            return None
        remaining = max(0.0, self.before.took - (monotonic() - self.began))
        return Older(self.before.future.result(), self.before.ended, remaining)


class KeptResults:
    """Results by what was asked, each of the revision for which it was asked last.

    Whoever asks for a result that is being computed waits for it. An error is raised to all who
    wait, and is not kept. Results that were not asked for longest are dropped when all of them
    take more than ``most`` bytes, as they would be written; with None all are kept. Large results
    have as much room of their own, so none of them drives out the many small ones; the newest is
    kept in any case.
    """

    def __init__(self, most: int | None = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._aside = threading.BoundedSemaphore(_ASIDE)

    def get(
        self,
        asked: Hashable,
        revision: Hashable,
        compute: Callable[[], _Result],
        until: float | None = None,
    ) -> _Result:
        """Return the result that is kept for a revision, computed now if there is none.

        Raises StillCounting at ``until``, by the monotonic clock; it is computed nevertheless,
        unless the time was over before.
        """
        with self._lock:
            entry = self._entries.get(asked)
            mine = entry is None or entry.revision != revision
            if mine and until is not None and monotonic() >= until:
                raise StillCounting(None if entry is None else _after(entry, revision).older)
            if entry is None or mine:
                entry = self._entries[asked] = _after(entry, revision)
            self._entries.move_to_end(asked)
        if mine:
            self._begin(asked, entry, compute, aside=until is not None)
        if until is not None:
            wait([entry.future], max(0.0, until - monotonic()))
            if not entry.future.done():
                raise StillCounting(entry.older)
        result: _Result = entry.future.result()
        return result

    def clear(self) -> None:
        """Drop all results, and those of revisions before."""
        with self._lock:
            for asked, entry in [*self._entries.items()]:
                entry.before = None
                if entry.future.done():
                    del self._entries[asked]
                entry.size = 0

    def _begin(
        self, asked: Hashable, entry: _Entry, compute: Callable[[], Any], *, aside: bool
    ) -> None:
        """Compute a result, aside if others may go on meanwhile; here if much is done aside."""

        def run() -> None:
            try:
                result = compute()
            except BaseException as error:
                self._drop(asked, entry)
                entry.future.set_exception(error)
            else:
                entry.ended, entry.took = clock.now(), monotonic() - entry.began
                entry.future.set_result(result)
                self._keep(asked, entry, 0 if self._most is None else _size(result))

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

    def _drop(self, asked: Hashable, entry: _Entry) -> None:
        with self._lock:
            if self._entries.get(asked) is entry:
                del self._entries[asked]

    def _keep(self, asked: Hashable, entry: _Entry, size: int) -> None:
        """Add up what a result takes; drop those not asked for longest, never this one."""
        with self._lock:
            entry.before = None
            if self._entries.get(asked) is not entry:
                return  # another revision was asked for meanwhile, or all was dropped
            entry.size = size
            if self._most is None:
                return
            alike = {key: other.size for key, other in self._entries.items()
                     if self._is_large(other.size) == self._is_large(size)}  # fmt: skip
            surplus = sum(alike.values()) - self._most
            for key, bytes_of_other in alike.items():
                if surplus > 0 and bytes_of_other and key != asked:
                    del self._entries[key]
                    surplus -= bytes_of_other

    def _is_large(self, size: int) -> bool:
        return self._most is not None and size > self._most / _LARGE


def _after(entry: _Entry | None, revision: Hashable) -> _Entry:
    """Return what takes the place of a result: of a revision, with the last result before it."""
    if entry is None:
        return _Entry(revision)
    there = entry.future.done() and entry.future.exception() is None
    return _Entry(revision, before=entry if there else entry.before, size=entry.size)


def _size(result: object) -> int:
    try:
        return len(pickle.dumps(result, pickle.HIGHEST_PROTOCOL)) + _LEAST
    except Exception:  # what cannot be written may be kept nevertheless
        return _UNKNOWN
