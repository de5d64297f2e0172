"""Why a number is what it is: its parts, its influences, and the merges that change it most."""

import re
from collections import Counter
from itertools import combinations, product
from statistics import fmean

import pandas as pd
import pytest

from tests.agreement.crowd import (
    KINDS,
    PEOPLE,
    Kind,
    answers,
    asked,
    assessed,
    close,
    each_kind_stored,
    frame,
    measures_of,
)
from tests.counts.selected import both_kinds, check_each
from tests.helpers import SPANS, undo
from tracker.agreement.coefficients import study
from tracker.agreement.counts_sql import count_included_answers
from tracker.agreement.explain import (
    MOST_ITEMS,
    agreement_influences,
    assess_merged_categories,
    best_merges,
    explain,
)
from tracker.core.errors import InvalidOption
from tracker.counts.filter import make_answer_filter, select_answers
from tracker.counts.tallies import count_item_patterns
from tracker.measures.registry import MEASURES
from tracker.projects.annotators import set_annotator_kind
from tracker.projects.questions import QuestionOptions

LETTERED = re.compile(r"[a-z]{2,}")


def explained(ledger, measure, project="p", **asking):
    with ledger.asking(project) as (connection, question):
        return explain(study(connection, question, asked(**asking)), measure)


def check(result):
    row = result.to_dict()
    assert row["formula"] == MEASURES[result.measure.name].formula
    assert row["source"] == MEASURES[result.measure.name].source
    answers, items = row["answers"], row["items"]
    assert sum(answers.values()) - answers["standing"] == answers["standing"]
    assert items["compared"] == items["answered"] - items["one_answer"]
    assert 0 <= items["answered"] <= items["in_project"]
    if result.shares:
        assert sum(result.shares.values()) == close(1) or sum(result.shares.values()) == 0
    value, numbers = result.figure.value, result.numbers
    if value is None:
        assert numbers.startswith("undefined: ")
        assert len(numbers) > len("undefined: x"), "a reason in words"
        return
    left, equals, right = numbers.rpartition(" = ")
    assert equals
    assert float(right) == pytest.approx(value, rel=1e-5)
    if left.startswith("mean of "):
        return
    formula = left.rpartition(": ")[2].replace("x", "*")
    assert not LETTERED.search(formula)
    assert eval(formula) == pytest.approx(value, rel=1e-3, abs=1e-4)  # noqa: S307 - numbers only


@each_kind_stored
def test_every_measure_is_explained(ledger, kind):
    kind.store(ledger)
    kind.store(ledger, "two", people=("ann", "bob"))
    for metric in kind.readings_on(ledger):
        names = [
            name
            for name, measure in MEASURES.items()
            if (kind.options.answers or "one") in measure.answers
            and name != ("gwet_ac1" if metric.weighted else "gwet_ac2")
        ]
        for project in ("p", "two") if metric == kind.readings[0] else ("two",):
            figures = assessed(ledger, project, *names, metric=metric).measures
            with ledger.study(project, asked(metric=metric)) as counted:
                for name, figure in zip(names, figures, strict=True):
                    result = explain(counted, name)
                    check(result)
                    assert result.figure == figure
                    assert figure.value is not None or project == "p"


def test_parts_of_an_explanation(ledger, write):
    rows = "item,annotator,category,pass\n1,A,x,1\n1,B,x,1\n2,A,x,1\n2,B,y,1\n2,A,y,2\n3,A,y,1"
    ledger.import_file(write(rows + "\n4,A,,1\n4,R,x,1"), "p", empty="skipped")
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "R", "reference")
    result = explained(ledger, "fleiss_kappa")
    check(result)
    row = result.to_dict()
    assert row["items"] == {"in_project": 4, "answered": 3, "one_answer": 1, "compared": 2}
    assert row["answers"] == {
        "standing": 8, "skipped": 1, "other_kinds": 1, "not_chosen": 0, "later_passes": 1,
        "counted": 5,
    }  # fmt: skip
    # Fleiss' chance is of items, each weighing the same, the one of a single answer as well.
    assert result.shares == {"x": close((1 + 0.5) / 3), "y": close((0.5 + 1) / 3)}
    assert result.numbers == "(0.5 - 0.5) / (1 - 0.5) = 0"
    # Alpha's is of answers that can be compared.
    alpha = explained(ledger, "krippendorff_alpha")
    assert (alpha.shares, alpha.numbers) == ({"x": 0.75, "y": 0.25}, "1 - 0.5 / 0.5 = 0")
    percent = explained(ledger, "percent_agreement")
    assert (percent.shares, percent.numbers) == ({}, "mean of 2 items = 0.5")
    sets = "item,annotator,category\n1,A,x\n1,A,y\n1,B,\n2,A,x\n2,B,x"
    ledger.import_file(write(sets), "q", options=QuestionOptions(answers="several"))
    assert explained(ledger, "fleiss_kappa", "q").shares == {"(none)": 0.25, "x": 0.5, "x|y": 0.25}


