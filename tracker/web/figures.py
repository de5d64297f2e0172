"""Results kept as long as the ledger's revision stays: nothing is counted twice, none is stale."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_KEPT = 512


class Figures:
    """Results of the ledger by what was asked and the revision that they belong to.

    Whoever asks for a result that is being computed waits for it. An error is raised to all who
    wait, and is not kept.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Future[Any]] = OrderedDict()

    def get(self, key: Hashable, compute: Callable[[], _Result]) -> _Result:
        """Return the result that is kept under a key, computed now if there is none."""
        with self._lock:
            future: Future[Any] | None = self._kept.get(key)
            mine = future is None
            if future is None:
                future = self._kept[key] = Future()
                if len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            else:
                self._kept.move_to_end(key)
        if mine:
            try:
                future.set_result(compute())
            except BaseException as error:
                with self._lock:
                    self._kept.pop(key, None)
                future.set_exception(error)
                raise
        result: _Result = future.result()
        return result
