"""Results kept as long as the ledger's revision stays: nothing is counted twice, none is stale."""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from time import monotonic
from typing import Any, TypeVar

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
