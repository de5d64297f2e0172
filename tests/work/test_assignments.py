"""Assignments: who is given what, what closes them, and what they hold whatever came before."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from sqlalchemy import text

from tests.helpers import give
from tests.history.scripts import tampering
from tests.profiles import both, examples
from tracker.core.errors import InvalidOption, Refused, TrackerError
from tracker.ledger import Ledger
from tracker.work.assign import REPEATED_AFTER
from tracker.work.choosing import Given
from tracker.work.sharing import Shares, share_items

_NUMBERS = count()


def register(ledger: Ledger, items: int, project: str = "p") -> None:
    """Make items that nobody answered, each with a text."""
    import_items(ledger, [f"i{n}" for n in range(items)], project)


def import_items(ledger: Ledger, names: list[str], project: str = "p") -> None:
    if project not in [known.project.name for known in ledger.projects.list()]:
        ledger.projects.create(project)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "items.csv"
        file.write_text("".join(["item,text\n", *(f"{name},text {name}\n" for name in names)]))
        ledger.import_items(file, project)


def states(ledger: Ledger, project: str = "p") -> Counter[tuple[str, str]]:
    return Counter((row.annotator, row.state) for row in ledger.assignments.list(project))


def by_person(ledger: Ledger, project: str = "p") -> dict[str, list[Any]]:
    lists: defaultdict[str, list[Any]] = defaultdict(list)
    for row in ledger.assignments.list(project, states=["open", "late"]):
        lists[row.annotator].append(row)
    return lists


@both
@given(data=st.data())
@examples(15)
def test_assignments_hold_every_constraint_whatever_was_answered_and_withdrawn(
    ledger: Ledger, data: st.DataObject
) -> None:
    project = f"p{next(_NUMBERS)}"
    ledger.projects.create(project)
    people = data.draw(st.lists(st.sampled_from("abcdef"), min_size=1, unique=True))
    items = data.draw(st.integers(1, 25))
    register(ledger, items, project)
    answered = data.draw(
        st.sets(st.tuples(st.integers(0, items - 1), st.sampled_from("abcdefxy")), max_size=30)
    )
    if answered:
        give(ledger, [(f"i{n}", who, "xy"[n % 2]) for n, who in sorted(answered)], project)
    had = {(f"i{n}", who) for n, who in answered}
    for _ in range(data.draw(st.integers(1, 3))):
        wanted = data.draw(st.integers(1, 4))
        most = data.draw(st.none() | st.integers(1, 9))
        before = {(row.item, row.annotator) for rows in by_person(ledger, project).values()
                  for row in rows}  # fmt: skip
        take_back = data.draw(st.booleans())
        before = set() if take_back else before
        number = Counter(item for item, _ in had | before)
        try:
            assigned = ledger.assignments.assign(
                project, to=people, answers=wanted, per_annotator=most, withdraw=take_back,
                prefer=data.draw(st.sampled_from(["fewest", "disagreed", "uncertain", "oldest"])),
                overlap=data.draw(st.sampled_from(["even", "anchored"])),
            )  # fmt: skip
        except Refused:
            short = [f"i{n}" for n in range(items) if number[f"i{n}"] < wanted]
            assert all((item, who) in had | before for item in short for who in people)
            continue
        now = Counter((row.item, row.annotator)
                      for rows in by_person(ledger, project).values() for row in rows)  # fmt: skip
        assert max(now.values()) == 1
        new = now.keys() - before
        assert not new & had
        loads = Counter(who for _, who in new)
        assert {load.annotator: load.total for load in assigned.loads if load.total} == loads
        assert most is None or max(loads.values()) <= most
        given_to = Counter(item for item, _ in new)
        for n in range(items):
            item = f"i{n}"
            left = [who for who in people if (item, who) not in had | before]
            needed = min(max(wanted - number[item], 0), len(left))
            assert given_to[item] == needed or (most is not None and not given_to[item])
        if not had | before:
            everyone = [loads[who] for who in people]
            assert max(everyone) - min(everyone) <= 1
        done = sorted(new)[: data.draw(st.integers(0, len(new)))]
        if done:
            give(ledger, [(item, who, "x") for item, who in done], project)
            had |= {*done}
        open_now = {(row.item, row.annotator) for rows in by_person(ledger, project).values()
                    for row in rows}  # fmt: skip
        assert open_now == now.keys() - had


@both
def test_answers_close_assignments_and_undoing_them_opens_them_again(ledger: Ledger) -> None:
    register(ledger, 6)
    assigned = ledger.assignments.assign("p", to=["ada", "bo"], answers=2)
    assert (assigned.items, assigned.answers, assigned.new) == (6, 12, ("ada", "bo"))
    give(ledger, [(f"i{n}", "ada", "x") for n in range(6)] + [("i0", "bo", "y")])
    give(ledger, [("i0", "ada", "z")])  # revised: there is an answer all the same
    assert states(ledger) == {("ada", "done"): 6, ("bo", "done"): 1, ("bo", "open"): 5}
    for number in (2, 3):
        ledger.imports.undo(number)
    assert states(ledger) == {("ada", "open"): 6, ("bo", "open"): 6}


@both
def test_people_whom_only_an_undone_import_named_are_given_items(ledger: Ledger) -> None:
    give(ledger, [("i0", name, "x") for name in ("ada", "bo", "bob", "cy")])
    ledger.annotators.merge("p", "bob", "bo")
    ledger.annotators.kind("p", "cy", "model")
    ledger.imports.undo(1)
    assert ledger.annotators.list("p") == []
    register(ledger, 6)
    ledger.rounds.start("p", items=2, to=["ada", "bo", "bob"], name="r")
    assert states(ledger) == {("ada", "open"): 2, ("bo", "open"): 2}
    with pytest.raises(InvalidOption, match="human and model"):
        ledger.assignments.assign("p", to=["ada", "cy"])
    ledger.assignments.assign("p", to=["cy"], answers=1)
    assert states(ledger)["cy", "open"] == 4  # the round asks for two


def test_an_item_asked_again_waits_for_a_second_answer(ledger: Ledger) -> None:
    register(ledger, 30)
    ledger.assignments.assign("p", to=["ada"], answers=1, repeat="10%")
    (rows,) = by_person(ledger).values()
    again = [row for row in rows if row.why == "repeat"]
    places = {(row.item, row.why): row.order for row in rows}
    assert len(again) == 4
    assert all(row.order - places[row.item, "fresh"] >= REPEATED_AFTER for row in again)
    give(ledger, [(row.item, "ada", "x") for row in rows if row.why == "fresh"])
    assert states(ledger) == {("ada", "done"): 30, ("ada", "open"): 4}
    give(ledger, [(row.item, "ada", "x", 2) for row in again[:2]], "p", "pass")
    assert states(ledger)["ada", "open"] == 2
    give(ledger, [(again[2].item, "ada", "y")])  # a revision is a second answer, too
    assert states(ledger)["ada", "open"] == 1


def test_gold_is_among_the_items_where_nothing_shows_it(ledger: Ledger) -> None:
    register(ledger, 60)
    give(ledger, [(f"i{n}", "expert", "x") for n in range(50, 60)])
    ledger.annotators.kind("p", "expert", "reference")
    give(ledger, [("i50", "ada", "x")])
    assigned = ledger.assignments.assign("p", to=["ada", "bo"], answers=2, gold="10%")
    lists = by_person(ledger)
    for who, rows in lists.items():
        gold = {row.item for row in rows if row.why == "gold"}
        assert len(gold) == 6
        assert gold <= {f"i{n}" for n in range(50, 60)} - ({"i50"} if who == "ada" else set())
        assert not {row.item for row in rows if row.why == "fresh"} & {
            f"i{n}" for n in range(50, 60)
        }
    assert {len(task.row) for task in ledger.assignments.tasks("p")} == {4}
    assert [load.gold for load in assigned.loads] == [6, 6]


def test_people_who_left_or_are_flagged_get_nothing(ledger: Ledger) -> None:
    rows = [(f"i{n}", who, "xy"[n % 2]) for n in range(60) for who in ("ada", "bo", "cleo")]
    give(ledger, [*rows, *((f"i{n}", "same", "x") for n in range(60))])
    register(ledger, 80)
    ledger.record_audit_by_question("p")
    ledger.annotators.leave("p", "cleo", "2026-01-01")
    ledger.annotators.pause("p", "bo")
    assert {flag.annotator for flag in ledger.flags.list("p").flags}
    assigned = ledger.assignments.assign("p", answers=2, exclude_flagged=True)
    assert {load.annotator for load in assigned.loads} == {"ada"}
    assert {*assigned.notes} == {
        "cleo left: no items", "bo is paused: no items", "same has an open finding: no items"
    }  # fmt: skip
    with pytest.raises(Refused, match="nobody of 'p' can be given items"):
        ledger.assignments.assign("p", to=["cleo"])


def test_experts_are_asked_apart(ledger: Ledger) -> None:
    give(ledger, [(f"i{n}", who, "x") for n in range(5) for who in ("ada", "expert")])
    ledger.annotators.kind("p", "expert", "reference")
    give(ledger, [("i5", "ada", "x")])
    assert ledger.assignments.assign("p", to=["expert"], answers=1).answers == 1
    assert [row.item for row in by_person(ledger)["expert"]] == ["i5"]


def test_new_people_begin_with_items_of_somebody_of_standing(ledger: Ledger) -> None:
    give(ledger, [(f"old{n}", who, "xy"[n % 2]) for n in range(30) for who in ("ada", "bo")])
    register(ledger, 60)
    ledger.assignments.assign("p", to=["ada", "bo", "new", "newer"], answers=2, overlap="anchored")
    lists = by_person(ledger)
    standing = {row.item for who in ("ada", "bo") for row in lists[who]}
    beside = [row.item in standing for row in lists["new"]]
    assert beside == sorted(beside, reverse=True)
    assert beside[0]


def test_the_preferred_item_comes_first(ledger: Ledger) -> None:
    give(ledger, [("split", "a", "x"), ("split", "b", "y"), ("alike", "a", "x"),
                  ("alike", "b", "x")])  # fmt: skip
    import_items(ledger, ["none"])
    for prefer, first in (("fewest", "none"), ("oldest", "split"), ("disagreed", "split"),
                          ("uncertain", "none")):  # fmt: skip
        ledger.assignments.assign("p", to=["c"], prefer=prefer, withdraw=True)
        items = [row.item for row in by_person(ledger)["c"]]
        assert items[0] == first, prefer
    assert items == ["none", "split", "alike"]


def test_what_is_late_is_told_and_taken_back(ledger: Ledger) -> None:
    register(ledger, 4)
    ledger.assignments.assign("p", to=["ada", "bo"], answers=2, until="2999-01-01")

    with ledger.database.write() as connection:
        tampering(connection)
        connection.execute(text("UPDATE batches SET until = 5"))
    give(ledger, [("i0", "ada", "x")])
    (ada, bo) = ledger.assignments.progress("p")
    assert (ada.late, ada.done, bo.late, bo.open) == (3, 1, 4, 0)
    taken = ledger.assignments.withdraw("p", ["bo"], late=True)
    assert {(row.annotator, row.state) for row in taken} == {("bo", "withdrawn")}
    assert states(ledger) == {("ada", "late"): 3, ("ada", "done"): 1, ("bo", "withdrawn"): 4}
    assert ledger.assignments.assign("p", to=["cleo"], answers=2).answers == 4


def test_assignments_follow_their_annotator(ledger: Ledger) -> None:
    register(ledger, 4)
    ledger.assignments.assign("p", to=["ada", "adele"], answers=2)
    ledger.annotators.merge("p", "adele", "ada")
    assert states(ledger) == {("ada", "open"): 8}
    give(ledger, [("i0", "adele", "x")])
    assert states(ledger) == {("ada", "open"): 6, ("ada", "done"): 2}
    ledger.annotators.split("p", "adele")
    assert states(ledger) == {("ada", "open"): 4, ("adele", "open"): 3, ("adele", "done"): 1}
    ledger.annotators.erase("p", "adele")
    assert states(ledger) == {("ada", "open"): 4}
    assert ledger.database.check() == []


def test_of_several_questions_one_answer_closes_what_asks_all(ledger: Ledger) -> None:
    frame = pd.DataFrame([("i1", "a", "x", "1")], columns=["item", "annotator", "tone", "topic"])
    ledger.import_frame(frame, "p", questions=["tone=tone", "topic=topic"])
    with pytest.raises(InvalidOption, match="--prefer uncertain is about one question"):
        ledger.assignments.assign("p", to=["b"], prefer="uncertain")
    ledger.assignments.assign("p", to=["b"])
    ledger.assignments.assign("p", to=["c"], question="tone")
    frame = pd.DataFrame([("i1", "b", "y"), ("i1", "c", "y")],
                         columns=["item", "annotator", "topic"])  # fmt: skip
    ledger.import_frame(frame, "p", questions=["topic=topic"])
    assert states(ledger) == {("b", "done"): 1, ("c", "open"): 1}


def test_an_undone_import_ends_its_assignments(ledger: Ledger) -> None:
    give(ledger, [("first", "a", "x")])
    register(ledger, 2)
    ledger.assignments.assign("p", to=["a"], answers=1)
    ledger.assignments.withdraw("p")
    ledger.assignments.assign("p", to=["b"], answers=2)
    assert states(ledger) == {("a", "withdrawn"): 2, ("b", "open"): 3}
    ledger.imports.undo(2)
    assert [row.item for row in by_person(ledger)["b"]] == ["first"]
    (progress,) = [row for row in ledger.assignments.progress("p") if row.annotator == "b"]
    assert progress.open == 1


def test_an_answer_given_here_is_recorded_under_the_names_of_today(ledger: Ledger) -> None:
    ledger.projects.create("p", categories=["good", "bad", "worse"])
    import_items(ledger, ["i0", "i1"])
    ledger.assignments.assign("p", to=["ada", "bo"], answers=2)
    for who, category in (("ada", "good"), ("bo", "worse")):
        while (task := ledger.answering.next("p", who)) is not None:
            ledger.answering.answer("p", who, task.assignment, {"label": Given([category])})
    ledger.categories.rename("p", "good", "fine")
    ledger.categories.merge("p", "worse", "bad")
    ledger.annotators.rename("p", "ada", "adele")
    recorded = ledger.answering.record("p")
    assert sorted((row.annotator, row.answers) for row in recorded) == [("adele", 2), ("bo", 2)]
    assert ledger.answering.record("p") == []
    said = {(label.annotator, label.category) for label in ledger.items.show("p", "i0").labels}
    assert said == {("adele", "fine"), ("bo", "bad")}
    assert ledger.database.check() == []


def test_answers_that_are_refused_stay_and_keep_nobody_else_from_theirs(ledger: Ledger) -> None:
    ledger.projects.create("p", categories=["1", "2"])
    ledger.projects.set("p", scale="interval", opened=True)
    import_items(ledger, ["i0"])
    ledger.assignments.assign("p", to=["ada", "bo"], answers=2)
    for who in ("ada", "bo"):
        task = ledger.answering.next("p", who)
        assert task is not None
        ledger.answering.answer("p", who, task.assignment, {"label": Given(["1"])})
    with ledger.database.write() as connection:
        connection.execute(
            text('UPDATE drafts SET given = \'{"labels": ["a word"]}\' WHERE annotator_id = 1')
        )
    with pytest.raises(TrackerError):
        ledger.answering.record("p")
    assert [label.annotator for label in ledger.items.show("p", "i0").labels] == ["bo"]
    assert ledger.answering.undo("p", "ada")
    assert ledger.answering.record("p") == []


def as_counted(shares: Shares, people: int) -> tuple[list[int], dict[tuple[int, int], int]]:
    """The loads, and what each two people share, counted item by item."""
    loads = [sum(person in of_item for of_item in shares.people) for person in range(people)]
    pairs = {
        pair: sum({*pair} <= {*of_item} for of_item in shares.people)
        for pair in combinations(range(people), 2)
    }
    return loads, pairs


def can_all_have(shares: Shares, barred: dict[int, set[int]], people: int, most: int) -> bool:
    """Whether the same items could be given to as many with nobody having more than ``most``."""
    items, begin, end = len(shares.people), 0, 1
    edges = np.zeros((2 + items + people, 2 + items + people), np.int32)
    for item, of_item in enumerate(shares.people):
        edges[begin, 2 + item] = len(of_item)
        for person in set(range(people)) - barred.get(item, set()):
            edges[2 + item, 2 + items + person] = 1
    edges[2 + items :, end] = most
    flow = maximum_flow(csr_array(edges), begin, end).flow_value
    return bool(flow == sum(map(len, shares.people)))


@given(st.data())
@examples(200)
def test_needs_are_met_nobody_twice_and_loads_are_as_alike_as_can_be(data: st.DataObject) -> None:
    people = data.draw(st.integers(1, 7))
    needs = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=30))
    who = st.sets(st.integers(0, people - 1))
    barred = data.draw(st.dictionaries(st.integers(0, len(needs) - 1), who, max_size=20))
    most = data.draw(st.none() | st.integers(1, 12))
    standing = data.draw(st.sets(st.integers(0, people - 1)))
    seed = data.draw(st.integers(0, 5))
    shares = share_items(needs, people, barred, most=most, standing=standing, seed=seed)
    loads, pairs = as_counted(shares, people)
    assert shares.loads.tolist() == loads
    assert {pair: int(shares.pairs[pair]) for pair in pairs} == pairs
    for item, (needed, given_to) in enumerate(zip(needs, shares.people, strict=True)):
        assert len({*given_to}) == len(given_to)
        assert not {*given_to} & barred.get(item, set())
        met = len(given_to) == min(needed, people - len(barred.get(item, set())))
        assert met or (most is not None and not given_to)
    if most is not None:
        assert max(loads) <= most
    if max(loads) - min(loads) > 1:
        assert not can_all_have(shares, barred, people, max(loads) - 1)


def test_any_two_people_share_as_many_items_as_any_others() -> None:
    for people, each, items in (
        (3, 2, 100), (5, 3, 100), (6, 3, 77), (8, 4, 123), (9, 2, 40), (6, 5, 31), (10, 2, 10),
    ):  # fmt: skip
        loads, pairs = as_counted(share_items([each] * items, people, {}, seed=0), people)
        assert max(loads) - min(loads) <= 1
        assert max(pairs.values()) - min(pairs.values()) <= 1
    first, again, other = (share_items([2] * 40, 6, {}, seed=seed) for seed in (1, 1, 2))
    assert first.people == again.people != other.people


def test_the_first_items_are_shared_whole_and_with_somebody_of_standing() -> None:
    shares = share_items([2] * 100, 4, {}, most=10)
    assert shares.loads.tolist() == [10] * 4
    assert [len(of_item) for of_item in shares.people] == [2] * 20 + [0] * 80
    shares = share_items([3] * 100, 12, {}, standing=[0, 1])
    assert max(shares.loads) - min(shares.loads) <= 1
    with_one = [bool({0, 1} & {*of_item}) for of_item in shares.people]
    assert with_one == sorted(with_one, reverse=True)
    assert sum(with_one) == shares.loads[0] + shares.loads[1]
