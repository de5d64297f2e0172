"""The same item answered again by the same annotator, against the same counted in Python."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from tests.counts.plain import LATE, Rows
from tests.counts.selected import DAY, START, Selected, both_kinds, check_each, selected
from tracker.core.tallies import Answer
from tracker.counts.filter import AnswerFilter
from tracker.counts.retest import count_unrepeated_passes, select_repeated_answers
from tracker.counts.tallies import select_label_contents
from tracker.ledger import Ledger

Key = tuple[int, Answer | None, Answer | None]


def check_passes(chosen: Selected) -> None:
    at = chosen.connection, chosen.selection
    times, timed, days = Counter[Key](), Counter[Key](), Counter[Key]()
    for given in chosen.passes():
        for earlier, later in pairwise(given):
            key = later.annotator, earlier.own, later.own
            known = LATE not in {earlier.at, later.at}
            times[key] += 1
            timed[key] += known
            days[key] += (later.at - earlier.at) // DAY if known else 0
    for row in select_repeated_answers(*at):  # a set may be spelled in two ways: rows add up
        key = row.annotator, row.earlier, row.later
        assert 0 <= row.timed <= row.times > 0
        times[key] -= row.times
        timed[key] -= row.timed
        days[key] -= round(row.days)
    assert not any((*times.values(), *timed.values(), *days.values()))
    every = chosen.passes()
    assert select_label_contents(*at).repeats == any(given[-1].number > 1 for given in every)
    assert count_unrepeated_passes(*at) == sum(given[0].number > 1 for given in every)


@both_kinds
def test_repeats(ledger: Ledger, kind: str) -> None:
    check_each(ledger, kind, check_passes)


def x(label: str) -> frozenset[str]:
    return frozenset(label)


def test_gaps_and_skipped_passes_are_passed_over(ledger: Ledger) -> None:
    rows: Rows = {
        ("i", "A", 1): x("w"),
        ("i", "A", 5): x("z"),  # after a gap
        ("i", "B", 1): x("w"),
        ("i", "B", 2): None,  # skipped
        ("i", "B", 3): x("w"),
        ("i", "C", 1): None,
        ("i", "C", 2): x("w"),  # nothing before it
        ("j", "C", 2): x("w"),
        ("i", "D", 1): x("w"),
        ("i", "D", 2): None,  # nothing after it
        ("i", "R", 1): x("w"),
        ("i", "R", 2): x("w"),  # the reference is not compared
    }
    with selected(ledger, rows, "one") as chosen:
        check_passes(chosen)
        found = list(select_repeated_answers(chosen.connection, chosen.selection))
        assert sorted((row.times, row.earlier == row.later) for row in found) == [
            (1, False),
            (1, True),
        ]
        assert count_unrepeated_passes(chosen.connection, chosen.selection) == 2


def test_three_passes_are_two_repeats(ledger: Ledger) -> None:
    rows: Rows = {("i", "A", n): x("wxw"[n - 1]) for n in (1, 2, 3)}
    with selected(ledger, rows, "one") as chosen:
        check_passes(chosen)
        assert len(list(select_repeated_answers(chosen.connection, chosen.selection))) == 2


def test_time_counts_where_it_is_known_on_both_passes(ledger: Ledger) -> None:
    rows: Rows = {("i", who, n): x("w") for who in "ABCD" for n in (1, 2)}
    times = {
        ("i", "A", 1): START,
        ("i", "A", 2): START + 3 * DAY,
        ("i", "B", 1): START,
        ("i", "C", 2): START,
    }
    with selected(ledger, rows, "one", times=times) as chosen:
        check_passes(chosen)
        found = list(select_repeated_answers(chosen.connection, chosen.selection))
        told = sorted((row.times, row.timed, row.days) for row in found)
        assert told == [(1, 0, 0), (1, 0, 0), (1, 0, 0), (1, 1, 3)]


def test_a_choice_of_times_may_leave_a_pass_alone(ledger: Ledger) -> None:
    rows: Rows = {("i", "A", n): x("wxy"[n - 1]) for n in (1, 2, 3)}
    times = {("i", "A", n): START + n * DAY for n in (1, 2, 3)}
    for choice, repeats, alone in (
        (AnswerFilter(), 2, 0),
        (AnswerFilter(since=START + 2 * DAY), 1, 1),
        (AnswerFilter(since=START + 3 * DAY), 0, 1),
        (AnswerFilter(until=START + DAY), 0, 0),
    ):
        with selected(ledger, rows, "one", choice=choice, times=times) as chosen:
            check_passes(chosen)
            at = chosen.connection, chosen.selection
            assert len(list(select_repeated_answers(*at))) == repeats
            assert count_unrepeated_passes(*at) == alone
            assert select_label_contents(*at).repeats == bool(repeats + alone)