def influences(ledger, of, *measures, project="p", **question):
    with ledger.study(project, asked(*measures, **question)) as counted:
        return agreement_influences(counted, of)


def in_order(rows):
    """Whether the largest change comes first and undefined ones last."""
    changes = [row.change for row in rows]
    defined = [change for change in changes if change is not None]
    return defined == sorted(defined, reverse=True) and changes[len(defined) :] == [None] * (
        len(changes) - len(defined)
    )


@each_kind_stored
def test_figures_without_each_annotator(ledger, kind):
    """Influences and the jackknife rest on what the database counts without each annotator."""
    kind.store(ledger)
    for metric in kind.readings_on(ledger):
        reading = {"metric": metric, "interval": "t"}
        without = {name: assessed(ledger, **reading, exclude_annotators=name) for name in PEOPLE}
        total = assessed(ledger, **reading)
        for measure in measures_of(kind, metric):
            name, value, rows = influences(ledger, "annotator", measure, metric=metric)
            assert (name, value) == (measure, total.measure(measure).value)
            assert {row.name for row in rows} == {*PEOPLE}
            assert in_order(rows)
            for row in rows:
                assert row.without == close(without[row.name].measure(measure).value)
                assert row.change == close(row.without - value)
        how = {"resample": "annotators"}
        for figure in assessed(ledger, **reading, uncertainty=how).measures:
            plain = total.measure(figure.measure)
            if MEASURES[figure.measure].needs in {"pair", "pairs"} or figure.value is None:
                assert figure == plain
                continue
            each = [result.measure(figure.measure).value for result in without.values()]
            squares = sum((value - fmean(each)) ** 2 for value in each)
            assert figure.standard_error == pytest.approx((squares * 3 / 4) ** 0.5, abs=1e-12)
            assert (figure.value, figure.method) == (plain.value, "jackknife over annotators")


@pytest.mark.parametrize("kind", ["several", "ordinal"])
def test_figures_without_each_item_and_category(sqlite_ledger, kind):
    """Categories stay where an item is left out: one item less takes none away."""
    kind = KINDS[kind]
    drawn = kind.store(sqlite_ledger)
    items = {item for item, _ in drawn}
    labels = {label for own in drawn.values() for label in own}
    for label in labels:
        rest = {key: own for key, own in drawn.items() if label not in own}
        kind.load(sqlite_ledger, rest, f"without {label}")
    for metric in kind.readings:
        how = {"metric": metric, "interval": "t"}
        without = {label: assessed(sqlite_ledger, f"without {label}", **how) for label in labels}
        for item in sorted(items)[::8]:
            without[item] = assessed(sqlite_ledger, **how, where={"name": [*items - {item}]})
        for measure, of in product(measures_of(kind, metric), ("item", "category")):
            name, value, rows = influences(sqlite_ledger, of, measure, metric=metric)
            assert name == measure
            assert len({row.name for row in rows}) == (MOST_ITEMS if of == "item" else len(labels))
            for row in rows:
                if row.name in without:
                    assert row.without == close(without[row.name].measure(measure).value)
                    assert row.change == close(row.without - value)


