"""Coefficients with categories taken for one."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from tests.agreement.crowd import (
    KINDS,
    Kind,
    answers,
    asked,
    assessed,
    close,
    each_kind_stored,
    frame,
    measures_of,
)
from tracker.agreement.explain import Merge, assess_merged_categories, best_merges
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

PEOPLE = ("ann", "bob", "cat", "dot")
Answers = dict[tuple[str, str], tuple[str, ...]]


# -- merged --------------------------------------------------------------------------------


def renamed(given: Answers, into: dict[str, str]) -> Answers:
    return {
        key: tuple(sorted({into.get(label, label) for label in labels}))
        for key, labels in given.items()
    }


@pytest.mark.parametrize(
    ("kind", "merges", "declared"),
    [
        ("one", ["x+y"], ("x", "z")),
        ("one", [" z + x "], ("z", "y")),
        ("one", ["x+y+z"], ("x",)),
        ("learnt", ["z+x"], None),
        ("several", ["x+z"], None),
        ("several", ["x+y+z"], None),
        ("ordinal", ["low+middle"], ("low", "high", "top")),
        ("ordinal", ["top+high", "low+middle"], ("low", "top")),
        ("ratio", ["1+2.5"], None),
        ("ratio", ["10+0"], None),
    ],
)
def test_merging_is_renaming(
    ledger: Ledger, kind: str, merges: list[str], declared: tuple[str, ...] | None
) -> None:
    """A merged category has the place, and the number, of the first that is named."""
    made = KINDS[kind]
    given = made.store(ledger)
    parts = [[name.strip() for name in merge.split("+")] for merge in merges]
    into = {name: first for first, *others in parts for name in others}
    told = {first: "+".join([first, *others]) for first, *others in parts}
    options = QuestionOptions(made.options.answers, made.options.scale, categories=declared)
    Kind(options).load(ledger, renamed(given, into), "q")
    for metric in made.readings_on(ledger):
        measures = [*measures_of(made, metric)]
        with ledger.study("p", asked(*measures, metric=metric)) as counted:
            found = assess_merged_categories(counted, merges)
        again = assessed(ledger, "q", *measures, metric=metric)
        for one, other in zip(found.measures, again.measures, strict=True):
            assert one.measure == other.measure
            for part in ("value", "undefined", "observed", "expected", "standard_error", "items"):
                assert getattr(one, part) == close_or_same(getattr(other, part)), one.measure
        assert found.counts == again.counts
        rates = {found.categories[rate.category]: rate for rate in found.rates}
        others = {again.categories[rate.category]: rate for rate in again.rates}
        assert rates.keys() == {told.get(name, name) for name in others}
        for name, rate in others.items():
            mine = rates[told.get(name, name)]
            assert (mine.agreements, mine.potential_agreements, mine.labels) == (
                rate.agreements,
                rate.potential_agreements,
                rate.labels,
            )


def close_or_same(value: Any) -> Any:
    return close(value) if isinstance(value, float) else value


def test_all_as_one_is_a_single_category(ledger: Ledger) -> None:
    KINDS["one"].store(ledger)
    with ledger.study("p") as counted:
        found = assess_merged_categories(counted, ["x+y+z"])
    assert found.measure("krippendorff_alpha").undefined == "single_category"
    assert found.measure("percent_agreement").value == 1
    assert "conger_kappa" not in {one.measure for one in found.measures}


NAMES = ("a", "b", "a+b", "a|b", "a=b", "C", "C++", "ä", "1e3", "名")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("b+a", ["b", "a"]),
        ("b+a+b", ["b", "a+b"]),
        ("a|b+a=b", ["a|b", "a=b"]),
        ("C+C++", ["C", "C++"]),
        ("C+++C", ["C++", "C"]),
        ("C+++a+b", ["C++", "a", "b"]),
        ("ä + 1e3", ["ä", "1e3"]),
        ("名+a+b+C+++C", ["名", "a", "b", "C++", "C"]),
    ],
)
def test_names_may_have_a_plus(ledger: Ledger, text: str, names: list[str]) -> None:
    ledger.import_frame(frame(answers(categories=NAMES, items=30)), "p")
    with ledger.study("p") as counted:
        found = assess_merged_categories(counted, [text])
    assert len(found.rates) == len(NAMES) - len(names) + 1
    assert "+".join(names) in found.categories.values()
    assert not {*names} & ({*found.categories.values()} - {"+".join(names)})


def test_two_categories_never_have_one_name(ledger: Ledger) -> None:
    ledger.import_frame(frame(answers(categories=("a", "b", "a+b"))), "p")
    with ledger.study("p") as counted, pytest.raises(InvalidOption, match="another category is"):
        assess_merged_categories(counted, ["a+b"])


def test_a_plus_may_be_a_name(ledger: Ledger) -> None:
    ledger.import_frame(frame(answers(categories=("+", "a", "b"))), "p")
    with ledger.study("p") as counted:
        assert [*assess_merged_categories(counted, ["a++"]).categories.values()] == ["a++", "b"]
        assert [*assess_merged_categories(counted, ["++b"]).categories.values()] == ["++b", "a"]


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        (["x"], "'x' does not name two or more different categories\nsuch as: --merge"),
        (["x+x"], "does not name two or more different"),
        (["x+y+x"], "does not name two or more different"),
        (["x+nosuch"], "no category 'nosuch' to merge\nsee: tracker category list"),
        (["nosuch"], "no category 'nosuch'"),
        (["x+Y"], "no category 'Y'"),
        (["x,y"], "no category 'x,y' to merge\ndid you mean"),
        ([""], "no category ''"),
        (["+"], "no category '\\+'"),
        (["x++y"], "no category"),
        (["x+y", "y+z"], "'y\\+z': 'y' is merged already\nname all"),
        (["x+y", "x+z"], "'x' is merged already"),
        (["x+y", "x+y"], "merged already"),
    ],
    ids=str,
)
def test_what_cannot_be_merged(sqlite_ledger: Ledger, merges: list[str], message: str) -> None:
    KINDS["one"].store(sqlite_ledger)
    with sqlite_ledger.study("p") as counted, pytest.raises(InvalidOption, match=message):
        assess_merged_categories(counted, merges)


def test_a_measure_of_pairs_cannot_be_had_of_merged_categories(sqlite_ledger: Ledger) -> None:
    KINDS["one"].store(sqlite_ledger)
    for measure in ("cohen_kappa", "conger_kappa", "light_kappa"):
        with (
            sqlite_ledger.study("p", asked("fleiss_kappa", measure)) as counted,
            pytest.raises(InvalidOption, match=f"{measure} is not to be had"),
        ):
            assess_merged_categories(counted, ["x+y"])


# -- the best ------------------------------------------------------------------------------


@each_kind_stored
def test_the_best_merges(ledger: Ledger, kind: Kind) -> None:
    given = kind.store(ledger)
    labels = sorted({label for own in given.values() for label in own})
    for metric in kind.readings_on(ledger):
        for measure in measures_of(kind, metric):
            with ledger.study("p", asked(measure, metric=metric)) as counted:
                name, value, rows = best_merges(counted, most=100)
                again = {
                    merge.categories: assess_merged_categories(
                        counted, ["+".join(merge.categories)]
                    )
                    for merge in rows
                }
            assert name == measure
            assert value == assessed(ledger, "p", measure, metric=metric).measures[0].value
            assert {frozenset(merge.categories) for merge in rows} == {
                frozenset(two) for two in combinations(labels, 2)
            }
            changes = [merge.change for merge in rows if merge.change is not None]
            assert changes == sorted(changes, reverse=True)
            for merge in rows:
                assert merge.value == close(again[merge.categories].measures[0].value)
                if merge.value is not None:
                    assert merge.change == close(merge.value - value)  # type: ignore[operator]


def test_ten_are_told(ledger: Ledger) -> None:
    ledger.import_frame(frame(answers(categories="abcdefg", items=30)), "p")
    with ledger.study("p") as counted:
        _, _, few = best_merges(counted)
        _, _, every = best_merges(counted, most=1000)
    assert (len(few), len(every)) == (10, 21)
    assert few == every[:10]


def test_the_confused_come_first(ledger: Ledger) -> None:
    given: Answers = {}
    for n in range(30):
        for who in "AB":
            label = "xyz"[n % 3]
            given[f"i{n:02}", who] = ("x" if label == "y" and (n % 2 == (who == "A")) else label,)
    ledger.import_frame(frame(given), "p")
    with ledger.study("p") as counted:
        _, value, rows = best_merges(counted)
    assert value is not None
    assert rows[0] == Merge(("x", "y"), 1.0, 1 - value)
    assert [merge.change < 0 for merge in rows[1:]] == [True, True]  # type: ignore[operator]


def test_nothing_to_merge(ledger: Ledger) -> None:
    ledger.import_frame(frame({("i01", "A"): ("x",), ("i01", "B"): ("x",)}), "p")
    with ledger.study("p") as counted:
        assert best_merges(counted) == ("krippendorff_alpha", None, [])


def test_what_has_no_best_merge(sqlite_ledger: Ledger) -> None:
    names = tuple(f"c{n:02}" for n in range(61))
    options = QuestionOptions(categories=names)
    given = answers(categories=names[:3])
    sqlite_ledger.import_frame(frame(given), "p", options=options)
    with (
        sqlite_ledger.study("p") as counted,
        pytest.raises(InvalidOption, match=r"61 categories are more than the 60 .*\n.*--merge a"),
    ):
        best_merges(counted)
    for measure in ("cohen_kappa", "conger_kappa", "light_kappa"):
        with (
            sqlite_ledger.study("p", asked(measure)) as counted,
            pytest.raises(InvalidOption, match=f"{measure} is not to be had"),
        ):
            best_merges(counted)
