"""Shared items of every two annotators by pattern, against the same counted in Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from importlib import import_module
from itertools import combinations
from random import Random

import numpy as np
import pytest

from tests.counting.plain import Rows
from tests.counting.selected import Selected, both_kinds, check_each, selected
from tests.helpers import count_statements
from tracker import counting
from tracker.audit.observed import PairPatterns
from tracker.ledger import Ledger
from tracker.tally import Answer, Pattern, make_pattern

room = import_module("tracker.counting.pair_patterns")  # a function has the same name
numbers_room = import_module("tracker.counting.numbers")
Tables = dict[tuple[int, int], Counter[tuple[Pattern, Answer | None]]]


def shared(chosen: Selected, least: int) -> Tables:
    counts: Tables = defaultdict(Counter)
    for given in chosen.plain.compared().values():
        pattern = make_pattern(given.values())
        for (first, one), (second, other) in combinations(sorted(given.items()), 2):
            counts[first, second][pattern, one if one == other else None] += 1
    return {pair: mine for pair, mine in counts.items() if mine.total() >= least}


def tables(found: PairPatterns) -> Tables:
    """The arrays as nested dictionaries; each row of each pair once."""
    for column in (found.pair, found.pattern, found.same, found.items):
        assert column.dtype == np.int64
    counts: Tables = {pair: Counter() for pair in found.pairs}
    assert len(counts) == len(found.pairs)
    columns = (found.pair, found.pattern, found.same, found.items)
    for pair, pattern, same, items in zip(*(one.tolist() for one in columns), strict=True):
        key = found.patterns[pattern], None if same < 0 else found.answers[same]
        assert key not in counts[found.pairs[pair]]
        counts[found.pairs[pair]][key] = items
    return counts


def check_patterns(chosen: Selected) -> None:
    for least in (1, 2, 4):
        found = counting.pair_patterns(chosen.connection, chosen.selection, least)
        assert tables(found) == shared(chosen, least)
        assert len(set(found.patterns)) == len(found.patterns)
        assert len(set(found.answers)) == len(found.answers)


@both_kinds
def test_pair_patterns(ledger: Ledger, kind: str) -> None:
    check_each(ledger, kind, check_patterns)


def test_what_does_not_fit_into_one_integer(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "BITS", 1)
    check_each(ledger, "one", check_patterns, examples=2)


def test_what_does_not_fit_into_one_text(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers_room, "_MOST", 0)
    check_each(ledger, "one", check_patterns, examples=2)


@both_kinds
@pytest.mark.parametrize(("annotators", "labels"), [(40, "xyz"), (20, "abcdefghijklmnopqrst")])
def test_items_of_very_many_answers(
    ledger: Ledger, kind: str, annotators: int, labels: str
) -> None:
    random = Random(annotators)  # noqa: S311 - no secret is made with it
    rows: Rows = {
        (f"i{item}", f"a{who:02}", 1): frozenset(random.choice(labels))
        for item in range(8)
        for who in range(annotators if item % 2 else 3)
    }
    with selected(ledger, rows, kind) as chosen:
        check_patterns(chosen)


def test_as_many_statements_whatever_the_items(ledger: Ledger) -> None:
    numbers = []
    for items in (10, 200):
        rows: Rows = {
            (f"i{n}", who, 1): frozenset("xyz"[n % 3]) for n in range(items) for who in "ABC"
        }
        with selected(ledger, rows, "one") as chosen:
            at = chosen.connection, chosen.selection
            with count_statements(ledger.database.engine) as statements:
                found = counting.pair_patterns(*at)
            assert len(found.pairs) == (3 if items == 200 else 0)
        numbers.append(statements.number)
    assert numbers == [3, 3]
