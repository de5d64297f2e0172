"""Cross-tables of pairs as arrays, and the items of a pattern, against the same in Python."""

from __future__ import annotations

from collections import defaultdict
from random import Random

import numpy as np
import pytest

from tests.counts.plain import Rows
from tests.counts.selected import Selected, both_kinds, check_each, selected
from tests.profiles import both
from tracker.core.tallies import Answer, Pattern, make_pattern
from tracker.counts import kept_counts
from tracker.counts.pattern_codes import Packing
from tracker.counts.tallies import count_pair_cells, select_items_of_patterns
from tracker.ledger import Ledger
from tracker.measures.cohen import Cells
from tracker.projects.categories import category_names

Tables = dict[tuple[int, int], dict[tuple[Answer, Answer], int]]


def tables(pairs: list[tuple[int, int]], cells: Cells) -> Tables:
    """The arrays as nested dictionaries; each cell of each pair once."""
    assert pairs == sorted(set(pairs))
    assert all(first < second for first, second in pairs)
    assert len(pairs) == cells.pairs
    assert (np.diff(cells.pair) >= 0).all()
    found: Tables = {pair: {} for pair in pairs}
    columns = (column.tolist() for column in (cells.pair, cells.first, cells.second, cells.items))
    for pair, first, second, items in zip(*columns, strict=True):
        cell = cells.answers[first], cells.answers[second]
        assert cell not in found[pairs[pair]]
        found[pairs[pair]][cell] = items
    return found


def check_pairs(chosen: Selected) -> None:
    connection, selection = chosen.connection, chosen.selection
    expected = chosen.plain.pair_tallies()
    declared = [(n,) for n in category_names(connection, chosen.question)]
    for answers in ((), tuple(declared[::-1]), tuple(declared[-1:])):
        pairs, cells = count_pair_cells(connection, selection, answers)
        assert tables(pairs, cells) == expected
        assert cells.answers[: len(answers)] == answers
        assert len(set(cells.answers)) == len(cells.answers)
        rest = cells.answers[len(answers) :]
        assert list(rest) == sorted(rest)
        met = {own for table in expected.values() for cell in table for own in cell}
        assert set(rest) == met - set(answers)


@both
@both_kinds
def test_cross_tables(ledger: Ledger, kind: str) -> None:
    check_each(ledger, kind, check_pairs)


@both
def test_cross_tables_that_do_not_fit_into_one_integer(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Packing, "fits", False)
    check_each(ledger, "one", check_pairs, examples=1)


@both
def test_cross_tables_that_do_not_fit_into_one_text(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_counts, "_MOST_PAIRS", 0)
    check_each(ledger, "one", check_pairs, examples=1)


@pytest.mark.parametrize(("annotators", "categories"), [(70, 3), (9, 300), (33, 33)])
def test_many_annotators_and_categories(ledger: Ledger, annotators: int, categories: int) -> None:
    random = Random(annotators)  # noqa: S311 - no secret is made with it
    names = tuple(f"c{n:03}" for n in range(categories))
    rows = {
        (f"i{item}", f"a{who:02}", 1): frozenset({random.choice(names)})
        for item in range(5)
        for who in range(annotators)
        if random.random() < 0.8
    }
    with selected(ledger, rows, "one", names) as chosen:
        check_pairs(chosen)


# -- the items of a pattern ------------------------------------------------------------------


def items_by_pattern(chosen: Selected) -> dict[Pattern, set[int]]:
    items: dict[Pattern, set[int]] = defaultdict(set)
    for item, given in chosen.plain.compared().items():
        items[make_pattern(given.values())].add(item)
    return dict(items)


def check_items(chosen: Selected) -> None:
    known = items_by_pattern(chosen)
    nowhere = make_pattern([(98,), (99,)])
    for wanted in ({*known}, {*sorted(known)[:1]}, {*sorted(known)[:2], nowhere}, set[Pattern]()):
        for most in (1, 2, 100):
            found = select_items_of_patterns(chosen.connection, chosen.selection, wanted, most)
            assert found.keys() == wanted
            assert found.get(nowhere, []) == []
            for pattern in wanted & known.keys():
                items = found[pattern]
                assert len(items) == len(set(items)) == min(most, len(known[pattern]))
                assert set(items) <= known[pattern]


@both_kinds
def test_items_of_patterns(ledger: Ledger, kind: str) -> None:
    check_each(ledger, kind, check_items)


@both_kinds
def test_items_of_very_many_answers(ledger: Ledger, kind: str) -> None:
    rows: Rows = {
        (f"i{item}", f"a{who:02}", 1): frozenset("xy"[(who * item) % 2])
        for item in range(1, 9)
        for who in range(40 if item > 2 else 3)
    }
    with selected(ledger, rows, kind) as chosen:
        check_items(chosen)
        assert {len(items) for items in items_by_pattern(chosen).values()} == {1, 3}


def test_the_first_items_are_those_with_the_lowest_numbers(ledger: Ledger) -> None:
    rows: Rows = {(f"i{n}", who, 1): frozenset("x") for n in range(3000) for who in "AB"}
    with selected(ledger, rows, "one") as chosen:
        ((pattern, items),) = items_by_pattern(chosen).items()
        found = select_items_of_patterns(chosen.connection, chosen.selection, {pattern}, 20)
        assert found == {pattern: sorted(items)[:20]}
