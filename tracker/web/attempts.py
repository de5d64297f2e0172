"""How often somebody may try to sign in: guessing passwords is made slow, not impossible."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from math import ceil

SPAN = 15 * 60
"""Seconds for which a failure counts."""
_MOST = {"both": 5, "address": 30, "name": 100}
"""Failures within that time: of a name from an address, from an address, of a name from anywhere.

The last is high, because whoever knows a name could keep its owner out.
"""
_KEPT = 10_000
_NAME = 100  # characters that count


class Attempts:
    """The failures of the last minutes, in memory; the longest unchanged are forgotten first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[Hashable, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, name: str, address: str) -> int:
        """Count an attempt as failed, until `succeed`; returns the seconds to wait, or 0.

        One that has to wait is not counted.
        """
        now = self._clock()
        with self._lock:
            waits = [
                ceil(kept[-most] + SPAN - now)
                for key, most in _keys(name, address)
                if len(kept := self._recent(key, now)) >= most
            ]
            if waits:
                return max(1, *waits)
            for key, _ in _keys(name, address):
                self._failures.setdefault(key, deque()).append(now)
                self._failures.move_to_end(key)
            while len(self._failures) > _KEPT:
                self._failures.popitem(last=False)
        return 0

    def succeed(self, name: str, address: str) -> None:
        """Forget the failures of a name from an address, and this attempt elsewhere."""
        with self._lock:
            for key, _ in _keys(name, address):
                kept = self._failures.get(key)
                if kept:
                    kept.pop()
            both = next(_keys(name, address))[0]
            self._failures.pop(both, None)

    def _recent(self, key: Hashable, now: float) -> deque[float]:
        kept = self._failures.get(key, deque())
        while kept and kept[0] + SPAN <= now:
            kept.popleft()
        return kept


def _keys(name: str, address: str) -> Iterator[tuple[Hashable, int]]:
    """Yield what an attempt is counted under, and how many may fail."""
    name, address = name[:_NAME], _network(address)
    yield ("both", name, address), _MOST["both"]
    yield ("address", address), _MOST["address"]
    yield ("name", name), _MOST["name"]


def _network(address: str) -> str:
    """Return an address; of IPv6 the part that a household has, for it has all the rest."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else address
