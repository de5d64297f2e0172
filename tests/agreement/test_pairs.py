"""A row per pair: kappas under weights, and on numeric scales what scipy makes of the columns."""

from __future__ import annotations

from itertools import combinations
from math import sqrt
from statistics import fmean, pvariance, stdev, variance
from typing import Any

import pandas as pd
import pytest
from scipy import stats

from tests.agreement.crowd import (
    KINDS,
    Kind,
    answers,
    asked,
    assessed,
    close,
    each_kind_stored,
    frame,
)
from tests.helpers import SPANS, count_statements
from tracker.agreement.pairs import PairAgreement, agreement_by_pair
from tracker.agreement.query import Metric
from tracker.agreement.run import span_pair_agreement
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger

PEOPLE = ("ann", "bob", "cat", "dot")


def pairs(ledger: Ledger, project: str = "p", **asking: Any) -> dict[Any, PairAgreement]:
    with ledger.asking(project) as (connection, question):
        rows = agreement_by_pair(connection, question, asked(**asking))
    assert [row.annotators for row in rows] == sorted(row.annotators for row in rows)
    return {row.annotators: row for row in rows}


def columns(given: Any, one: str, other: str) -> tuple[list[float], list[float]]:
    """What two people gave to the items that both answered, as numbers."""
    items = sorted(item for item, who in given if who == one and (item, other) in given)
    first, second = ([float(given[item, who][0]) for item in items] for who in (one, other))
    return first, second


@each_kind_stored
def test_a_pair_is_a_project_of_two(ledger: Ledger, kind: Kind) -> None:
    if kind.options.categories is None and kind.options.answers != "several":
        # Learnt categories: the same are in use whoever is chosen, each being given by everyone.
        given = kind.store(ledger, items=60, density=1, accuracy=0.3)
        by_person = {who: {given[at] for at in given if at[1] == who} for who in PEOPLE}
        assert len({frozenset(own) for own in by_person.values()}) == 1
    else:
        kind.store(ledger)
    for metric in kind.readings_on(ledger):
        if metric.distance is not None:
            continue  # of alpha only
        found = pairs(ledger, metric=metric)
        assert found.keys() == {*combinations(PEOPLE, 2)}
        for two, row in found.items():
            alone = assessed(ledger, "p", "cohen_kappa", metric=metric, annotators=two)
            kappa = alone.measures[0]
            assert row.kappa.value == close(kappa.value)
            assert row.kappa.standard_error == close(kappa.standard_error)
            assert (row.kappa.ci_low, row.kappa.ci_high) == (
                close(kappa.ci_low),
                close(kappa.ci_high),
            )
            assert row.kappa.items == alone.counts.items_compared
            told = row.to_dict()
            assert told["weights"] == (metric.weights or "identity")
            assert ("numeric" in told) == (
                (metric.scale or kind.options.scale) in {"interval", "ratio"}
            )


@pytest.mark.parametrize("weights", ["linear", "quadratic", "ordinal"])
def test_weights_where_categories_are_learnt(ledger: Ledger, weights: str) -> None:
    """They lie as far apart as those in use, wherever: the only pair is the whole project."""
    KINDS["ratio"].store(ledger, people=PEOPLE[:2])
    alone = {("i90", "ann"): ("100",)}  # in use, though of no item of two answers
    KINDS["ratio"].load(ledger, alone, "p")
    metric = Metric(weights=weights)
    (row,) = pairs(ledger, metric=metric).values()
    kappa = assessed(ledger, metric=metric).measure("cohen_kappa")
    assert kappa.value is not None
    assert (row.kappa.value, row.kappa.expected) == (close(kappa.value), close(kappa.expected))


def test_the_confidence_is_that_of_the_pairs(ledger: Ledger) -> None:
    KINDS["ratio"].store(ledger)
    wide, narrow = (pairs(ledger, confidence=level) for level in (0.99, 0.5))
    for two, row in wide.items():
        other = narrow[two]
        assert row.kappa.ci_low < other.kappa.ci_low  # type: ignore[operator]
        assert row.numeric is not None
        assert other.numeric is not None
        assert (row.numeric.confidence, other.numeric.confidence) == (0.99, 0.5)
        assert row.numeric.bias.ci_low < other.numeric.bias.ci_low  # type: ignore[operator]


# -- numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", [Metric(), Metric(scale="interval")], ids=["ratio", "interval"])
def test_correlations_and_differences(ledger: Ledger, metric: Metric) -> None:
    # Dot comes first in the file and last by name: differences are of the second by name.
    given = KINDS["ratio"].store(ledger, people=PEOPLE[::-1], items=30)
    for (one, other), row in pairs(ledger, metric=metric).items():
        x, y = columns(given, one, other)
        found = row.numeric
        assert found is not None
        assert found.items == row.kappa.items == len(x)
        pearson, spearman = stats.pearsonr(x, y), stats.spearmanr(x, y)
        assert found.pearson.value == close(pearson.statistic)
        bounds = pearson.confidence_interval(0.95)
        assert (found.pearson.ci_low, found.pearson.ci_high) == (
            close(bounds.low),
            close(bounds.high),
        )
        assert found.spearman.value == close(spearman.statistic)
        covariance = fmean((a - fmean(x)) * (b - fmean(y)) for a, b in zip(x, y, strict=True))
        lin = 2 * covariance / (pvariance(x) + pvariance(y) + (fmean(x) - fmean(y)) ** 2)
        assert found.concordance.value == close(lin)
        differences = [b - a for a, b in zip(x, y, strict=True)]
        bias, spread = fmean(differences), stdev(differences)
        assert (found.bias.value, found.sd.value) == (close(bias), close(spread))
        assert found.lower_limit.value == close(bias - 1.96 * spread)
        assert found.upper_limit.value == close(bias + 1.96 * spread)
        t = stats.t.ppf(0.975, len(x) - 1)
        assert found.bias.ci_high == close(bias + t * sqrt(variance(differences) / len(x)))
        told = row.to_dict()["numeric"]
        assert told["pearson"]["value"] == found.pearson.value
        assert told["items"] == len(x)


