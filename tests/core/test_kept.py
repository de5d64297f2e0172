"""Results that are kept: counted once, by one of those who ask at the same time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic

import pytest

from tracker.core import clock
from tracker.core.kept import KeptResults, StillCounting


def test_who_asks_while_it_is_computed_waits_for_the_same_result() -> None:
    results, counted, started, go_on = (
        KeptResults(),
        list[int](),
        threading.Event(),
        threading.Event(),
    )

    def compute() -> int:
        counted.append(1)
        started.set()
        assert go_on.wait(10)
        return 7

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(results.get, "a", 1, compute)
        assert started.wait(10)
        others = [pool.submit(results.get, "a", 1, compute) for _ in range(7)]
        go_on.set()
        assert {first.result(), *(one.result() for one in others)} == {7}
    assert counted == [1]


def test_an_error_is_not_kept() -> None:
    results = KeptResults()
    with pytest.raises(ZeroDivisionError):
        results.get("a", 1, lambda: 1 // 0)
    assert results.get("a", 1, lambda: 2) == 2


def test_the_results_not_asked_for_longest_are_dropped() -> None:
    results, again = KeptResults(most=100_000), list[int]()

    def result(number: int) -> bytes:
        again.append(number)
        return bytes(20_000)

    for number in (0, 1, 2, 3, 0, 4, 5, 5, 0, 1):
        results.get(number, 1, partial(result, number))
    assert again == [0, 1, 2, 3, 4, 5, 1]
    for _ in range(2):
        results.get("large", 1, lambda: again.append(9) or bytes(10**6))
    assert again[7:] == [9], "the newest is kept, however large"
    results.get(5, 1, partial(result, 5))
    assert again[7:] == [9], "and drives no small one out"
    results.get("larger", 1, lambda: bytes(10**6))
    results.get("large", 1, lambda: again.append(9) or bytes(10**6))
    assert again[7:] == [9, 9], "but another large one"


def test_who_does_not_wait_is_told_and_the_result_is_there_later() -> None:
    results, go_on, begun = KeptResults(), threading.Event(), list[int]()

    def compute() -> int:
        begun.append(1)
        assert go_on.wait(10)
        return 7

    with pytest.raises(StillCounting):
        results.get("a", 1, compute, monotonic())
    assert not begun, "nothing is begun for who has no time left"
    for _ in range(2):
        with pytest.raises(StillCounting):
            results.get("a", 1, compute, monotonic() + 0.01)
    go_on.set()
    assert results.get("a", 1, compute) == results.get("a", 1, compute, monotonic()) == 7
    assert begun == [1]
    with pytest.raises(ZeroDivisionError):
        results.get("b", 1, lambda: 1 // 0, monotonic() + 10)


def test_where_no_thread_can_be_had_it_is_computed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert KeptResults().get("a", 1, lambda: 7, until=monotonic() + 60) == 7


def test_who_does_not_wait_is_given_the_result_of_before() -> None:
    results, go_on = KeptResults(), threading.Event()
    assert results.get("a", 1, lambda: "old") == "old"
    with pytest.raises(StillCounting) as untried:
        results.get("a", 2, lambda: "new", monotonic())
    assert untried.value.older is not None
    assert untried.value.older.result == "old"

    def compute() -> str:
        assert go_on.wait(10)
        return "new"

    for revision in (2, 3):  # what changes again meanwhile is computed, too
        with pytest.raises(StillCounting) as counting:
            results.get("a", revision, compute, monotonic() + 0.01)
        assert counting.value.older is not None
        assert counting.value.older.result == "old"
        assert 0 < counting.value.older.at <= clock.now()
    go_on.set()
    assert results.get("a", 3, compute) == "new"
    results.clear()
    with pytest.raises(StillCounting) as none:
        results.get("a", 4, compute, monotonic())
    assert none.value.older is None
