"""Skipped items beside who else skipped them, against the same counted in Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

from tests.counts.plain import Given, Rows
from tests.counts.selected import DAY, START, Selected, both_kinds, check_each, selected
from tests.helpers import SPANS
from tracker.counts.filter import AnswerFilter, select_answers
from tracker.counts.tallies import select_label_contents, skip_tallies
from tracker.ledger import Ledger

Tallies = dict[int, Counter[tuple[bool, int, int]]]


def skips(chosen: Selected) -> Tallies:
    first: dict[tuple[int, int], Given] = {}
    for one in sorted(chosen.raw.given, key=lambda one: -one.number):
        if chosen.chosen(one):
            first[one.item, one.annotator] = one
    skipped = {key: not one.own for key, one in first.items()}  # None or, in several, empty
    skipping, seeing = Counter[int](), Counter[int]()
    for (item, _), is_skipped in skipped.items():
        skipping[item] += is_skipped
        seeing[item] += 1
    counts = defaultdict[int, Counter[tuple[bool, int, int]]](Counter)
    for (item, who), is_skipped in skipped.items():
        counts[who][is_skipped, skipping[item], seeing[item]] += 1
    return counts


def check_skips(chosen: Selected) -> None:
    expected = skips(chosen)
    at = chosen.connection, chosen.selection
    assert skip_tallies(*at) == expected
    # There may be an empty answer on a later pass only.
    there = any(key[0] for mine in expected.values() for key in mine)
    assert select_label_contents(*at).empty >= there


@both_kinds
def test_skips(ledger: Ledger, kind: str) -> None:
    check_each(ledger, kind, check_skips)


def x(label: str) -> frozenset[str]:
    return frozenset(label)


def test_an_item_skipped_first_is_skipped_whatever_came_later(ledger: Ledger) -> None:
    rows: Rows = {
        ("i", "A", 1): None,
        ("i", "A", 2): x("w"),
        ("i", "B", 1): x("w"),
        ("i", "B", 2): None,
        ("i", "C", 1): None,
    }
    times = {key: START + DAY * key[2] for key in rows}
    with selected(ledger, rows, "one", times=times) as chosen:
        check_skips(chosen)
        found = skip_tallies(chosen.connection, chosen.selection)
        assert found == {1: {(True, 2, 3): 1}, 2: {(False, 2, 3): 1}, 3: {(True, 2, 3): 1}}
    later = AnswerFilter(since=START + 2 * DAY)
    with selected(ledger, rows, "one", times=times, choice=later) as chosen:
        check_skips(chosen)
        found = skip_tallies(chosen.connection, chosen.selection)
        assert found == {1: {(False, 1, 2): 1}, 2: {(True, 1, 2): 1}}


def test_documents_without_a_span(ledger: Ledger, write: Callable[..., Path]) -> None:
    file = write(
        """doc,coder,tag,start,end,pass
        d,A,PER,0,2,1
        d,A,LOC,4,5,1
        d,B,,,,1
        d,B,LOC,4,5,2
        e,A,,,,1
        e,B,,,,1
        f,A,PER,0,2,1"""
    )
    ledger.import_file(file, "p", options=SPANS)
    with ledger.asking("p") as (connection, question):
        selection = select_answers(connection, question)
        assert select_label_contents(connection, selection).empty
        assert skip_tallies(connection, selection) == {
            1: {(False, 1, 2): 1, (True, 2, 2): 1, (False, 0, 1): 1},
            2: {(True, 1, 2): 1, (True, 2, 2): 1},
        }
