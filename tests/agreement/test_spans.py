"""A project of spans, from files to figures: known answers, who is counted, what it costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, case, func, select

from tests.helpers import SPANS, count_statements
from tests.measures.span_oracles import CASES, EXPECTED, ORACLE_NAMES, rows
from tracker.agreement.spans import SpanFigures, SpanPair, assess_spans
from tracker.counts.filter import select_answers
from tracker.counts.selection import Selection, labels, where_counted
from tracker.ledger import Ledger
from tracker.measures.spans.f1 import SPAN_MEASURES
from tracker.projects.annotators import annotator_names, rename_annotator, set_annotator_kind
from tracker.projects.categories import category_names

Write = Callable[..., Path]

CLOSE = 1e-9
HEADER = "doc,coder,tag,start,end,n_tokens,pass\n"


def figures(ledger: Ledger, project: str = "p", confidence: float = 0.95) -> SpanFigures:
    with ledger.asking(project) as (connection, question):
        return assess_spans(
            connection,
            select_answers(connection, question),
            annotators=annotator_names(connection, question.project),
            categories=category_names(connection, question),
            confidence=confidence,
        )


def by_names(found: SpanFigures) -> dict[tuple[str, str], SpanPair]:
    return {pair.annotators: pair for pair in found.pairs}


def span_counts(connection: Connection, selection: Selection) -> dict[str, int]:
    """Items, compared items, answers and labels of a project of spans, counted by SQL."""
    answers = (
        select(
            labels.c.item_id, func.sum(case((labels.c.category_id > 0, 1), else_=0)).label("labels")
        )
        .where(where_counted(selection))
        .group_by(labels.c.item_id, labels.c.annotator_id)
        .subquery("answers")
    )
    items = (
        select(func.count().label("answers"), func.sum(answers.c.labels).label("labels"))
        .group_by(answers.c.item_id)
        .subquery("items")
    )
    row = connection.execute(
        select(
            func.count().label("items"),
            func.sum(case((items.c.answers > 1, 1), else_=0)).label("items_compared"),
            func.sum(items.c.answers).label("answers"),
            func.sum(items.c.labels).label("labels"),
        )
    ).one()
    return {name: int(value or 0) for name, value in row._mapping.items()}


@pytest.mark.parametrize("case", CASES)
def test_known_case(ledger, write, case):
    ledger.import_file(write(rows(case)), case, options=SPANS)
    found, known = figures(ledger, case), EXPECTED[case]
    assert found.counts.items == found.counts.items_compared == len(known["documents"])
    assert found.counts.annotators == len(known["annotators"])
    assert found.counts.answers == len(known["documents"]) * len(known["annotators"])
    with ledger.asking(case) as (connection, question):
        selection = select_answers(connection, question)
        plain = span_counts(connection, selection)
    assert {**plain, "annotators": found.counts.annotators} == found.counts.to_dict()

    for name, oracle in ORACLE_NAMES.items():
        average, figure = known["pairwise_average"][oracle], found.measure(name)
        assert figure.value == pytest.approx(average["micro_pooled_f1"], abs=CLOSE)
        assert figure.macro == pytest.approx(average["macro_mean_f1"], abs=CLOSE)
        assert figure.undefined == (None if average["pairs_defined"] else "single_category")
    assert {"-".join(names) for names in by_names(found)} == set(known["pairs"])
    for names, pair in by_names(found).items():
        told = pair.to_dict()
        assert told.pop("annotators") == list(names) == sorted(names)
        assert told.pop("items") == len(known["documents"])
        assert told.keys() == SPAN_MEASURES.keys()
        for name, oracle in ORACLE_NAMES.items():
            expected = known["pairs"]["-".join(names)][oracle]
            assert told[name]["true_positives"] == expected["tp"]
            assert told[name]["value"] == pytest.approx(expected["f1"], abs=CLOSE)


def test_three_annotators(ledger, write):
    ledger.import_file(write(rows("s07_three_annotators")), "p", options=SPANS)
    found = figures(ledger)
    categories = [rate.category for rate in found.rates]
    with ledger.asking("p") as (connection, question):
        names = category_names(connection, question)
    assert categories == list(names)
    rates = {names[rate.category]: rate for rate in found.rates}
    # LOC: A and B share two of two each; C has one other, so that nothing else is exact.
    loc = rates["LOC"]
    assert (loc.labels, loc.agreements, loc.potential_agreements) == (5, 2, 8)
    assert loc.specific_agreement == 2 * 2 / (2 * (2 + 2 + 1))
    per = rates["PER"]
    assert (per.labels, per.agreements, per.potential_agreements) == (4, 3, 5)
    assert rates["ORG"].rate == 0  # the weakest
    assert found.unitizing.value is not None
    assert found.unitizing.items == 3

    a, b, c = found.annotators
    assert [one.annotator for one in (a, b, c)] == ["A", "B", "C"]
    assert (a.answers, a.spans, a.shares) == (3, 4, {"PER": 0.25, "ORG": 0.25, "LOC": 0.5})
    pairs = by_names(found)
    assert [pair.measures[0].true_positives for pair in pairs.values()] == [3, 1, 1]
    assert a.exact.value == 2 * (3 + 1) / (4 + 5 + 4 + 3)
    assert a.exact.macro == pytest.approx((2 / 3 + 2 / 7) / 2)
    assert c.exact.recall == (1 + 1) / (2 * 3)
    assert c.to_dict()["span_f1_exact"]["value"] == c.exact.value


def test_revisions_passes_kinds_and_documents_of_one_answer(ledger, write):
    ledger.import_file(
        write(
            HEADER
            + """d,ann,PER,0,2,10,1
            d,ann,PER,5,6,10,2
            d,bob,PER,0,2,10,1
            d,bob,LOC,5,6,10,2
            d,truth,PER,7,8,10,1
            e,ann,LOC,0,1,10,1
            e,bob,PER,0,1,10,1
            f,cleo,PER,0,1,,1"""
        ),
        "p",
        options=SPANS,
    )
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "truth", "reference")
    found = figures(ledger)
    assert found.counts.to_dict() == {
        "items": 3,
        "items_compared": 2,
        "annotators": 3,
        "answers": 5,
        "labels": 5,
    }
    exact = found.measure("span_f1_exact")
    assert (exact.true_positives, exact.value, exact.documents) == (1, 0.5, 2)  # first passes
    assert found.measure("span_f1_unlabelled").value == 1
    assert found.measure("span_f1_unlabelled").method == "one-sided exact"
    assert found.unitizing.value is not None  # f has no length, and nothing to compare either
    alone = found.annotators[2]
    assert (alone.annotator, alone.spans, alone.exact.undefined) == ("cleo", 1, "no_overlap")
    (pair,) = found.pairs
    assert pair.annotators == ("ann", "bob")

    ledger.import_file(write(HEADER + "e,bob,LOC,0,1,10,1"), "p")
    assert figures(ledger).measure("span_f1_exact").value == 1
    with ledger.writing("p") as (connection, project):
        rename_annotator(connection, project, "ann", "zoe")
    (pair,) = figures(ledger).pairs
    assert pair.annotators == ("bob", "zoe")  # the first by name is the reference


def test_the_first_by_name_is_the_reference(ledger, write):
    # zoe comes first in the file, and so has the lower number.
    file = write(HEADER + "d,zoe,PER,0,2,,1\n d,ann,PER,0,2,,1\n d,ann,PER,3,4,,1")
    ledger.import_file(file, "p", options=SPANS)
    found = figures(ledger)
    (pair,) = found.pairs
    told = pair.to_dict()
    assert told["annotators"] == ["ann", "zoe"]
    assert told["span_f1_exact"] == {
        "value": 2 / 3,
        "precision": 1,
        "recall": 0.5,
        "true_positives": 1,
        "undefined": None,
    }
    assert found.measure("span_f1_exact").precision == 1
    assert found.unitizing.undefined == "not_applicable"  # of a length nobody told


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("d,ann,PER,0,2,9,1\n e,ann,PER,0,2,9,1", "too_few_annotators"),
        ("d,ann,PER,0,2,9,1\n e,bob,PER,0,2,9,1", "no_overlap"),
        ("d,ann,,,,9,1\n d,bob,,,,9,1", "single_category"),
    ],
)
def test_what_cannot_be_computed(ledger, write, text, reason):
    ledger.import_file(write(HEADER + text), "p", options=SPANS)
    found = figures(ledger)
    assert {figure.undefined for figure in found.measures} == {reason}
    assert found.unitizing.undefined == reason
    with ledger.writing("p") as (connection, project):
        for name in annotator_names(connection, project).values():
            set_annotator_kind(connection, project, name, "model")
    assert {figure.undefined for figure in figures(ledger).measures} == {"too_few_items"}


def test_one_statement_whatever_the_documents(ledger, write):
    for name, number in (("small", 2), ("large", 300)):
        lines = [f"{n},{who},x,{n},{n + 2},999,1" for n in range(number) for who in "AB"]
        ledger.import_file(write(HEADER + "\n".join(lines)), name, options=SPANS)
        with ledger.asking(name) as (connection, question):
            selection = select_answers(connection, question)
            names = (
                annotator_names(connection, question.project),
                category_names(connection, question),
            )
            with count_statements(ledger.database.engine) as statements:
                found = assess_spans(
                    connection, selection, annotators=names[0], categories=names[1]
                )
        assert statements.number == 1
        assert found.counts.items == number


def test_a_figure_that_never_has_an_interval_says_why(ledger, write):
    ledger.import_file(write(rows("s07_three_annotators")), "p", options=SPANS)
    found = ledger.agreement("p", measures=["unitizing_alpha", "span_f1_exact"])
    told = {one["measure"]: one for one in found.to_dict()["measures"]}
    assert told["unitizing_alpha"]["value"] is not None
    assert told["unitizing_alpha"]["interval_undefined"] == "not_applicable"
    assert "interval_undefined" not in told["span_f1_exact"]
