"""Results that are kept: counted once, by one of those who ask at the same time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic

import pytest

from tracker.web.request import Figures, StillCounting


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


def test_the_results_not_asked_for_longest_are_dropped() -> None:
    figures, again = Figures(most=100_000), list[int]()

    def result(number: int) -> bytes:
        again.append(number)
        return bytes(20_000)

    for number in (0, 1, 2, 3, 0, 4, 5, 5, 0, 1):
        figures.get(number, partial(result, number))
    assert again == [0, 1, 2, 3, 4, 5, 1]
    for _ in range(2):
        figures.get("large", lambda: again.append(9) or bytes(10**6))
    assert again[7:] == [9], "the newest is kept, however large"


def test_who_does_not_wait_is_told_and_the_result_is_there_later() -> None:
    figures, go_on, begun = Figures(), threading.Event(), list[int]()

    def compute() -> int:
        begun.append(1)
        assert go_on.wait(10)
        return 7

    with pytest.raises(StillCounting):
        figures.get("a", compute, monotonic())
    assert not begun, "nothing is begun for who has no time left"
    for _ in range(2):
        with pytest.raises(StillCounting):
            figures.get("a", compute, monotonic() + 0.01)
    go_on.set()
    assert figures.get("a", compute) == figures.get("a", compute, monotonic()) == 7
    assert begun == [1]
    with pytest.raises(ZeroDivisionError):
        figures.get("b", lambda: 1 // 0, monotonic() + 10)


def test_where_no_thread_can_be_had_it_is_computed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert Figures().get("a", lambda: 7, until=monotonic() + 60) == 7
