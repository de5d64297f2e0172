"""Why a number is what it is: its parts, its influences, and the merges that change it most."""

import re
from itertools import combinations
from statistics import fmean

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
    equal_statements,
    frame,
    measures_of,
)
from tests.helpers import SPANS
from tests.measures.span_oracles import rows as span_rows
from tracker.agreement.coefficients import study
from tracker.agreement.explain import (
    MOST_ITEMS,
    Influence,
    agreement_influences,
    assess_merged_categories,
    best_merges,
    explain,
    explain_spans,
)
from tracker.agreement.query import Metric
from tracker.core.errors import InvalidOption
from tracker.measures.registry import MEASURES
from tracker.projects.annotators import set_annotator_kind
from tracker.projects.questions import QuestionOptions, create_project

LETTERED = re.compile(r"[a-z]{2,}")
OF_PAIRS = ("cohen_kappa", "conger_kappa", "light_kappa")


def explained(ledger, measure, project="p", **asking):
    with ledger.asking(project) as (connection, question):
        if question.answers == "spans":
            return explain_spans(connection, question, asked(**asking), measure)
        return explain(study(connection, question, asked(**asking)), measure)


def check(result):
    """Assert what holds of every explanation: its formula's numbers give the value."""
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
    if numbers == "no true positive: 0":
        assert value == 0
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


@pytest.mark.parametrize("case", ["s01_perfect", "s02_label_swap", "s04_missed_spurious"])
def test_every_measure_of_spans_is_explained(ledger, write, case):
    ledger.import_file(write(span_rows(case)), "p", options=SPANS)
    names = [name for name, measure in MEASURES.items() if "spans" in measure.answers]
    for name, figure in zip(names, assessed(ledger, "p", *names).measures, strict=True):
        result = explained(ledger, name)
        check(result)
        assert result.shares == {}
        assert result.figure == figure


@pytest.mark.parametrize("kind", ["one", "several", "ratio", "spans"])
def test_an_undefined_figure_has_a_reason_in_words(sqlite_ledger, kind):
    cells = {
        "empty": [],
        "alone": [("i01", "A"), ("i02", "A")],
        "apart": [("i01", "A"), ("i02", "B")],
        "alike": [(item, name) for item in ("i01", "i02") for name in "AB"],
    }
    own = KINDS.get(kind, Kind(SPANS))
    label = own.drawn.get("categories", ("x",))[0]
    for project, keys in cells.items():
        with sqlite_ledger.database.write() as connection:
            create_project(connection, project, own.options)
        if keys:
            rows = frame(dict.fromkeys(keys, () if kind == "spans" else (label,)))
            rows = rows.assign(start="", end="") if kind == "spans" else rows
            sqlite_ledger.import_frame(rows, project)
        names = [
            name
            for name, measure in MEASURES.items()
            if (own.options.answers or "one") in measure.answers and name != "gwet_ac2"
        ]
        if kind == "spans":
            results = [explained(sqlite_ledger, name, project) for name in names]
        else:
            with sqlite_ledger.study(project) as counted:
                results = [explain(counted, name) for name in names]
        for result in results:
            check(result)
        assert sum(result.figure.value is None for result in results) >= 3


def test_parts_of_an_explanation(ledger, write):
    rows = "item,annotator,category,pass\n1,A,x,1\n1,B,x,1\n2,A,x,1\n2,B,y,1\n2,A,y,2\n3,A,y,1"
    ledger.import_file(write(rows + "\n4,A,,1\n4,R,x,1"), "p")
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
    chosen = explained(ledger, "fleiss_kappa", annotators=["A", "R"])
    check(chosen)
    assert chosen.to_dict()["answers"]["not_chosen"] == 2
    assert chosen.to_dict()["answers"]["other_kinds"] == 0
    sets = "item,annotator,category\n1,A,x\n1,A,y\n1,B,\n2,A,x\n2,B,x"
    ledger.import_file(write(sets), "q", options=QuestionOptions(answers="several"))
    assert explained(ledger, "fleiss_kappa", "q").shares == {"(none)": 0.25, "x": 0.5, "x|y": 0.25}


def test_measures_that_cannot_be_explained(sqlite_ledger, write):
    KINDS["one"].store(sqlite_ledger)
    sqlite_ledger.import_file(write(span_rows("s01_perfect")), "s", options=SPANS)
    for project, name, message in (
        ("p", "nosuch", "no measure 'nosuch'"),
        ("p", "", "no measure ''"),
        ("p", "fleis_kappa", "did you mean 'fleiss_kappa'"),
        ("p", "gwet_ac2", "gwet_ac2 needs weights"),
        ("p", "token_f1", "token_f1 does not fit 'p', a project of one"),
        ("s", "fleiss_kappa", "does not fit 's', a project of spans\nthese do: span_f1_exact"),
    ):
        with pytest.raises(InvalidOption, match=message):
            explained(sqlite_ledger, name, project)


def test_weights_make_ac2_of_ac1(ledger):
    KINDS["ordinal"].store(ledger)
    result = explained(ledger, "gwet_ac1", metric=Metric(weights="quadratic"))
    assert (result.figure.measure, result.measure.name) == ("gwet_ac2", "gwet_ac2")
    check(result)
    with ledger.study("p", asked("gwet_ac1", metric=Metric(weights="linear"))) as counted:
        assert agreement_influences(counted, "annotator")[0] == "gwet_ac2"
        assert best_merges(counted)[0] == "gwet_ac2"


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


