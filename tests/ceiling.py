"""A ceiling of CPU time for each test: over 1 second it is listed, over 3 it fails.

A second is measured in runs of a fixed loop, so that a slow machine does not fail. A test is
charged for its body, for its own fixtures and for the processes that it waits for, but not for
fixtures that several tests share. `budget.toml` names the tests that may take longer.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import pytest

from tests import profiles
from tests.budget import load_slow_tests

LISTED, FAILED = 1.0, 3.0
"""CPU-seconds of a test above which it is listed, and above which it fails."""
LOOP_SECONDS = 0.0080
"""What the loop takes on the machine for which the ceiling was set."""
SLOWEST = 10

_shared = [0.0]
"""CPU-seconds of this process that were spent on what several tests share."""


def used() -> float:
    """Return the CPU-seconds of this process and of the processes it waited for."""
    return sum(os.times()[:4])


@contextmanager
def shared_work() -> Iterator[None]:
    """Charge no test for what is done here, because others use it, too."""
    begin, before = used(), _shared[0]
    yield
    _shared[0] = before + used() - begin


def machine_factor() -> float:
    """Return how many times longer than on the reference machine the fixed loop takes."""
    durations = []
    for _ in range(5):
        begin = time.process_time()
        sum(number * number for number in range(300_000))
        durations.append(time.process_time() - begin)
    return max(1.0, min(durations) / LOOP_SECONDS)


class Ceiling:
    """The plugin of a process that runs tests."""

    def __init__(self) -> None:
        self.factor = machine_factor()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        with shared_work():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        item.stash[CHARGED] = 0.0
        with self._charged(item):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        with self._charged(item):
            result = yield
        seconds = item.stash[CHARGED]
        item.user_properties.append(("cpu", seconds))
        may_fail = seconds > FAILED and not (profiles.EXHAUSTIVE or is_exception(item.nodeid))
        if may_fail and seconds * self.factor > FAILED * machine_factor():  # still as fast?
            pytest.fail(f"{seconds:.1f} CPU-seconds; a test may take {FAILED:.0f}", pytrace=False)
        return result

    @contextmanager
    def _charged(self, item: pytest.Item) -> Iterator[None]:
        begin, shared = used(), _shared[0]
        try:
            yield
        finally:
            spent = used() - begin - (_shared[0] - shared)
            item.stash[CHARGED] += spent / self.factor


CHARGED = pytest.StashKey[float]()


def is_exception(test: str) -> bool:
    return any(test == name or test.startswith(f"{name}[") for name in load_slow_tests())


class Summary:
    """The plugin of the process that reports: the CPU time of the run and its slowest tests."""

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        seconds = {
            report.nodeid: dict(report.user_properties).get("cpu", 0.0)
            for kind in ("passed", "failed")
            for report in terminalreporter.stats.get(kind, ())
            if report.when == "call"
        }
        slowest = sorted(seconds, key=seconds.__getitem__, reverse=True)
        slow = [test for test in slowest if seconds[test] > LISTED]
        if len(seconds) > SLOWEST:
            heading = f"{used():.0f} CPU-seconds, {len(slow)} tests above {LISTED:.0f}"
            terminalreporter.section(heading)
            for test in slow or slowest[:SLOWEST]:
                terminalreporter.line(f"{seconds[test]:6.2f}  {test}")


def register(config: pytest.Config) -> None:
    """Register the plugins that a process needs: a worker measures, the main process reports."""
    is_worker = hasattr(config, "workerinput")
    if is_worker or not config.getoption("numprocesses", default=None):
        config.pluginmanager.register(Ceiling(), "ceiling")
    if not is_worker:
        config.pluginmanager.register(Summary(), "ceiling-summary")