@pytest.mark.parametrize(
    ("kind", "merges", "declared"),
    [
        ("one", [" z + x "], ("z", "y")),
        ("several", ["x+y+z"], None),
        ("ordinal", ["top+high", "low+middle"], ("low", "top")),
        ("ratio", ["10+0"], None),
    ],
)
def test_merging_categories_is_renaming_them(ledger, kind, merges, declared):
    """A merged category has the place, and the number, of the first that is named."""
    kind = KINDS[kind]
    drawn = kind.store(ledger)
    parts = [[name.strip() for name in merge.split("+")] for merge in merges]
    into = {name: first for first, *others in parts for name in others}
    names = {first: "+".join([first, *others]) for first, *others in parts}
    options = QuestionOptions(kind.options.answers, kind.options.scale, categories=declared)
    rows = {key: tuple(sorted({into.get(c, c) for c in labels})) for key, labels in drawn.items()}
    Kind(options).load(ledger, rows, "q")
    for metric in kind.readings_on(ledger):
        measures = measures_of(kind, metric)
        with ledger.study("p", asked(*measures, metric=metric)) as counted:
            merged = assess_merged_categories(counted, merges)
        renamed = assessed(ledger, "q", *measures, metric=metric)
        for one, other in zip(merged.measures, renamed.measures, strict=True):
            assert one.measure == other.measure
            for part in ("value", "undefined", "observed", "expected", "standard_error", "items"):
                assert getattr(one, part) == close(getattr(other, part)), one.measure
        assert merged.counts == renamed.counts
        rates = [
            {names.get(result.categories[rate.category], result.categories[rate.category]):
             (rate.agreements, rate.potential_agreements, rate.labels) for rate in result.rates}
            for result in (merged, renamed)
        ]  # fmt: skip
        assert rates[0] == rates[1]


def test_names_with_a_plus(ledger):
    names = ("a", "b", "a+b", "a|b", "a=b", "C", "C++", "ä", "1e3", "名")
    ledger.import_frame(frame(answers(categories=names, items=30)), "p")
    with ledger.study("p") as counted:
        for text, parts in (
            ("b+a", ["b", "a"]), ("b+a+b", ["b", "a+b"]), ("a|b+a=b", ["a|b", "a=b"]),
            ("C+C++", ["C", "C++"]), ("C+++C", ["C++", "C"]), ("C+++a+b", ["C++", "a", "b"]),
            ("ä + 1e3", ["ä", "1e3"]), ("名+a+b+C+++C", ["名", "a", "b", "C++", "C"]),
        ):  # fmt: skip
            result = assess_merged_categories(counted, [text])
            assert len(result.rates) == len(names) - len(parts) + 1
            merged = "+".join(parts)
            assert merged in result.categories.values()
            assert not {*parts} & ({*result.categories.values()} - {merged})
    ledger.import_frame(frame(answers(categories=("a", "b", "a+b"))), "q")
    with ledger.study("q") as counted, pytest.raises(InvalidOption, match="another category is"):
        assess_merged_categories(counted, ["a+b"])
    ledger.import_frame(frame(answers(categories=("+", "a", "b"))), "r")
    with ledger.study("r") as counted:
        assert [*assess_merged_categories(counted, ["a++"]).categories.values()] == ["a++", "b"]
        assert [*assess_merged_categories(counted, ["++b"]).categories.values()] == ["++b", "a"]


def test_merges_that_are_refused(sqlite_ledger):
    KINDS["one"].store(sqlite_ledger)
    names = tuple(f"c{n:02}" for n in range(61))
    rows = frame(answers(categories=names[:3]))
    sqlite_ledger.import_frame(rows, "many", options=QuestionOptions(categories=names))
    with sqlite_ledger.study("p") as counted:
        for merges, message in (
            (["x+y+x"], "does not name two or more different"),
            (["x,y"], "no category 'x,y' to merge\ndid you mean"),
            (["x++y"], "no category"),
            (["x+y", "x+y"], "merged already"),
        ):
            with pytest.raises(InvalidOption, match=message):
                assess_merged_categories(counted, merges)
    message = r"61 categories are more than the 60 .*\n.*--merge a"
    with sqlite_ledger.study("many") as counted, pytest.raises(InvalidOption, match=message):
        best_merges(counted)


