"""Pairs of annotators, and annotators against their own earlier pass, as projects of two."""

from collections import Counter
from itertools import combinations, pairwise
from random import Random

import pandas as pd
import pytest

from tests.agreement.crowd import (
    KINDS,
    PEOPLE,
    answer,
    asked,
    assessed,
    close,
    each_kind_stored,
    frame,
)
from tests.helpers import SPANS
from tracker.agreement.intra_annotator import self_agreement
from tracker.agreement.pairs import agreement_by_pair
from tracker.agreement.query import Metric
from tracker.agreement.run import span_pair_agreement
from tracker.core.errors import InvalidOption, NotFound
from tracker.measures.numeric import numeric_agreement, numeric_whole_numbers

LEFT_OUT = {"scott_pi", "light_kappa", "conger_kappa"}
COLUMNS = ["item", "annotator", "category"]


def pairs(ledger, project="p", **asking):
    rows = answer(ledger, agreement_by_pair, project=project, **asking)
    assert [row.annotators for row in rows] == sorted(row.annotators for row in rows)
    return {row.annotators: row for row in rows}


def columns(drawn, one, other):
    items = sorted(item for item, name in drawn if name == one and (item, other) in drawn)
    return [[float(drawn[item, name][0]) for item in items] for name in (one, other)]


@each_kind_stored
def test_a_pair_is_a_project_of_two(ledger, kind):
    if kind.options.categories is None and kind.options.answers != "several":
        # Learnt categories: every annotator gives every category.
        drawn = kind.store(ledger, items=60, density=1, accuracy=0.3)
        labels = {name: {drawn[key] for key in drawn if key[1] == name} for name in PEOPLE}
        assert len({*map(frozenset, labels.values())}) == 1
    else:
        kind.store(ledger)
    for metric in kind.readings_on(ledger):
        if metric.distance is not None:
            continue  # of alpha only
        rows = pairs(ledger, metric=metric)
        assert rows.keys() == {*combinations(PEOPLE, 2)}
        for two, row in rows.items():
            alone = assessed(ledger, "p", "cohen_kappa", metric=metric, annotators=two)
            for part in ("value", "standard_error", "ci_low", "ci_high"):
                assert getattr(row.kappa, part) == close(getattr(alone.measures[0], part))
            assert row.kappa.items == alone.counts.items_compared
            shown = row.to_dict()
            assert shown["weights"] == (metric.weights or "identity")
            scale = metric.scale or kind.options.scale
            assert ("numeric" in shown) == (scale in {"interval", "ratio"})


def test_weights_where_categories_are_learnt(ledger):
    """They lie as far apart as all those in use: the only pair is the whole project."""
    KINDS["ratio"].store(ledger, people=PEOPLE[:2])
    KINDS["ratio"].load(ledger, {("i90", "ann"): ("100",)}, "p")  # in use, of no shared item
    metric = Metric(weights="quadratic")
    (row,) = pairs(ledger, metric=metric).values()
    kappa = assessed(ledger, metric=metric).measure("cohen_kappa")
    assert kappa.value is not None
    assert (row.kappa.value, row.kappa.expected) == (close(kappa.value), close(kappa.expected))


@pytest.mark.parametrize("metric", [Metric(), Metric(scale="interval")], ids=["ratio", "interval"])
def test_correlations_and_differences_of_numbers(ledger, metric):
    # Dot comes first in the file and last by name: differences are of the second by name.
    drawn = KINDS["ratio"].store(ledger, people=PEOPLE[::-1], items=30)
    values = {0: 0.0, 1: 1.0, 2: 2.5, 3: 10.0}
    numbers = {value: (number,) for number, value in values.items()}
    for two, row in pairs(ledger, metric=metric, confidence=0.9).items():
        cells = zip(*columns(drawn, *two), strict=True)
        table = Counter((numbers[one], numbers[other]) for one, other in cells)
        assert row.numeric == numeric_agreement(table, numeric_whole_numbers(values), 0.9)
        assert row.numeric.items == row.kappa.items == table.total()
        assert row.kappa.confidence == 0.9
    (row,) = pairs(ledger, annotators=["ann", "cat"], where={"doc": ["d0", "d1"]}).values()
    first = {key: labels for key, labels in drawn.items() if key[0] < "i06"}
    assert row.kappa.items == len(columns(first, "ann", "cat")[0])


def test_pairs_of_spans(ledger):
    rows = [("d", "zoe", "x", 0, 2), ("d", "ann", "x", 0, 2), ("d", "ann", "y", 3, 4),
            ("e", "bob", "x", 0, 1)]  # fmt: skip
    table = pd.DataFrame(rows, columns=[*COLUMNS, "start", "end"])
    ledger.import_frame(table, "p", options=SPANS)
    with ledger.asking("p") as (connection, question):
        (pair,) = span_pair_agreement(connection, question, asked())
        assert pair.annotators == ("ann", "zoe")
        assert pair.measures[0].recall == 0.5
        assert span_pair_agreement(connection, question, asked(annotators="ann")) == ()
        with pytest.raises(InvalidOption, match="a project of spans has no kappa of pairs"):
            agreement_by_pair(connection, question)


def test_pairs_that_agree_least_come_first(sqlite_ledger):
    labels = {"ann": "xxyy", "bob": "xxyx", "cat": "yyxx", "dot": "xx"}
    rows = [(f"i{n}", name, label) for name in labels for n, label in enumerate(labels[name])]
    sqlite_ledger.import_frame(pd.DataFrame(rows, columns=COLUMNS), "p")
    every = sqlite_ledger.by_pair("p").pairs
    lowest = [(pair.annotators, pair.value) for pair in every.lowest()]
    assert [names for names, value in lowest if value is None] == [("ann", "dot"), ("bob", "dot")]
    assert lowest[:2] == [(("ann", "cat"), -1.0), (("bob", "cat"), -0.5)]
    of_cat = [pair.annotators for pair in every.of("cat").lowest()]
    assert of_cat == [("ann", "cat"), ("bob", "cat"), ("cat", "dot")]
    assert [*every.of("cat", "ann")] == [every[1]]
    among = every.among(["ann", "bob", "dot"]).annotators
    assert among == [("ann", "bob"), ("ann", "dot"), ("bob", "dot")]
    assert every[1:3] == [every[1], every[2]]


