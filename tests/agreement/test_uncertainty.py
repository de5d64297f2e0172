"""Errors that are not those of independent items: resampled, by annotator, by cluster."""

import pandas as pd
import pytest

from tests.agreement.crowd import (
    KINDS,
    PEOPLE,
    answers,
    assessed,
    close,
    each_kind_stored,
    frame,
)
from tests.helpers import SPANS
from tracker.core.errors import InvalidOption
from tracker.measures.registry import MEASURES

BOOTSTRAPPED = {name for name, measure in MEASURES.items() if measure.redrawn is not None}
BY_NAME = {"cohen_kappa", "light_kappa", "conger_kappa"}  # they depend on who answered what


def by_measure(assessment):
    return {figure.measure: figure for figure in assessment.measures}


def bounds(figure):
    return figure.standard_error, figure.ci_low, figure.ci_high


def test_a_seed_decides_on_the_bootstrap_samples(sqlite_ledger):
    KINDS["ordinal"].store(sqlite_ledger)
    first, same, other, wide = (
        assessed(sqlite_ledger, confidence=level, uncertainty={"replicates": 60, "seed": seed})
        for seed, level in ((7, 0.95), (7, 0.95), (8, 0.95), (7, 0.99))
    )
    assert first == same
    result = assessed(sqlite_ledger)
    plain, others, wider = by_measure(result), by_measure(other), by_measure(wide)
    for name, figure in by_measure(first).items():
        assert figure.value == plain[name].value
        if name in BOOTSTRAPPED and figure.value is not None:
            assert figure.method == "bootstrap"
            assert bounds(figure) != bounds(others[name])
            assert figure.standard_error == pytest.approx(plain[name].standard_error, rel=0.5)
            assert figure.standard_error == wider[name].standard_error
            assert wider[name].ci_low < figure.ci_low < figure.ci_high < wider[name].ci_high
        else:
            assert figure == plain[name]
    for rate, resampled in zip(result.rates, first.rates, strict=True):
        assert (rate.rate, rate.labels) == (resampled.rate, resampled.labels)
        assert rate.standard_error != resampled.standard_error
        assert resampled.standard_error == pytest.approx(rate.standard_error, rel=0.5)


def test_annotators_that_cannot_be_left_out_give_no_error(ledger):
    """The jackknife itself is checked with the influences of annotators."""
    ledger.import_frame(frame(answers(people=PEOPLE[:2])), "two")
    rows = {(f"i{n:02}", "ann"): ("xy"[n % 2],) for n in range(6)}
    for n, name in enumerate(PEOPLE[1:] * 2):
        rows[f"i{n:02}", name] = ("x",)
    ledger.import_frame(frame(rows), "alone")  # without ann nothing can be compared
    for figure in assessed(ledger, "two", uncertainty={"resample": "annotators"}).measures:
        if MEASURES[figure.measure].needs in {"patterns", "marginals"}:
            assert figure.value is not None
            assert (*bounds(figure), figure.method) == (None, None, None, None)
    for figure in assessed(ledger, "alone", uncertainty={"resample": "annotators"}).measures:
        if figure.measure in BOOTSTRAPPED and figure.value is not None:
            assert figure.standard_error is None


@each_kind_stored
def test_clusters_of_one_item_are_items(ledger, kind):
    kind.store(ledger, density=1)
    for metric in kind.readings_on(ledger):
        plain = assessed(ledger, metric=metric, interval="t")
        clustered = assessed(ledger, metric=metric, uncertainty={"cluster": "name"}, interval="t")
        for one, other in zip(plain.measures, clustered.measures, strict=True):
            assert bounds(other) == tuple(map(close, bounds(one)))
            if one.standard_error is not None and one.measure not in BY_NAME:
                assert other.method == "clustered by name"
        for rate, same in zip(plain.rates, clustered.rates, strict=True):
            assert same.rate == rate.rate
            assert same.standard_error == close(rate.standard_error)


def test_clusters_of_some_items_and_a_single_cluster(ledger):
    rows = frame(answers(density=1))
    ledger.import_frame(rows[rows.item < "i06"], "p", keep=["doc"])
    ledger.import_frame(rows[rows.item >= "i06"], "p")
    named = rows.assign(doc=rows.doc.where(rows.item < "i06", rows.item))
    ledger.import_frame(named, "q", keep=["doc"])
    some, every = (assessed(ledger, p, uncertainty={"cluster": "doc"}) for p in "pq")
    for one, other in zip(some.measures, every.measures, strict=True):
        assert bounds(one) == tuple(map(close, bounds(other)))
    ledger.import_frame(rows.assign(doc="d"), "r", keep=["doc"])
    for figure in assessed(ledger, "r", uncertainty={"cluster": "doc"}).measures:
        if figure.measure not in BY_NAME:
            assert (*bounds(figure), figure.method) == (None, None, None, None)


def test_clusters_that_cannot_be_compared_do_not_count(ledger):
    """Ten items of two answers among many of one: alpha has ten clusters, not all."""
    two = [(f"i{n:03}", name, str(n % 2 if name == "a" or n else 1))
           for n in range(10) for name in "ab"]  # fmt: skip
    one = [(f"j{n:03}", "a", str(n % 2)) for n in range(90)]
    rows = pd.DataFrame([*two, *one], columns=["item", "annotator", "category"])
    ledger.import_frame(rows.assign(name=rows["item"]), "p", keep=["name"])
    plain = by_measure(assessed(ledger, interval="t"))
    clustered = by_measure(assessed(ledger, uncertainty={"cluster": "name"}, interval="t"))
    for name in ("krippendorff_alpha", "fleiss_kappa"):
        assert bounds(clustered[name]) == tuple(map(close, bounds(plain[name])))


def test_errors_that_are_refused(sqlite_ledger, write):
    sqlite_ledger.import_frame(frame(answers()), "p", keep=["doc"])
    spans = "item,annotator,category,start,end\n1,A,x,0,1\n1,B,x,0,1"
    sqlite_ledger.import_file(write(spans), "s", options=SPANS)
    for project, how, message in (
        ("p", {"resample": "annotators", "cluster": "doc"}, "two ways"),
        ("p", {"replicates": 0}, "says nothing"),
        ("s", {"replicates": 9}, "errors are those over documents"),
    ):
        with pytest.raises(InvalidOption, match=message):
            assessed(sqlite_ledger, project, uncertainty=how)
