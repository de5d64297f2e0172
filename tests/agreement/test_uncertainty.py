"""Errors that are not those of independent items: resampled, by annotator, by cluster."""

from __future__ import annotations

import math
from statistics import fmean

import pandas as pd
import pytest

from tests.agreement.crowd import answers, assessed, close, each_kind, each_kind_stored, frame
from tests.helpers import SPANS, count_statements
from tracker.agreement.result import Assessment
from tracker.core.errors import InvalidOption
from tracker.measures.intervals import Coefficient
from tracker.measures.registry import MEASURES

BOOTSTRAPPED = {name: one.redrawn for name, one in MEASURES.items() if one.redrawn is not None}
PEOPLE = ("ann", "bob", "cat", "dot")
BY_NAME = {"cohen_kappa", "light_kappa", "conger_kappa"}  # they depend on who answered what


def of_each(found: Assessment) -> dict[str, Coefficient]:
    return {one.measure: one for one in found.measures}


def bounds(found: Coefficient) -> tuple[float | None, ...]:
    return found.standard_error, found.ci_low, found.ci_high


@each_kind
def test_a_seed_decides_on_the_samples(sqlite_ledger, kind):
    kind.store(sqlite_ledger)
    for metric in kind.readings:

        def drawn(seed, metric=metric):
            how = {"replicates": 60, "seed": seed}
            return assessed(sqlite_ledger, metric=metric, uncertainty=how)

        first, again, other = drawn(7), drawn(7), drawn(8)
        assert first == again
        plain = of_each(assessed(sqlite_ledger, metric=metric))
        for name, one in of_each(first).items():
            assert one.value == plain[name].value
            if name in BOOTSTRAPPED and one.value is not None:
                assert one.method == "bootstrap"
                assert bounds(one) != bounds(of_each(other)[name])
                assert one.standard_error == pytest.approx(plain[name].standard_error, rel=0.5)
            else:
                assert one == plain[name]
        rates = assessed(sqlite_ledger, metric=metric).rates
        for rate, resampled in zip(rates, first.rates, strict=True):
            assert (rate.rate, rate.labels) == (resampled.rate, resampled.labels)
            assert rate.standard_error is not None
            assert rate.standard_error != resampled.standard_error
            assert resampled.standard_error == pytest.approx(rate.standard_error, rel=0.5)


def test_bounds_follow_the_confidence(sqlite_ledger):
    sqlite_ledger.import_frame(frame(answers()), "p")
    how = {"replicates": 200}
    narrow, wide = (
        of_each(assessed(sqlite_ledger, confidence=level, uncertainty=how)) for level in (0.5, 0.99)
    )
    for name in BOOTSTRAPPED.keys() & narrow.keys() - {"scott_pi"}:
        one, other = narrow[name], wide[name]
        assert other.ci_low < one.ci_low < one.ci_high < other.ci_high
        assert one.standard_error == other.standard_error


@each_kind_stored
def test_leaving_out_each_annotator(ledger, kind):
    """What the tallies give without each is what the database counts without each."""
    kind.store(ledger)
    for metric in kind.readings_on(ledger):
        resampled = of_each(assessed(ledger, metric=metric, uncertainty={"resample": "annotators"}))
        plain = of_each(assessed(ledger, metric=metric))
        without = [
            of_each(assessed(ledger, metric=metric, exclude_annotators=who)) for who in PEOPLE
        ]
        for name, one in resampled.items():
            if MEASURES[name].needs in {"pair", "pairs"} or one.value is None:
                assert one == plain[name]
                continue
            each = [found[name].value for found in without]
            mean = fmean(each)
            squares = math.fsum((value - mean) ** 2 for value in each)
            assert one.standard_error == pytest.approx(math.sqrt(squares * 3 / 4), abs=1e-12)
            assert one.value == plain[name].value
            assert one.method == "jackknife over annotators"


