"""Coefficients without an annotator, an item, a category."""

from __future__ import annotations

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
from tests.helpers import count_statements
from tracker.agreement.explain import (
    MOST_ITEMS,
    Influence,
    agreement_influences,
    assess_merged_categories,
    best_merges,
)
from tracker.agreement.query import Metric
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger

PEOPLE = ("ann", "bob", "cat", "dot")
Answers = dict[tuple[str, str], tuple[str, ...]]


def influences(
    ledger: Ledger, of: str, *measures: str, project: str = "p", **question: Any
) -> tuple[str, float | None, list[Influence]]:
    with ledger.study(project, asked(*measures, **question)) as counted:
        return agreement_influences(counted, of)


def ordered(rows: list[Influence]) -> bool:
    """Whether those that lower the coefficient most come first, the undefined last."""
    changes = [row.change for row in rows]
    known = [change for change in changes if change is not None]
    undefined = changes[len(known) :]
    return known == sorted(known, reverse=True) and undefined == [None] * len(undefined)


# -- without each --------------------------------------------------------------------------


@each_kind_stored
def test_without_each_annotator(ledger: Ledger, kind: Kind) -> None:
    kind.store(ledger)
    for metric in kind.readings_on(ledger):
        without = {who: assessed(ledger, metric=metric, exclude_annotators=who) for who in PEOPLE}
        whole = assessed(ledger, metric=metric)
        for measure in measures_of(kind, metric):
            name, value, rows = influences(ledger, "annotator", measure, metric=metric)
            assert name == measure
            assert value == whole.measure(measure).value
            assert {row.name for row in rows} == {*PEOPLE}
            assert ordered(rows)
            for row in rows:
                assert row.without == close(without[row.name].measure(measure).value)
                assert row.change == close(row.without - value)  # type: ignore[operator]


def test_of_two_annotators_neither_can_be_missed(ledger: Ledger) -> None:
    ledger.import_frame(frame(answers(people=PEOPLE[:2])), "p")
    _, value, rows = influences(ledger, "annotator")
    assert value is not None
    assert rows == [Influence("ann", None, None), Influence("bob", None, None)]


@each_kind_stored
def test_without_each_item(ledger: Ledger, kind: Kind) -> None:
    given = kind.store(ledger)
    names = sorted({item for item, _ in given})
    # What is declared or learnt stays: one item less takes no category away.
    for metric in kind.readings_on(ledger):
        without = {
            item: assessed(
                ledger, metric=metric, where={"name": [name for name in names if name != item]}
            )
            for item in names[::8]
        }
        for measure in measures_of(kind, metric):
            name, value, rows = influences(ledger, "item", measure, metric=metric)
            assert (name, len(rows)) == (measure, min(MOST_ITEMS, len(names)))
            assert len({row.name for row in rows}) == len(rows)
            strengths = [abs(row.change or 0) for row in rows]
            assert strengths[0] > strengths[-1]
            for row in rows:
                if row.name in without:
                    assert row.without == close(without[row.name].measure(measure).value)
                    assert row.change == close(row.without - value)  # type: ignore[operator]


def test_the_item_that_is_different_comes_first(ledger: Ledger) -> None:
    given: Answers = {(f"i{n:02}", who): ("xy"[n % 2],) for n in range(40) for who in "AB"}
    given["i17", "B"] = ("x",)
    ledger.import_frame(frame(given), "p")
    _, value, rows = influences(ledger, "item")
    assert (rows[0].name, rows[0].without) == ("i17", 1)
    assert len(rows) == MOST_ITEMS
    assert rows[0].change == close(1 - value)  # type: ignore[operator]


@pytest.mark.parametrize("kind", [KINDS["learnt"], KINDS["several"], KINDS["ordinal"]])
def test_without_each_category(ledger: Ledger, kind: Kind) -> None:
    given = kind.store(ledger)
    categories = sorted({label for labels in given.values() for label in labels})
    for label in categories:
        left = {key: labels for key, labels in given.items() if label not in labels}
        kind.load(ledger, left, f"without {label}")
    for metric in kind.readings_on(ledger):
        without = {
            label: assessed(ledger, f"without {label}", metric=metric) for label in categories
        }
        for measure in measures_of(kind, metric):
            name, _, rows = influences(ledger, "category", measure, metric=metric)
            assert name == measure
            assert sorted(row.name for row in rows) == categories
            assert ordered(rows)
            for row in rows:
                assert row.without == close(without[row.name].measure(measure).value)


def test_a_coefficient_that_is_undefined_has_no_rows(ledger: Ledger) -> None:
    ledger.import_frame(frame({("i01", "A"): ("x",), ("i01", "B"): ("x",)}), "p")
    for of in ("annotator", "item", "category"):
        assert influences(ledger, of) == ("krippendorff_alpha", None, [])
    _, value, rows = influences(ledger, "item", "percent_agreement")
    assert (value, rows) == (1, [Influence("i01", None, None)])


def test_weights_make_another_measure_of_it(ledger: Ledger) -> None:
    KINDS["ordinal"].store(ledger)
    metric = Metric(weights="linear")
    assert influences(ledger, "annotator", "gwet_ac1", metric=metric)[0] == "gwet_ac2"
    with ledger.study("p", asked("gwet_ac1", metric=metric)) as counted:
        assert best_merges(counted)[0] == "gwet_ac2"


@pytest.mark.parametrize(
    ("of", "measures", "message"),
    [
        ("moon", (), "--influence 'moon' is not known\none of: annotator, item, category"),
        ("", (), "--influence '' is not known"),
        ("item", ("cohen_kappa",), "influence on cohen_kappa .*\n--measure krippendorff_alpha"),
        ("annotator", ("conger_kappa",), "influence on conger_kappa"),
        ("category", ("light_kappa", "fleiss_kappa"), "influence on light_kappa"),
        ("item", ("nosuch",), "no measure 'nosuch'"),
    ],
)
def test_what_has_no_influence(
    sqlite_ledger: Ledger, of: str, measures: tuple[str, ...], message: str
) -> None:
    sqlite_ledger.import_frame(frame(answers()), "p")
    with pytest.raises(InvalidOption, match=message):
        influences(sqlite_ledger, of, *measures)


# -- what it costs -------------------------------------------------------------------------


def test_as_many_statements_whatever_the_items(ledger: Ledger) -> None:
    numbers: list[list[int]] = []
    for items in (10, 99):
        ledger.import_frame(frame(answers(items=items)), f"p{items}")
        found = []
        for of in ("annotator", "item", "category"):
            with count_statements(ledger.database.engine) as statements:
                influences(ledger, of, project=f"p{items}")
            found.append(statements.number)
        engine = ledger.database.engine
        with count_statements(engine) as statements, ledger.study(f"p{items}") as counted:
            assess_merged_categories(counted, ["x+y"])
            best_merges(counted)
        numbers.append([*found, statements.number])
    assert numbers[0] == numbers[1]
    assert max(numbers[0]) < 25
