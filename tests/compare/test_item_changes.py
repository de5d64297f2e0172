"""What became of each item between two states, counted by a few lines of Python."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Connection, FromClause, Select

from tests.counts.plain import Plain as PlainCount
from tests.counts.plain import Rows, store
from tests.counts.selected import Selected, both_kinds, check_each
from tests.helpers import Write
from tests.imports.test_against_a_plain_ledger import Files, Labels, take
from tests.profiles import both, examples
from tracker.compare.items import (
    KINDS,
    ItemChange,
    Step,
    coded_items_for_steps,
    compared_answers,
    item_changes_between,
    patterns_with_item_changes,
    shared_item_steps,
    temporary_rows,
)
from tracker.core.tallies import Answer, ItemPatterns, Pattern, make_pattern
from tracker.counts.filter import select_answers
from tracker.counts.selection import Selection
from tracker.counts.tallies import count_item_patterns
from tracker.imports.undo import undo_import
from tracker.ledger import Ledger
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.projects import last_change, rename_project
from tracker.projects.questions import QuestionInfo, QuestionOptions, create_project
from tracker.storage.as_of import NOW, Moment, as_it_was

Answers = Mapping[tuple[str, str], Labels]
"""What each annotator said of each item."""
Pair = tuple[Answers, Answers]
"""Two states."""


class Plain:
    """What became of each item, by the categories' numbers."""

    def __init__(self, pair: Pair, ids: Mapping[str, int]) -> None:
        self._ids = ids
        self.items: dict[str, dict[str, list[tuple[Answer | None, Answer | None]]]] = {}
        for item, annotator in pair[0].keys() | pair[1].keys():
            before, after = (self._answer(state.get((item, annotator))) for state in pair)
            if before is None:
                what = "came"
            elif after is None:
                what = "went"
            else:
                what = "kept" if before == after else "changed"
            self.items.setdefault(item, {}).setdefault(what, []).append((before, after))

    def _answer(self, labels: Labels | None) -> Answer | None:
        return None if labels is None else tuple(sorted(self._ids[label] for label in labels))

    def changes(self) -> Counter[ItemChange]:
        found: Counter[ItemChange] = Counter()
        for parts in self.items.values():
            of = {what: tuple(zip(*pairs, strict=True)) for what, pairs in parts.items()}
            if of.keys() != {"kept"}:
                nothing: tuple[Any, Any] = ((), ())
                change = ItemChange(
                    kept=tuple(sorted(of.get("kept", nothing)[0])),
                    before=tuple(sorted(of.get("changed", nothing)[0])),
                    after=tuple(sorted(of.get("changed", nothing)[1])),
                    came=tuple(sorted(of.get("came", nothing)[1])),
                    went=tuple(sorted(of.get("went", nothing)[0])),
                )
                found[change] += 1
        return found

    def patterns(self, kinds: frozenset[str]) -> Counter[Any]:
        """The patterns where only these kinds of change had happened."""
        found: Counter[Any] = Counter()
        for parts in self.items.values():
            new = parts.keys() == {"came"}
            happens = {
                "kept": True,
                "changed": "revised_answers" in kinds,
                "came": ("new_items" if new else "new_answers") in kinds,
                "went": "removed_answers" in kinds,
            }
            answers = [pair[happens[what]] for what, pairs in parts.items() for pair in pairs]
            found[make_pattern(own for own in answers if own is not None)] += 1
        del found[()]
        return found


places = st.tuples(st.sampled_from("ijkl"), st.sampled_from("ABC"))
LABELS: dict[str, st.SearchStrategy[Any]] = {
    "one": st.sampled_from("xyz").map(frozenset),
    "several": st.frozensets(st.sampled_from("xyz"), max_size=3),
}


def pairs(labels: st.SearchStrategy[Any]) -> st.SearchStrategy[Pair]:
    """Two states, each answer of either kept, changed, gone or new."""
    same = labels.map(lambda own: (own, own))
    fates = same | st.tuples(labels, labels) | st.tuples(labels | st.none(), labels | st.none())
    found = st.dictionaries(places, fates, min_size=3, max_size=12)
    return found.map(lambda both: (side(both, 0), side(both, 1)))


def side(both: Mapping[tuple[str, str], tuple[Labels | None, ...]], n: int) -> Answers:
    return {place: own for place, labels in both.items() if (own := labels[n]) is not None}


def played(connection: Connection, kind: str, pair: Pair) -> tuple[QuestionInfo, Moment]:
    """A project in the second state, and the moment of the first."""
    before, after = pair
    options = QuestionOptions(answers=kind, categories=("x", "y", "z"))
    project = create_project(connection, "p", options)
    left = {place: own for place, own in before.items() if place in after}
    gone = {place: own for place, own in before.items() if place not in after}
    made = [load(connection, project, answers, n) for n, answers in enumerate((gone, left))]
    first = Moment(through=last_change(connection, project.project_id)[0])
    if made[0] is not None:
        undo_import(connection, made[0])
    load(connection, project, {p: own for p, own in after.items() if before.get(p) != own}, 2)
    return project, first