@each_kind_stored
def test_the_best_merges_are_the_figures_of_merged_categories(ledger, kind):
    labels = sorted({label for row in kind.store(ledger).values() for label in row})
    for metric in kind.readings_on(ledger):
        measures = measures_of(kind, metric)
        total = assessed(ledger, "p", *measures, metric=metric, interval="t")
        with ledger.study("p", asked(*measures, metric=metric, interval="t")) as counted:
            merged = {row.categories: assess_merged_categories(counted, ["+".join(row.categories)])
                      for row in best_merges(counted, most=100)[2]}  # fmt: skip
        assert {*map(frozenset, merged)} == {*map(frozenset, combinations(labels, 2))}
        for measure in measures:
            with ledger.study("p", asked(measure, metric=metric)) as counted:
                name, value, rows = best_merges(counted, most=100)
            assert (name, value) == (measure, total.measure(measure).value)
            assert {row.categories for row in rows} == merged.keys()
            changes = [row.change for row in rows if row.change is not None]
            assert changes == sorted(changes, reverse=True)
            for row in rows:
                figure = merged[row.categories].measure(measure)
                assert row.value == close(figure.value)
                if row.value is not None:
                    assert row.change == close(row.value - value)


# The fate of every answer, against the same in Python.

FATES = ("skipped", "other_kinds", "not_chosen", "later_passes", "counted")


def fate(chosen, answer):
    selection = chosen.selection
    if answer.own is None:
        return "skipped"
    human = chosen.raw.kinds[answer.annotator] == "human"
    if not human and answer.annotator not in (selection.only or ()):
        return "other_kinds"
    if not chosen.chosen(answer):
        return "not_chosen"
    before = (
        other
        for other in chosen.raw.given
        if (other.item, other.annotator) == (answer.item, answer.annotator)
        and other.number < answer.number
        and other.own is not None
        and chosen.chosen(other)
    )
    return "later_passes" if any(before) else "counted"


def check_inclusion(chosen):
    result = count_included_answers(chosen.connection, chosen.selection)
    fates = Counter(fate(chosen, answer) for answer in chosen.raw.given)
    assert {name: getattr(result, name) for name in FATES} == {name: fates[name] for name in FATES}
    assert result.standing == len(chosen.raw.given) == sum(fates.values())
    assert result.items == len({answer.item for answer in chosen.raw.given})
    assert (result.past, result.taken_back) == (0, 0)
    assert result.counted == count_item_patterns(chosen.connection, chosen.selection).answers


@both_kinds
def test_each_answer_has_one_fate(ledger, kind):
    check_each(ledger, kind, check_inclusion)


def numbers(ledger, *names, project="p", **choice):
    with ledger.asking(project) as (connection, question):
        selection = select_answers(connection, question, make_answer_filter(**choice))
        result = count_included_answers(connection, selection)
    assert sum(getattr(result, name) for name in FATES) == result.standing
    assert result.to_dict() == vars(result)
    return tuple(getattr(result, name) for name in names)


def test_answers_that_no_longer_stand(ledger, write):
    header = "item,annotator,category\n"
    names = ("standing", "skipped", "counted", "items", "past", "taken_back")
    ledger.import_file(write(header + "1,A,x\n1,B,x\n2,A,\n3,R,y"), "p", empty="skipped")
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "R", "reference")
    assert numbers(ledger, "other_kinds", *names) == (1, 4, 1, 2, 3, 0, 0)
    assert numbers(ledger, "counted", annotators=["A", "R"]) == (2,)
    revised = ledger.import_file(write(header + "1,A,y\n2,A,x"), "p", empty="skipped")
    assert numbers(ledger, *names) == (4, 0, 3, 3, 2, 0)
    more = ledger.import_file(write(header + "4,A,x\n4,B,x"), "p", empty="skipped")
    assert numbers(ledger, "counted") == (5,)
    undo(ledger, more.id)
    assert numbers(ledger, *names) == (4, 0, 3, 3, 2, 2)
    undo(ledger, revised.id)
    assert numbers(ledger, *names) == (4, 1, 2, 3, 0, 4)
    spans = "item,annotator,category,start,end,pass\nd,A,x,0,2,1\nd,A,y,3,4,1\nd,A,y,3,4,2"
    ledger.import_file(write(spans + "\nd,B,,,,1"), "s", options=SPANS)
    assert numbers(ledger, "standing", "counted", "later_passes", project="s") == (3, 2, 1)


# Errors that are not those of independent items: resampled, by annotator, by cluster.

BY_NAME = {"cohen_kappa", "light_kappa", "conger_kappa"}  # they depend on who answered what


def by_measure(assessment):
    return {figure.measure: figure for figure in assessment.measures}


def bounds(figure):
    return figure.standard_error, figure.ci_low, figure.ci_high


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