def test_two_annotators_are_too_few(ledger):
    ledger.import_frame(frame(answers(people=PEOPLE[:2])), "p")
    for one in assessed(ledger, uncertainty={"resample": "annotators"}).measures:
        if MEASURES[one.measure].needs in {"patterns", "marginals"}:
            assert one.value is not None
            assert (*bounds(one), one.method) == (None, None, None, None)


def test_one_whose_absence_leaves_nothing_to_compare(ledger):
    given = {(f"i{n:02}", who): ("xy"[n % 2],) for n in range(6) for who in PEOPLE[:1]}
    for n, who in enumerate(PEOPLE[1:] * 2):
        given[f"i{n:02}", who] = ("x",)
    ledger.import_frame(frame(given), "p")
    for one in assessed(ledger, uncertainty={"resample": "annotators"}).measures:
        if one.measure in BOOTSTRAPPED and one.value is not None:
            assert one.standard_error is None


@each_kind_stored
def test_clusters_of_one_item_are_items(ledger, kind):
    kind.store(ledger, density=1)
    for metric in kind.readings_on(ledger):
        plain = assessed(ledger, metric=metric, interval="t")
        found = assessed(ledger, metric=metric, uncertainty={"cluster": "name"}, interval="t")
        for one, other in zip(plain.measures, found.measures, strict=True):
            assert bounds(other) == tuple(map(close, bounds(one)))
            if one.standard_error is not None and one.measure not in BY_NAME:
                assert other.method == "clustered by name"
        for rate, same in zip(plain.rates, found.rates, strict=True):
            assert same.rate == rate.rate
            assert same.standard_error == close(rate.standard_error)


@each_kind_stored
def test_copies_of_an_item_tell_nothing_new(ledger, kind):
    """Three copies of each item in a cluster have the error of the items without copies."""
    given = answers(3, items=10, density=1, several=kind.options.answers == "several", **kind.drawn)
    copies = {
        (f"i{3 * int(item[1:]) + n:02}", who): own
        for (item, who), own in given.items()
        for n in range(3)
    }
    kind.load(ledger, given, "single")
    kind.load(ledger, copies, "p")  # three items to a document
    for metric in kind.readings_on(ledger):
        single = of_each(assessed(ledger, "single", metric=metric))
        found = of_each(assessed(ledger, metric=metric, uncertainty={"cluster": "doc"}))
        plain = of_each(assessed(ledger, metric=metric))
        for name, one in found.items():
            if name in BY_NAME:
                assert one == plain[name]
            elif one.value is not None:
                assert one.standard_error == close(single[name].standard_error)
                assert plain[name].standard_error < one.standard_error


def test_a_single_cluster_has_no_error(ledger):
    rows = frame(answers()).assign(doc="d")
    ledger.import_frame(rows, "p", keep=["doc"])
    for one in assessed(ledger, uncertainty={"cluster": "doc"}).measures:
        if one.measure not in BY_NAME:
            assert (*bounds(one), one.method) == (None, None, None, None)


def test_items_without_the_attribute_are_clusters_by_themselves(ledger):
    rows = frame(answers(density=1))
    ledger.import_frame(rows[rows.item < "i06"], "p", keep=["doc"])
    ledger.import_frame(rows[rows.item >= "i06"], "p")
    named = rows.assign(doc=rows.doc.where(rows.item < "i06", rows.item))
    ledger.import_frame(named, "q", keep=["doc"])
    some, every = (assessed(ledger, p, uncertainty={"cluster": "doc"}) for p in "pq")
    for one, other in zip(some.measures, every.measures, strict=True):
        assert bounds(one) == tuple(map(close, bounds(other)))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"replicates": 9, "resample": "annotators"}, "--bootstrap and --resample annotators"),
        ({"replicates": 9, "cluster": "doc"}, "--bootstrap and --cluster give .*\nchoose one"),
        ({"resample": "annotators", "cluster": "doc"}, "two ways"),
        ({"resample": "moon"}, "--resample 'moon' is not known\none of: items, annotators"),
        ({"replicates": 1}, "bootstrap of 1 replicates says nothing"),
        ({"replicates": 0}, "says nothing"),
        ({"replicates": -3}, "says nothing"),
        ({"replicates": 9, "seed": -1}, "--seed -1"),
        ({"cluster": "nosuch"}, "no item of 'p' has an attribute 'nosuch'\nits items have: doc"),
        ({"cluster": ""}, "has an attribute ''"),
    ],
    ids=str,
)
def test_what_does_not_go(sqlite_ledger, how, message):
    sqlite_ledger.import_frame(frame(answers()), "p", keep=["doc"])
    with pytest.raises(InvalidOption, match=message):
        assessed(sqlite_ledger, uncertainty=how)