def test_the_bias_is_of_the_second_by_name(ledger: Ledger) -> None:
    given = {
        (f"i{n:02}", who): (str(n + (who == "zoe")),) for n in range(5) for who in ("zoe", "ann")
    }
    KINDS["ratio"].load(ledger, given, "p")
    (row,) = pairs(ledger).values()
    assert row.annotators == ("ann", "zoe")
    assert row.numeric is not None
    assert (row.numeric.bias.value, row.numeric.sd.value) == (1, 0)
    assert (row.numeric.pearson.value, row.numeric.pearson.unbounded) == (1, "no_spread")


def test_little_to_correlate(ledger: Ledger) -> None:
    given = {("i01", "A"): ("0",), ("i01", "B"): ("0",), ("i02", "C"): ("1",), ("i02", "A"): ("2",)}
    KINDS["ratio"].load(ledger, given, "p")
    found = pairs(ledger)
    assert found.keys() == {("A", "B"), ("A", "C")}
    for row in found.values():
        assert row.numeric is not None
        assert row.numeric.items == 1
        assert row.numeric.pearson.undefined == "too_few_items"
        assert row.numeric.bias.value == (0 if row.annotators == ("A", "B") else -1)
        assert row.numeric.sd.value is None


def test_numbers_on_a_nominal_scale_are_names(ledger: Ledger) -> None:
    ledger.import_frame(frame(answers(categories=("1", "2", "3"))), "p")
    assert all(row.numeric is None for row in pairs(ledger).values())
    found = pairs(ledger, metric=Metric(scale="interval"))
    assert all(row.numeric is not None for row in found.values())
    KINDS["one"].store(ledger, "q")
    with pytest.raises(InvalidOption, match="linear weights need numbers"):
        pairs(ledger, "q", metric=Metric(weights="linear"))


def test_nobody_shares_an_item(ledger: Ledger) -> None:
    ledger.import_frame(frame({("i01", "A"): ("x",), ("i02", "B"): ("x",)}), "p")
    assert pairs(ledger) == {}


def test_a_choice_of_annotators_and_items(ledger: Ledger) -> None:
    given = KINDS["ratio"].store(ledger)
    (row,) = pairs(ledger, annotators=["ann", "cat"], where={"doc": ["d0", "d1"]}).values()
    some = {at: own for at, own in given.items() if at[0] < "i06"}
    assert row.kappa.items == len(columns(some, "ann", "cat")[0])


def test_pairs_of_spans(ledger: Ledger) -> None:
    rows = [
        ("d", "zoe", "x", 0, 2),
        ("d", "ann", "x", 0, 2),
        ("d", "ann", "y", 3, 4),
        ("e", "bob", "x", 0, 1),
    ]
    table = pd.DataFrame(rows, columns=["item", "annotator", "category", "start", "end"])
    ledger.import_frame(table, "p", options=SPANS)
    with ledger.asking("p") as (connection, question):
        (pair,) = span_pair_agreement(connection, question, asked())
        assert pair.annotators == ("ann", "zoe")
        assert pair.measures[0].recall == 0.5
        assert span_pair_agreement(connection, question, asked(annotators="ann")) == ()
        with pytest.raises(InvalidOption, match="a project of spans has no kappa of pairs"):
            agreement_by_pair(connection, question)


@pytest.mark.parametrize(
    "metric", [Metric(), Metric(weights="quadratic")], ids=["plain", "weighted"]
)
def test_as_many_statements_whatever_the_items(ledger: Ledger, metric: Metric) -> None:
    numbers = []
    for items in (10, 99):
        KINDS["ratio"].store(ledger, f"p{items}", items=items)
        with count_statements(ledger.database.engine) as statements:
            pairs(ledger, f"p{items}", metric=metric)
        numbers.append(statements.number)
    assert numbers[0] == numbers[1] <= 21


def test_of_many_pairs_those_that_agree_least_come_first(sqlite_ledger: Ledger) -> None:
    given = {"ann": "xxyy", "bob": "xxyx", "cat": "yyxx", "dot": "xx"}
    rows = [(f"i{n}", who, letter) for who in given for n, letter in enumerate(given[who])]
    sqlite_ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), "p")
    every = sqlite_ledger.by_pair("p").pairs
    told = [(pair.annotators, pair.value) for pair in every.lowest()]
    values = [value for _, value in told if value is not None]
    assert values == sorted(values)
    assert [names for names, value in told if value is None] == [("ann", "dot"), ("bob", "dot")]
    assert told[:2] == [(("ann", "cat"), -1.0), (("bob", "cat"), -0.5)]
    assert [pair.annotators for pair in every.of("cat").lowest()] == [
        ("ann", "cat"), ("bob", "cat"), ("cat", "dot"),
    ]  # fmt: skip
    assert [*every.of("cat", "ann")] == [every[1]]
    assert every.among(["ann", "bob", "dot"]).annotators == [
        ("ann", "bob"), ("ann", "dot"), ("bob", "dot"),
    ]  # fmt: skip
    assert every[1:3] == [every[1], every[2]]
