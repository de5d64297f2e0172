"""Tallies of very many answers and categories, against the same counted in Python.

Those of drawn projects are in `test_selection.py`.
"""

from __future__ import annotations

from random import Random

import pytest

from tests.counts.plain import Rows, compare, store
from tests.profiles import both
from tracker.counts import kept_counts
from tracker.ledger import Ledger
from tracker.projects.projects import rename_project


def check(ledger: Ledger, rows: Rows, kind: str, categories: tuple[str, ...] | None = None) -> None:
    with ledger.database.write(keep=False) as connection:
        project, plain = store(connection, rows, kind, categories)
        compare(connection, project, plain)


def drawn(annotators: int, categories: int, items: int, *, most: int = 1) -> Rows:
    """Random answers of so many annotators to every item, up to ``most`` categories each."""
    random = Random(annotators * categories)  # noqa: S311 - no secret is made with it
    names = [f"c{n:03}" for n in range(categories)]
    return {
        (f"i{item}", f"a{annotator:03}", 1): frozenset(
            random.sample(names, random.randint(1, most))
        )
        for item in range(items)
        for annotator in range(annotators)
        if random.random() < 0.9 or annotator < 2
    }


@both
@pytest.mark.parametrize("annotators", [15, 16, 300])
def test_items_of_very_many_answers(ledger: Ledger, annotators: int) -> None:
    rows = dict(drawn(annotators, 3, items=3 if annotators < 100 else 1))
    for annotator in range(annotators):  # all alike: one digit holds everyone
        rows["unanimous", f"a{annotator:03}", 1] = frozenset({"c001"})
    rows["alone", "a000", 1] = frozenset({"c002"})
    check(ledger, rows, "one")


@pytest.mark.parametrize("categories", [15, 16, 120, 121, 400])
def test_projects_of_very_many_categories(ledger: Ledger, categories: int) -> None:
    names = tuple(f"c{n:03}" for n in range(categories))
    rows = dict(drawn(4, categories, items=40))
    rows["ends", "a000", 1] = frozenset({names[0]})
    rows["ends", "a001", 1] = frozenset({names[-1]})
    check(ledger, rows, "one", names)


def test_many_answers_in_many_categories(ledger: Ledger) -> None:
    check(ledger, drawn(40, 30, items=4), "one")
    check(ledger, drawn(20, 30, items=4, most=4), "several")


def test_what_does_not_fit_into_one_text(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_counts, "_MOST_PAIRS", 0)
    check(ledger, drawn(6, 4, items=20), "one")


def test_a_project_without_answers(ledger: Ledger) -> None:
    check(ledger, {("i", "A", 1): None, ("j", "R", 1): frozenset({"x"})}, "one")
    check(ledger, {("i", "M", 1): frozenset()}, "several")


def test_projects_do_not_mix(ledger: Ledger) -> None:
    rows = {("i", "A", 1): frozenset({"x"}), ("i", "B", 1): frozenset({"y"})}
    with ledger.database.write() as connection:
        other, _ = store(connection, drawn(4, 3, items=5), "one")
        rename_project(connection, other.project, "other")
        project, plain = store(connection, rows, "one")
        compare(connection, project, plain)