@each_kind_stored
def test_figures_without_each_item(ledger, kind):
    """Categories stay, declared or learnt: one item less takes none away."""
    names = {item for item, _ in kind.store(ledger)}
    for metric in kind.readings_on(ledger):
        without = {
            item: assessed(ledger, interval="t", metric=metric, where={"name": [*names - {item}]})
            for item in sorted(names)[::8]
        }
        for measure in measures_of(kind, metric):
            name, value, rows = influences(ledger, "item", measure, metric=metric)
            assert (name, len(rows)) == (measure, min(MOST_ITEMS, len(names)))
            assert len({row.name for row in rows}) == len(rows)
            assert abs(rows[0].change) > abs(rows[-1].change or 0)
            for row in rows:
                if row.name in without:
                    assert row.without == close(without[row.name].measure(measure).value)
                    assert row.change == close(row.without - value)


@pytest.mark.parametrize("kind", ["learnt", "several", "ordinal"])
def test_figures_without_each_category(ledger, kind):
    kind = KINDS[kind]
    drawn = kind.store(ledger)
    categories = sorted({label for labels in drawn.values() for label in labels})
    for label in categories:
        rest = {key: labels for key, labels in drawn.items() if label not in labels}
        kind.load(ledger, rest, f"without {label}")
    for metric in kind.readings:
        without = {
            label: assessed(ledger, f"without {label}", metric=metric, interval="t")
            for label in categories
        }
        for measure in measures_of(kind, metric):
            name, _, rows = influences(ledger, "category", measure, metric=metric)
            assert name == measure
            assert sorted(row.name for row in rows) == categories
            assert in_order(rows)
            for row in rows:
                assert row.without == close(without[row.name].measure(measure).value)


def test_influences_of_little(ledger):
    ledger.import_frame(frame(answers(people=PEOPLE[:2])), "p")
    _, value, rows = influences(ledger, "annotator")
    assert value is not None
    assert rows == [Influence("ann", None, None), Influence("bob", None, None)]
    ledger.import_frame(frame({("i01", "A"): ("x",), ("i01", "B"): ("x",)}), "q")
    for of in ("annotator", "item", "category"):
        assert influences(ledger, of, project="q") == ("krippendorff_alpha", None, [])
    _, value, rows = influences(ledger, "item", "percent_agreement", project="q")
    assert (value, rows) == (1, [Influence("i01", None, None)])
    with ledger.study("q") as counted:
        assert best_merges(counted) == ("krippendorff_alpha", None, [])


def test_influences_that_are_refused(sqlite_ledger):
    sqlite_ledger.import_frame(frame(answers()), "p")
    for of, measures, message in (
        ("moon", (), "--influence 'moon' is not known\none of: annotator, item, category"),
        ("", (), "--influence '' is not known"),
        ("item", ("cohen_kappa",), "influence on cohen_kappa .*\n--measure krippendorff_alpha"),
        ("annotator", ("conger_kappa",), "influence on conger_kappa"),
        ("category", ("light_kappa", "fleiss_kappa"), "influence on light_kappa"),
        ("item", ("nosuch",), "no measure 'nosuch'"),
    ):
        with pytest.raises(InvalidOption, match=message):
            influences(sqlite_ledger, of, *measures)


@pytest.mark.parametrize(
    ("kind", "merges", "declared"),
    [
        ("one", [" z + x "], ("z", "y")),
        ("learnt", ["z+x"], None),
        ("several", ["x+z"], None),
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
        ):
            with pytest.raises(InvalidOption, match=message):
                assess_merged_categories(counted, merges)
    message = r"61 categories are more than the 60 .*\n.*--merge a"
    with sqlite_ledger.study("many") as counted, pytest.raises(InvalidOption, match=message):
        best_merges(counted)
    for measure in OF_PAIRS:
        refused = pytest.raises(InvalidOption, match=f"{measure} is not to be had")
        with sqlite_ledger.study("p", asked("fleiss_kappa", measure)) as counted, refused:
            assess_merged_categories(counted, ["x+y"])
        with sqlite_ledger.study("p", asked(measure)) as counted, refused:
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


def test_ten_merges_at_most(ledger):
    ledger.import_frame(frame(answers(categories="abcdefg", items=30)), "p")
    with ledger.study("p") as counted:
        (_, _, few), (_, _, every) = best_merges(counted), best_merges(counted, most=1000)
    assert (len(few), len(every)) == (10, 21)
    assert few == every[:10]


def test_statements_do_not_depend_on_the_items(ledger):
    for items in (10, 99):
        KINDS["one"].store(ledger, f"p{items}", items=items)
    blocks = [
        *(lambda p, m=m: explained(ledger, m, p)
          for m in ("fleiss_kappa", "conger_kappa", "light_kappa")),
        *(lambda p, of=of: influences(ledger, of, project=p)
          for of in ("annotator", "item", "category")),
    ]  # fmt: skip
    for block in blocks:
        with equal_statements(ledger) as record:
            for project in ("p10", "p99"):
                with record():
                    block(project)
    with equal_statements(ledger) as record:
        for project in ("p10", "p99"):
            with record(), ledger.study(project) as counted:
                assess_merged_categories(counted, ["x+y"])
                best_merges(counted)