def test_figures_without_the_errors_asked_for_are_named(sqlite_ledger):
    sqlite_ledger.import_frame(frame(answers()), "p", keep=["doc"])
    bootstrap = {"replicates": 9}
    alone = assessed(sqlite_ledger, "p", "light_kappa", uncertainty=bootstrap)
    assert alone.warnings == ("Light's kappa has an analytic error over items; no other is known.",)
    beside = assessed(sqlite_ledger, uncertainty=bootstrap).warnings[-1]
    assert beside.endswith("the other figures have those asked for (bootstrap).")
    assert assessed(sqlite_ledger, "p", "light_kappa").warnings == ()


def test_documents_of_spans_have_their_own_errors(sqlite_ledger, write):
    text = "item,annotator,category,start,end\n1,A,x,0,1\n1,B,x,0,1"
    sqlite_ledger.import_file(write(text), "p", options=SPANS)
    for how in ({"replicates": 9}, {"resample": "annotators"}, {"cluster": "doc"}):
        with pytest.raises(InvalidOption, match="errors are those over documents"):
            assessed(sqlite_ledger, uncertainty=how)


@pytest.mark.parametrize("how", [{"replicates": 9}, {"resample": "annotators"}])
@pytest.mark.parametrize("text", ["1,A,x", "1,A,\n1,B,", "1,A,x\n1,B,x\n2,A,x\n2,B,x"])
def test_little_to_resample(ledger, write, how, text):
    ledger.import_file(write("item,annotator,category\n" + text), "p")
    found, plain = assessed(ledger, uncertainty=how), assessed(ledger)
    assert [one.value for one in found.measures] == [one.value for one in plain.measures]
    assert found.counts == plain.counts


@pytest.mark.parametrize("how", [{"replicates": 9}, {"resample": "annotators"}, {"cluster": "doc"}])
def test_as_many_statements_whatever_the_items(ledger, how):
    numbers = []
    for items in (10, 99):
        ledger.import_frame(frame(answers(items=items)), f"p{items}", keep=["doc"])
        with count_statements(ledger.database.engine) as statements:
            assessed(ledger, f"p{items}", uncertainty=how)
        numbers.append(statements.number)
    assert numbers[0] == numbers[1] < 30


def test_clusters_that_cannot_be_compared_do_not_count(ledger):
    """Ten items of two answers among many of one: alpha has ten clusters, not all."""
    two = [
        (f"i{n:03}", who, str(n % 2 if who == "a" or n else 1)) for n in range(10) for who in "ab"
    ]
    one = [(f"j{n:03}", "a", str(n % 2)) for n in range(90)]
    rows = pd.DataFrame([*two, *one], columns=["item", "annotator", "category"])
    ledger.import_frame(rows.assign(name=rows["item"]), "p", keep=["name"])
    plain = of_each(assessed(ledger, interval="t"))
    found = of_each(assessed(ledger, uncertainty={"cluster": "name"}, interval="t"))
    for name in ("krippendorff_alpha", "fleiss_kappa"):
        assert bounds(found[name]) == tuple(map(close, bounds(plain[name])))