def load(connection: Connection, question: QuestionInfo, given: Answers, n: int) -> int | None:
    files: Files = [{((item, who, 1), n): own for (item, who), own in given.items()}]
    return take(connection, question, files, n).id if given else None


def copied_answers(
    stack: ExitStack, connection: Connection, name: str, selection: Selection
) -> FromClause:
    return compared_answers(
        connection,
        selection,
        lambda rows: stack.enter_context(temporary_rows(connection, name, rows)),
    )


def follow(ledger: Ledger, kind: str, pair: Pair) -> None:
    with ledger.database.write(keep=False) as connection:
        project, first = played(connection, kind, pair)
        selection = select_answers(connection, project)
        patterns, tables = [], []
        with ExitStack() as stack:
            for name, moment in (("one", first), ("other", NOW)):
                with as_it_was(connection, project.project_id, moment):
                    patterns.append(count_item_patterns(connection, selection))
                    tables.append(copied_answers(stack, connection, name, selection))
            changes = item_changes_between(connection, *tables)
        ids = {name: n for n, name in category_names(connection, project).items()}
    plain = Plain(pair, ids)
    assert changes == plain.changes()
    unchanged = patterns[0] - patterns_with_item_changes(ItemPatterns(), changes, frozenset())
    assert all(items > 0 for _, items in unchanged)
    for number in range(len(KINDS) + 1):
        for kinds in map(frozenset, itertools.combinations(KINDS, number)):
            assert patterns_with_item_changes(unchanged, changes, kinds).counts == plain.patterns(
                kinds
            )
    assert patterns_with_item_changes(unchanged, changes, frozenset()).counts == patterns[0].counts
    assert (
        patterns_with_item_changes(unchanged, changes, frozenset(KINDS)).counts
        == patterns[1].counts
    )


X, Y = frozenset("x"), frozenset("y")
EVERYTHING: Pair = (
    {("i", "A"): X, ("i", "B"): Y, ("i", "C"): X, ("j", "A"): X, ("k", "A"): Y, ("k", "B"): Y},
    {("i", "A"): X, ("i", "B"): X, ("j", "B"): X, ("k", "A"): Y, ("k", "B"): Y, ("l", "A"): X},
)
THE_SAME: Pair = (EVERYTHING[0], EVERYTHING[0])


@both
def test_changes_and_what_each_kind_makes_are_counted(ledger: Ledger, backend: str) -> None:
    @examples(6 if backend == "sqlite" else 2)
    @example(("one", EVERYTHING))
    @example(("several", THE_SAME))
    @example(("one", ({}, EVERYTHING[0])))
    @example(("several", (EVERYTHING[0], {})))
    @given(st.one_of(*(st.tuples(st.just(kind), pairs(own)) for kind, own in LABELS.items())))
    def check(drawn: tuple[str, Pair]) -> None:
        follow(ledger, *drawn)

    check()


def test_a_set_is_the_same_in_whatever_order_it_is_read(
    emptied_postgres_ledger: Ledger, write: Write
) -> None:
    rows = [["item", "annotator", "category"], *(["i", "A", label] for label in "zyx")]
    options = QuestionOptions(answers="several", categories=("x", "y", "z"))
    emptied_postgres_ledger.import_file(write(rows), "p", options=options)
    with emptied_postgres_ledger.asking("p") as (connection, question), ExitStack() as stack:
        selection = select_answers(connection, question)
        tables = []
        for name, scans in (("one", ["seq", "bitmap"]), ("other", ["index", "bitmap"])):
            for scan in scans:
                connection.exec_driver_sql(f"SET LOCAL enable_{scan}scan = off")
            tables.append(copied_answers(stack, connection, name, selection))
            for scan in scans:
                connection.exec_driver_sql(f"SET LOCAL enable_{scan}scan = on")
        assert item_changes_between(connection, *tables) == {}


def test_an_item_that_is_new_is_one_change_whatever_its_answers() -> None:
    new = ItemChange(came=((1,), (2,), (2,)))
    assert new.is_new
    assert new.counts() == {"new_items": 1}
    old = ItemChange(kept=((1,),), before=((1,),), after=((2,),), came=((2,), (2,)), went=((3,),))
    assert not old.is_new
    assert old.counts() == {"new_answers": 2, "revised_answers": 1, "removed_answers": 1}


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


def patterns_by_item(plain: PlainCount) -> dict[int, Pattern]:
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
