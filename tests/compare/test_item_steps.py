"""Items on two sides by their answers on each, against the same counted in Python."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from functools import partial
from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection, FromClause, Select

from tests.counts.plain import Plain, Rows, store
from tests.counts.selected import Selected, both_kinds, check_each
from tracker.compare.items import Step, coded_items_for_steps, shared_item_steps, temporary_rows
from tracker.core.tallies import Pattern, make_pattern
from tracker.counts.filter import select_answers
from tracker.counts.selection import Selection
from tracker.ledger import Ledger
from tracker.projects.items import item_names
from tracker.projects.projects import rename_project


def met(
    connection: Connection, first: Selection, second: Selection, *, copied: bool = False
) -> list[Step]:
    with ExitStack() as tables:

        def keep(rows: Select[Any], name: str) -> FromClause:
            if copied:
                return tables.enter_context(temporary_rows(connection, name, rows))
            return rows.cte(name)

        one, other = (
            coded_items_for_steps(connection, side, partial(keep, name=name), first.question)
            for side, name in ((first, "one"), (second, "other"))
        )
        return shared_item_steps(connection, one, other)


def patterns_by_item(plain: Plain) -> dict[int, Pattern]:
    return {item: make_pattern(given.values()) for item, given in plain.compared().items()}


def joined(
    mine: dict[Any, Pattern], theirs: dict[Any, Pattern]
) -> Counter[tuple[Pattern, Pattern]]:
    return Counter((mine[item], theirs[item]) for item in mine.keys() & theirs.keys())


def same(found: list[tuple[Pattern, Pattern, int]]) -> dict[tuple[Pattern, Pattern], int]:
    counts = {(a, b): items for a, b, items in found}
    assert len(counts) == len(found), "no two rows of the same patterns"
    return counts


@both_kinds
def test_two_choices_of_one_project(ledger: Ledger, kind: str) -> None:
    def check(chosen: Selected) -> None:
        everything = select_answers(chosen.connection, chosen.question)
        whole, part = patterns_by_item(chosen.raw.plain()), patterns_by_item(chosen.plain)
        for first, second, mine, theirs in (
            (everything, chosen.selection, whole, part),
            (chosen.selection, everything, part, whole),
            (chosen.selection, chosen.selection, part, part),
        ):
            for copied in (False, True):
                found = met(chosen.connection, first, second, copied=copied)
                assert same(found) == joined(mine, theirs)

    check_each(ledger, kind, check)


def drawn_rows(seed: int, items: str, annotators: int, most: int, names: str = "wxyz") -> Rows:
    """Up to ``most`` categories from each annotator, to every other item the same from all."""
    random = Random(seed)  # noqa: S311 - no secret is made with it
    return {
        (item, f"a{who:02}", 1): frozenset(random.sample(names, random.randint(1, most)))
        if place % 2
        else frozenset(names[0])
        for place, item in enumerate(items)
        for who in range(annotators if place % 2 == 0 else random.randint(1, annotators))
    }


@pytest.mark.parametrize(
    ("kinds", "annotators"),
    [
        (("one", "one"), (40, 3)),  # more answers to an item than a narrow digit holds
        (("several", "several"), (3, 20)),
        (("one", "several"), (20, 3)),
    ],
)
def test_two_projects_meet_by_the_names_of_their_items(
    ledger: Ledger, kinds: tuple[str, str], annotators: tuple[int, int]
) -> None:
    with ledger.database.write(keep=False) as connection:
        sides = []
        for kind, number, items, seed in zip(
            kinds, annotators, ("ghijkl", "mlkjzy"), (1, 2), strict=True
        ):
            rows = drawn_rows(seed, items, number, 1 if kind == "one" else 3, "vwxyz"[seed - 1 :])
            project, plain = store(connection, rows, kind)
            rename_project(connection, project.project, f"project {seed}")
            names = item_names(connection, project.project)
            known = {names[item]: pattern for item, pattern in patterns_by_item(plain).items()}
            sides.append((select_answers(connection, project), known))
        (first, mine), (second, theirs) = sides
        assert mine.keys() & theirs.keys() == set("jkl")
        expected = joined(mine, theirs)
        assert same(met(connection, first, second)) == expected
        turned = {(b, a): items for (a, b), items in expected.items()}
        assert same(met(connection, second, first)) == turned
