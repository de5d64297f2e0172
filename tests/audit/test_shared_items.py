"""Shared items of every two annotators by kind, and by pattern, against plain counts."""

from __future__ import annotations

from collections import Counter, defaultdict
from importlib import import_module
from itertools import combinations
from random import Random

import numpy as np
import pytest

from tests.counts.plain import Rows
from tests.counts.selected import Selected, both_kinds, check_each, selected
from tests.helpers import count_statements
from tracker.audit.shared_sql import count_shared_items
from tracker.core.audit_tallies import DIFFERENT, MINORITY, SAME, PairPatterns, SharedItems
from tracker.core.tallies import (
    Answer,
    Pattern,
    answers_in_pattern,
    chance_of_sharing,
    distinct_answers,
    make_pattern,
    minority_answers,
)
from tracker.counts import kept_counts
from tracker.counts.pattern_codes import Packing
from tracker.ledger import Ledger

numbers_room = import_module("tracker.counts.tallies")
Tables = dict[tuple[int, int], Counter[tuple[Pattern, Answer | None]]]
Kinds = dict[tuple[int, int], Counter[tuple[int, ...]]]


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


def kinds(tables: Tables) -> Kinds:
    """Of each pair: the items by their answers, the ways to share any and a minority's, and how."""
    found: Kinds = {}
    for pair, counts in tables.items():
        mine = found[pair] = Counter()
        for (pattern, same), items in counts.items():
            size, few = answers_in_pattern(pattern), minority_answers(pattern)
            ways = [
                round(chance_of_sharing(pattern, answers) * size * (size - 1))
                for answers in (distinct_answers(pattern), few)
            ]
            given = DIFFERENT if same is None else MINORITY if same in few else SAME
            mine[size, *ways, given] += items
    return found


def kinds_in(found: SharedItems) -> Kinds:
    """The arrays as nested dictionaries."""
    known = [*zip(found.answers, found.alike, found.minority, found.given, strict=True)]
    counts: Kinds = {pair: Counter() for pair in found.pairs}
    assert len(counts) == len(found.pairs)
    for pair, kind, items in zip(found.pair, found.kind, found.items, strict=True):
        counts[found.pairs[pair]][tuple(map(int, known[kind]))] += int(items)
    return counts


def check_items(chosen: Selected) -> None:
    most = max(map(len, chosen.plain.compared().values()), default=0)
    for least in (1, 2, 4):
        found = count_shared_items(chosen.connection, chosen.selection, most, least)
        plain = shared(chosen, least)
        assert kinds_in(found) == kinds(plain)
        for wanted in (found.pairs[:1], found.pairs[::2], found.pairs):
            met = found.patterns(wanted)
            told = tables(met)
            assert {pair: told[pair] for pair in wanted} == {pair: plain[pair] for pair in wanted}
            assert len(set(met.patterns)) == len(met.patterns)
            assert len(set(met.answers)) == len(met.answers)
            for place, pair in enumerate(met.pairs):
                items = sum(plain[pair].values())
                assert sum(met.of(place).values()) == items


@both_kinds
def test_shared_items(ledger: Ledger, kind: str) -> None:
    check_each(ledger, kind, check_items)


def test_what_does_not_fit_into_one_integer(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Packing, "fits", False)
    check_each(ledger, "one", check_items, examples=2)


def test_what_does_not_fit_into_one_text(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_counts, "_MOST_PAIRS", 0)
    check_each(ledger, "one", check_items, examples=2)


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
        check_items(chosen)


def test_as_many_statements_whatever_the_items(ledger: Ledger) -> None:
    numbers = []
    for items in (10, 200):
        rows: Rows = {
            (f"i{n}", who, 1): frozenset("xyz"[n % 3]) for n in range(items) for who in "ABC"
        }
        with selected(ledger, rows, "one") as chosen:
            at = chosen.connection, chosen.selection
            with count_statements(ledger.database.engine) as statements:
                found = count_shared_items(*at, 3)
            assert len(found.pairs) == (3 if items == 200 else 0)
        numbers.append(statements.number)
    assert numbers == [2, 2]
