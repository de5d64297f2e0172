"""Requests with keys: one at a time, of one content, for one day, of one user."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.profiles import both
from tests.sync.test_webhooks import HOUR, Clock, time
from tracker.core.errors import CheckFailed, InvalidOption
from tracker.ledger import Ledger

__all__ = ["time"]


def test_a_request_is_answered_as_before_for_a_day(ledger: Ledger, time: Clock) -> None:
    requests = ledger.requests
    assert requests.begin("ada", "k", "digest") is None
    with pytest.raises(CheckFailed, match="under way"):
        requests.begin("ada", "k", "digest")
    with pytest.raises(InvalidOption, match="another request"):
        requests.begin("ada", "k", "other")
    assert requests.begin("bob", "k", "other") is None
    requests.keep("ada", "k", 201, "/there", "{}")
    assert requests.begin("ada", "k", "digest") == (201, "/there", "{}")
    time.time += 25 * HOUR
    assert requests.begin("ada", "k", "other") is None


def test_a_request_that_failed_or_died_may_be_sent_again(ledger: Ledger, time: Clock) -> None:
    requests = ledger.requests
    requests.begin("ada", "k", "digest")
    requests.forget("ada", "k")
    assert requests.begin("ada", "k", "digest") is None
    time.time += 2 * HOUR
    assert requests.begin("ada", "k", "digest") is None


@both
def test_what_is_done_is_stored_with_its_answer_or_not_at_all(ledger: Ledger) -> None:
    requests = ledger.requests
    requests.begin("ada", "k", "digest")

    def create(name: str, *, again: bool = False) -> None:
        with requests.ending("ada", "k") as keep:
            ledger.projects.create(name)
            assert ledger.projects.find(name).name == name  # it sees what it did
            keep(201, f"/{name}", "{}")
            if again:
                ledger.projects.create(name)

    with pytest.raises(InvalidOption):
        create("p", again=True)
    assert ledger.projects.list() == []
    create("p")
    requests.forget("ada", "k")  # not what was answered
    assert requests.begin("ada", "k", "digest") == (201, "/p", "{}")
    with pytest.raises(CheckFailed, match="begun anew"):
        create("q")
    assert [one.project.name for one in ledger.projects.list()] == ["p"]
    assert ledger.database.check() == []


@both
def test_of_requests_sent_at_the_same_moment_one_begins(ledger: Ledger) -> None:
    def begun(_: int) -> bool:
        try:
            return ledger.requests.begin("ada", "k", "digest") is None
        except CheckFailed:
            return False

    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            assert sum(pool.map(begun, range(8))) == 1
            ledger.requests.forget("ada", "k")
