"""How long answers took, and on which days they came, against the same counted in Python."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from statistics import mean, median

import pytest

from tests.counts.plain import LATE, Given, Rows
from tests.counts.selected import DAY, START, Selected, both_kinds, check_each, selected
from tests.helpers import count_statements
from tracker.audit.counts_sql import select_answer_durations, select_fastest_items
from tracker.core.audit_tallies import AnswerTimes
from tracker.counts.tallies import select_label_contents
from tracker.counts.timeline import count_active_days
from tracker.ledger import Ledger

Beside = dict[int, list[tuple[Given, float | None]]]


def beside_others(chosen: Selected) -> Beside:
    """The answers of known time of each annotator, each with the mean time of the others."""
    known = [one for one in chosen.counted() if one.spent is not None]
    found: Beside = defaultdict(list)
    for one in known:
        others = [
            other.spent or 0
            for other in known
            if other.item == one.item and other.annotator != one.annotator
        ]
        found[one.annotator].append((one, mean(others) if sum(others) else None))
    return dict(found)


def check_times(chosen: Selected) -> None:
    at = chosen.connection, chosen.selection
    beside = beside_others(chosen)
    timed = [one for given in chosen.passes() for one in given if one.spent is not None]
    assert select_label_contents(*at).seconds == bool(timed), "on any pass"
    found = select_answer_durations(*at)
    assert found.keys() == beside.keys()
    for who, mine in beside.items():
        times = [(one.spent or 0) / 1000 for one, _ in mine]
        ratios = [(one.spent or 0) / others for one, others in mine if others]
        ratio = None if not ratios else pytest.approx(median(ratios))
        expected = AnswerTimes(len(mine), pytest.approx(median(times)), len(ratios), ratio)
        assert found[who] == expected
    for most in (1, 3):
        fastest = select_fastest_items(*at, beside, most)
        for who, mine in beside.items():
            ranked = sorted(
                ((one.spent or 0) / others, one.item, (one.spent or 0) / 1000, others / 1000)
                for one, others in mine
                if others
            )
            assert fastest.get(who, []) == [
                (item, pytest.approx(own), pytest.approx(others))
                for _, item, own, others in ranked[:most]
            ]
    assert select_fastest_items(*at, [], 3) == {}


def check_days(chosen: Selected) -> None:
    moments: dict[int, list[int]] = defaultdict(list)
    for one in chosen.counted():
        if one.at != LATE:
            moments[one.annotator].append(one.at)
    assert count_active_days(chosen.connection, chosen.selection) == {
        who: (len({at // DAY for at in mine}), min(mine), max(mine))
        for who, mine in moments.items()
    }


@both_kinds
def test_times(ledger: Ledger, kind: str) -> None:
    """In the example of seed 62 there is a time on a later pass alone."""

    def check(chosen: Selected) -> None:
        check_times(chosen)
        check_days(chosen)

    check_each(ledger, kind, check, seeds=(62,))


def test_many_items(ledger: Ledger) -> None:
    random = Random(5)  # noqa: S311 - no secret is made with it
    rows: Rows = {
        (f"i{item}", who, 1): frozenset("x")
        for item in range(60)
        for who in "ABCDEF"
        if random.random() < 0.7
    }
    spent = {key: random.randrange(1, 40_000) for key in rows if random.random() < 0.8}
    with selected(ledger, rows, "one", spent=spent) as chosen:
        check_times(chosen)


def test_the_middle_of_two_and_the_mean_of_the_others(ledger: Ledger) -> None:
    rows: Rows = {(item, who, 1): frozenset("x") for item in "ij" for who in "ABC"}
    spent = {("i", "A", 1): 1000, ("j", "A", 1): 4000, ("i", "B", 1): 3000, ("i", "C", 1): 1000}
    with selected(ledger, rows, "one", spent=spent) as chosen:
        check_times(chosen)
        at = chosen.connection, chosen.selection
        assert select_answer_durations(*at)[1] == AnswerTimes(2, 2.5, 1, 0.5)
        assert select_fastest_items(*at, [1], 5) == {1: [(1, 1.0, 2.0)]}


def test_days_are_those_of_utc(ledger: Ledger) -> None:
    rows: Rows = {(item, "A", 1): frozenset("x") for item in "ijkl"}
    moments = (START + DAY - 1_000_000, START + DAY, START + 2 * DAY - 1_000_000)
    times = dict(zip(rows, moments, strict=False))
    with selected(ledger, rows, "one", times=times) as chosen:
        check_days(chosen)
        found = count_active_days(chosen.connection, chosen.selection)
        assert found == {1: (2, moments[0], moments[2])}


def test_as_many_statements_whatever_the_items(ledger: Ledger) -> None:
    numbers = []
    for items in (10, 200):
        rows: Rows = {(f"i{n}", who, 1): frozenset("x") for n in range(items) for who in "ABC"}
        spent = {key: 1000 + n for n, key in enumerate(rows)}
        with selected(ledger, rows, "one", spent=spent) as chosen:
            at = chosen.connection, chosen.selection
            with count_statements(ledger.database.engine) as statements:
                select_answer_durations(*at)
                select_fastest_items(*at, [1, 2], 3)
                select_label_contents(*at)
                count_active_days(*at)
        numbers.append(statements.number)
    assert numbers == [4, 4]
