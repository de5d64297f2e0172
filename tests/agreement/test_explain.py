"""Why a number is what it is: the parts add up, and the formula's numbers give the value."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agreement.crowd import KINDS, Kind, asked, assessed, close, each_kind_stored, frame
from tests.helpers import SPANS, count_statements
from tests.measures.span_oracles import rows as span_rows
from tracker.agreement.coefficients import study
from tracker.agreement.explain import Explanation, explain, explain_spans
from tracker.agreement.query import Metric
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.measures.registry import MEASURES
from tracker.projects.annotators import set_annotator_kind
from tracker.projects.questions import QuestionOptions, create_project

Write = Callable[..., Path]
LETTERED = re.compile(r"[a-z]{2,}")


def explained(ledger: Ledger, measure: str, project: str = "p", **asking: Any) -> Explanation:
    with ledger.asking(project) as (connection, question):
        if question.answers == "spans":
            return explain_spans(connection, question, asked(**asking), measure)
        return explain(study(connection, question, asked(**asking)), measure)


def check(found: Explanation) -> None:
    """What every explanation keeps to."""
    told = found.to_dict()
    assert told["formula"] == MEASURES[found.measure.name].formula
    assert told["source"] == MEASURES[found.measure.name].source
    answers, items = told["answers"], told["items"]
    assert sum(answers.values()) - answers["standing"] == answers["standing"]
    assert items["compared"] == items["answered"] - items["one_answer"]
    assert 0 <= items["answered"] <= items["in_project"]
    if found.shares:
        assert sum(found.shares.values()) == close(1) or sum(found.shares.values()) == 0
    value, numbers = found.figure.value, found.numbers
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


def fitting(kind: Kind, metric: Metric) -> list[str]:
    """Every measure that can be asked of this kind of project."""
    return [
        name
        for name, measure in MEASURES.items()
        if (kind.options.answers or "one") in measure.answers
        and name != ("gwet_ac1" if metric.weighted else "gwet_ac2")
    ]


@each_kind_stored
def test_every_measure(ledger: Ledger, kind: Kind) -> None:
    kind.store(ledger)
    kind.store(ledger, "two", people=("ann", "bob"))
    for metric in kind.readings_on(ledger):
        for project in ("p", "two") if metric == kind.readings[0] else ("two",):
            names = fitting(kind, metric)
            figures = assessed(ledger, project, *names, metric=metric).measures
            for name, figure in zip(names, figures, strict=True):
                found = explained(ledger, name, project, metric=metric)
                check(found)
                assert found.figure == figure
                assert figure.value is not None or project == "p"
                told = found.to_dict()["items"]
                assert told["answered"] == told["in_project"] == 24 or told["one_answer"] >= 0


@pytest.mark.parametrize("case", ["s01_perfect", "s02_label_swap", "s04_missed_spurious"])
def test_every_measure_of_spans(ledger: Ledger, write: Write, case: str) -> None:
    ledger.import_file(write(span_rows(case)), "p", options=SPANS)
    names = [name for name, measure in MEASURES.items() if "spans" in measure.answers]
    for name, figure in zip(names, assessed(ledger, "p", *names).measures, strict=True):
        found = explained(ledger, name)
        check(found)
        assert found.shares == {}
        assert found.figure == figure


@pytest.mark.parametrize("kind", [*KINDS.values(), Kind(SPANS)], ids=[*KINDS, "spans"])
@pytest.mark.parametrize("what", ["empty", "alone", "apart", "alike"])
def test_what_is_undefined_has_a_reason(sqlite_ledger: Ledger, kind: Kind, what: str) -> None:
    """The reason is in words, whichever measure it is that has no value."""
    spans = kind.options.answers == "spans"
    with sqlite_ledger.database.write() as connection:
        create_project(connection, "p", kind.options)
    label = kind.drawn.get("categories", ("x",))[0]
    where = {
        "empty": [],
        "alone": [("i01", "A"), ("i02", "A")],
        "apart": [("i01", "A"), ("i02", "B")],
        "alike": [(item, who) for item in ("i01", "i02") for who in "AB"],
    }[what]
    if where:
        rows = frame(dict.fromkeys(where, () if spans else (label,)))
        sqlite_ledger.import_frame(rows.assign(start="", end="") if spans else rows, "p")
    undefined = 0
    for name, measure in MEASURES.items():
        if (kind.options.answers or "one") in measure.answers and name != "gwet_ac2":
            found = explained(sqlite_ledger, name)
            check(found)
            undefined += found.figure.value is None
    assert undefined >= 3


def test_the_parts(ledger: Ledger, write: Write) -> None:
    text = """item,annotator,category,pass
    1,A,x,1
    1,B,x,1
    2,A,x,1
    2,B,y,1
    2,A,y,2
    3,A,y,1
    4,A,,1
    4,R,x,1"""
    ledger.import_file(write(text), "p")
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "R", "reference")
    found = explained(ledger, "fleiss_kappa")
    check(found)
    told = found.to_dict()
    assert told["items"] == {"in_project": 4, "answered": 3, "one_answer": 1, "compared": 2}
    assert told["answers"] == {
        "standing": 8,
        "skipped": 1,
        "other_kinds": 1,
        "not_chosen": 0,
        "later_passes": 1,
        "counted": 5,
    }
    # Fleiss' chance is of items, each weighing the same, the one of a single answer as well.
    assert found.shares == {"x": close((1 + 0.5) / 3), "y": close((0.5 + 1) / 3)}
    assert found.numbers == "(0.5 - 0.5) / (1 - 0.5) = 0"
    # Alpha's is of answers that can be compared.
    alpha = explained(ledger, "krippendorff_alpha")
    assert alpha.shares == {"x": 0.75, "y": 0.25}
    assert alpha.numbers == "1 - 0.5 / 0.5 = 0"
    percent = explained(ledger, "percent_agreement")
    assert (percent.shares, percent.numbers) == ({}, "mean of 2 items = 0.5")
    chosen = explained(ledger, "fleiss_kappa", annotators=["A", "R"])
    check(chosen)
    assert chosen.to_dict()["answers"]["not_chosen"] == 2
    assert chosen.to_dict()["answers"]["other_kinds"] == 0


def test_sets_are_named_by_their_categories(ledger: Ledger, write: Write) -> None:
    text = "item,annotator,category\n1,A,x\n1,A,y\n1,B,\n2,A,x\n2,B,x"
    ledger.import_file(write(text), "p", options=QuestionOptions(answers="several"))
    shares = explained(ledger, "fleiss_kappa").shares
    assert shares == {"(none)": 0.25, "x": 0.5, "x|y": 0.25}


def test_weights_make_ac2_of_ac1(ledger: Ledger) -> None:
    KINDS["ordinal"].store(ledger)
    found = explained(ledger, "gwet_ac1", metric=Metric(weights="quadratic"))
    assert (found.figure.measure, found.measure.name) == ("gwet_ac2", "gwet_ac2")
    check(found)


def test_what_cannot_be_explained(sqlite_ledger: Ledger, write: Write) -> None:
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


@pytest.mark.parametrize("measure", ["fleiss_kappa", "conger_kappa", "light_kappa"])
def test_as_many_statements_whatever_the_items(ledger: Ledger, measure: str) -> None:
    numbers = []
    for items in (10, 99):
        KINDS["one"].store(ledger, f"p{items}", items=items)
        with count_statements(ledger.database.engine) as statements:
            explained(ledger, measure, f"p{items}")
        numbers.append(statements.number)
    assert numbers[0] == numbers[1] < 25