def test_cross_tables(ledger):
    """Rows are of the first by name, answers in the order of the categories."""

    def fill(project, *rows):
        frame = pd.DataFrame([row.split(" ") for row in rows], columns=COLUMNS)
        ledger.import_frame(frame, project)

    fill("p", "1 z y", "1 a x", "2 z x", "2 a x", "3 z y", "3 a x", "4 z y", "4 m x")
    for two in (("a", "z"), ("z", "a")):
        assert ledger.cross_table("p", *two).to_dict() == {
            "annotators": ["a", "z"], "answers": ["x", "y"], "items": [[1, 2], [0, 0]]
        }  # fmt: skip
    ledger.projects.create("sets", answers="several", categories=("y", "x"))
    fill("sets", "1 a y", "1 a x", "1 b ", "2 a x", "2 b x")
    sets = ledger.cross_table("sets", "a", "b")
    assert sets.answers == ["(none)", "y + x", "x"], "in the order of the categories"
    assert sets.items == {("y + x", "(none)"): 1, ("x", "x"): 1}
    ledger.projects.create("spans", answers="spans")
    for project, two, error, message in (
        ("p", ("a", "a"), InvalidOption, "two annotators"),
        ("p", ("a", "nobody"), NotFound, "nobody"),
        ("spans", ("a", "b"), InvalidOption, "spans"),
    ):
        with pytest.raises(error, match=message):
            ledger.cross_table(project, *two)


def passes(seed, kind, items=18):
    random = Random(seed)  # noqa: S311
    categories = list(kind.drawn.get("categories", ("x", "y", "z")))
    several = kind.options.answers == "several"

    def label():
        return tuple(sorted(random.sample(categories, random.randint(0, 2) if several else 1)))

    rows = {}
    for item in range(items):
        for name in PEOPLE[:3]:
            first = label()
            later = [first if random.random() < 0.7 else label() for _ in range(2)]
            rows[f"i{item:02}", name] = [first, *later[: random.randint(0, 2)]]
    return rows


def store(ledger, kind, rows, project="p"):
    for number in (1, 2, 3):
        part = {key: labels[number - 1] for key, labels in rows.items() if len(labels) >= number}
        rows_of_pass = frame(part).assign(**{"pass": number})
        ledger.import_frame(rows_of_pass, project, options=kind.options)


def themselves(ledger, project="p", **asking):
    return answer(ledger, self_agreement, project=project, **asking)


def as_two(rows, *people):
    repeats = [two for (_, name), own in rows.items() if name in people for two in pairwise(own)]
    return {(f"i{n:03}", name): label for n, two in enumerate(repeats)
            for name, label in zip(("earlier", "later"), two, strict=True)}  # fmt: skip


@each_kind_stored
def test_two_passes_are_two_annotators(ledger, kind):
    rows = passes(1, kind)
    store(ledger, kind, rows)
    people = PEOPLE[:3]
    for name in ("pooled", *people):
        kind.load(ledger, as_two(rows, *(people if name == "pooled" else (name,))), name)
    for metric in kind.readings_on(ledger):
        result = themselves(ledger, metric=metric, interval="t")
        assert [name for name, _ in result.annotators] == [*people]
        assert result.alone == 0
        for name, own in (("pooled", result.pooled), *result.annotators):
            two = assessed(ledger, name, metric=metric, interval="t")
            assert (own.repeats, own.days_between) == (two.counts.items, None)
            figures = [figure for figure in two.measures if figure.measure not in LEFT_OUT]
            assert [figure.measure for figure in own.measures] == [f.measure for f in figures]
            for one, other in zip(own.measures, figures, strict=True):
                for part in ("value", "standard_error", "ci_low", "ci_high", "observed", "expected",
                             "undefined", "items"):  # fmt: skip
                    assert getattr(one, part) == close(getattr(other, part)), (one.measure, part)
    first = {key: labels[0] for key, labels in rows.items()}
    kind.load(ledger, first, "first")
    assert assessed(ledger).measures == assessed(ledger, "first").measures


def test_days_between_passes(ledger):
    rows = [("i1", "ann", 1, "x", "2020-03-01T12:00Z"), ("i1", "ann", 2, "x", "2020-03-03T12:00Z"),
            ("i1", "ann", 3, "y", "2020-03-03T18:00Z"), ("i2", "ann", 1, "x", ""),
            ("i2", "ann", 2, "x", "2020-03-09T12:00Z"), ("i1", "bob", 1, "x", ""),
            ("i1", "bob", 2, "x", ""), ("i2", "bob", 2, "x", "")]  # fmt: skip
    columns = ["item", "annotator", "pass", "category", "labeled_at"]
    ledger.import_frame(pd.DataFrame(rows, columns=columns), "p")
    result = themselves(ledger)
    days = {name: (own.repeats, own.days_between) for name, own in result.annotators}
    assert days == {"ann": (3, pytest.approx((2 + 0.25) / 2)), "bob": (1, None)}
    assert (result.pooled.repeats, result.pooled.days_between) == (4, pytest.approx(1.125))
    assert result.alone == 1
    late = themselves(ledger, since="2020-03-03", annotators="ann")
    assert (late.pooled.repeats, late.alone) == (2, 1), "without a time it counts as of now"
