"""Results that are kept: counted once, by one of those who ask at the same time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tracker.web.figures import Figures


def test_who_asks_while_it_is_computed_waits_for_the_same_result() -> None:
    figures, counted, started, go_on = Figures(), list[int](), threading.Event(), threading.Event()

    def compute() -> int:
        counted.append(1)
        started.set()
        assert go_on.wait(10)
        return 7

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(figures.get, "a", compute)
        assert started.wait(10)
        others = [pool.submit(figures.get, "a", compute) for _ in range(7)]
        go_on.set()
        assert {first.result(), *(one.result() for one in others)} == {7}
    assert counted == [1]


def test_an_error_is_not_kept() -> None:
    figures = Figures()
    with pytest.raises(ZeroDivisionError):
        figures.get("a", lambda: 1 // 0)
    assert figures.get("a", lambda: 2) == 2


def test_the_oldest_results_are_dropped() -> None:
    figures, again = Figures(), list[int]()
    for number in range(1000):
        figures.get(number, lambda: 0)
    figures.get(999, lambda: again.append(999))
    figures.get(0, lambda: again.append(0))
    assert again == [0]
