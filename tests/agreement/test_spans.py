"""A project of spans, from files to figures: which answers are streamed, and what they give."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import update

from tests.helpers import SPANS, count_statements, csv_text
from tests.measures.span_oracles import CASES, EXPECTED, ORACLE_NAMES, rows
from tests.profiles import both, examples
from tracker.agreement.counts_sql import select_span_documents, select_span_rows
from tracker.agreement.spans import assess_spans
from tracker.counts.filter import make_answer_filter, select_answers
from tracker.formats.column_roles import parse_column_roles
from tracker.formats.source import STDIN, SourceFile
from tracker.imports.loader import load_import
from tracker.measures.spans.f1 import SPAN_MEASURES
from tracker.projects.annotators import annotator_names, rename_annotator, set_annotator_kind
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.questions import create_project
from tracker.storage.schema import NONE_APPLIES, SKIPPED, Label

CLOSE = 1e-9
HEADER = "doc,coder,tag,start,end,n_tokens,pass\n"
FILE = HEADER + """d,B,PER,0,2,10,1
    d,A,LOC,4,5,10,1
    d,A,PER,4,5,10,1
    d,A,PER,0,2,10,1
    e,A,,,,,1
    e,C,LOC,1,2,,1
    e,C,PER,1,3,,2"""  # fmt: skip


def set_kind(ledger, kind, *names):
    with ledger.writing("p") as (connection, project):
        for name in names:
            set_annotator_kind(connection, project, name, kind)


def streamed(connection, question, choice=None):
    """The stream, by names: of each document its length and the spans of each annotator."""
    items = item_names(connection, question.project)
    people = annotator_names(connection, question.project)
    categories = category_names(connection, question)
    selection = select_answers(connection, question, choice or make_answer_filter())
    stream = list(select_span_documents(connection, selection))
    assert [row.item for row in stream] == sorted({row.item for row in stream})
    for row in stream:
        assert list(row.answers) == sorted(row.answers)
        assert all(spans == sorted(spans) for spans in row.answers.values())
    return {
        items[row.item]: (
            row.length,
            {people[name]: sorted((categories[c], start, end) for c, start, end in spans)
             for name, spans in row.answers.items()},
        )
        for row in stream
    }  # fmt: skip


def documents(ledger, project="p", **choice):
    with ledger.asking(project) as (connection, question):
        return streamed(connection, question, make_answer_filter(**choice))


def test_documents_with_their_answers_that_stand(ledger, write):
    ledger.import_file(write(FILE), "p", options=SPANS)
    first = {
        "d": (10, {"A": [("LOC", 4, 5), ("PER", 0, 2), ("PER", 4, 5)], "B": [("PER", 0, 2)]}),
        "e": (None, {"A": [], "C": [("LOC", 1, 2)]}),  # C: the lower of two passes
    }
    assert documents(ledger) == first
    ledger.import_file(write(HEADER + "d,A,ORG,0,9,12,1"), "q", options=SPANS)
    assert documents(ledger) == first, "another project stays out"
    assert documents(ledger, "q") == {"d": (12, {"A": [("ORG", 0, 9)]})}
    ledger.import_file(write(HEADER + "d,A,ORG,0,1,,1\n d,B,,,,,1"), "p")
    assert documents(ledger)["d"] == (10, {"A": [("ORG", 0, 1)], "B": []})
    set_kind(ledger, "reference", "A")
    assert documents(ledger) == {"d": (10, {"B": []}), "e": (None, {"C": [("LOC", 1, 2)]})}
    set_kind(ledger, "model", "B", "C")
    assert documents(ledger) == {}


def test_a_skipped_answer_leaves_the_next_pass(ledger, write):
    more = "\n d,C,,,,,1\n d,C,PER,7,8,,2\n f,B,,,,,1"
    ledger.import_file(write(FILE + more), "p", options=SPANS)
    assert documents(ledger)["d"][1]["C"] == []
    with ledger.writing("p") as (connection, project):
        none = update(Label).where(
            Label.project_id == project.id, Label.category_id == NONE_APPLIES
        )
        connection.execute(none.values(category_id=SKIPPED))
    result = documents(ledger)
    assert result["d"][1]["C"] == [("PER", 7, 8)]
    assert result["e"][1].keys() == {"C"}
    assert "f" not in result


def test_answers_that_are_not_chosen_stay_out(ledger, write):
    timed = """item,annotator,category,start,end,labeled_at,lang
        d,A,x,0,1,2024-03-01,en
        d,B,x,0,1,2024-03-03,en
        e,A,x,0,1,2024-03-03,de
        f,B,x,0,1,2024-03-05,en"""
    ledger.import_file(write(timed), "p", options=SPANS, keep=["lang"])
    for choice, expected in (
        ({}, {"d": ["A", "B"], "e": ["A"], "f": ["B"]}),
        ({"annotators": "A"}, {"d": ["A"], "e": ["A"]}),
        ({"since": "2024-03-02", "until": "2024-03-04"}, {"d": ["B"], "e": ["A"]}),
        ({"where": {"lang": "en"}}, {"d": ["A", "B"], "f": ["B"]}),
    ):
        chosen = documents(ledger, **choice)
        assert {name: [*people] for name, (_, people) in chosen.items()} == expected


def test_documents_are_one_statement_without_a_sort(sqlite_ledger, write):
    sqlite_ledger.import_file(write(FILE), "p", options=SPANS)
    with sqlite_ledger.asking("p") as (connection, question):
        selection = select_answers(connection, question)
        with count_statements(sqlite_ledger.database.engine) as statements:
            list(select_span_documents(connection, selection))
        assert statements.number == 1
        literal = {"literal_binds": True}
        compiled = select_span_rows(selection).compile(connection, compile_kwargs=literal)
        plan = [row[-1] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}")]
    assert plan[0].startswith("SEARCH items USING PRIMARY KEY")
    key = "(project_id=? AND question_id=? AND item_id=?)"
    assert plan[1].startswith(f"SEARCH labels USING PRIMARY KEY {key}")
    assert not [step for step in plan if "TEMP B-TREE" in step or "SCAN" in step]


place = st.tuples(st.sampled_from("xyz"), st.integers(0, 9), st.integers(1, 5))
spans = st.lists(
    place.map(lambda span: (span[0], span[1], sum(span[1:]))), max_size=4, unique=True
).map(sorted)
keys = st.tuples(st.sampled_from("defg"), st.sampled_from("ABCM"), st.integers(1, 3))


@both
@given(st.dictionaries(keys, spans, min_size=1, max_size=15))
@examples(15)
def test_the_stream_of_any_file(ledger, file):
    """The stream of the rows against the rows; M is a model."""
    lines = [["doc", "coder", "pass", "tag", "start", "end"]]
    expected = {}
    for (item, name, number), marked in sorted(file.items(), reverse=True):
        lines += [[item, name, number, *span] for span in marked or [(None, None, None)]]
        if name != "M":
            expected.setdefault(item, (None, {}))[1][name] = marked  # the lowest pass comes last
    with ledger.database.write(keep=False) as connection:
        project = create_project(connection, "p", SPANS)
        source = SourceFile(STDIN, io.BytesIO(csv_text(lines).encode()))
        load_import(connection, project, [source], parse_column_roles([]))
        if any(name == "M" for _, name, _ in file):
            set_annotator_kind(connection, project.project, "M", "model")
        assert streamed(connection, project) == expected


def figures(ledger, project="p"):
    with ledger.asking(project) as (connection, question):
        return assess_spans(
            connection,
            select_answers(connection, question),
            annotators=annotator_names(connection, question.project),
            categories=category_names(connection, question),
        )


@pytest.mark.parametrize("case", CASES)
def test_known_case(ledger, write, case):
    ledger.import_file(write(rows(case)), case, options=SPANS)
    result, known = figures(ledger, case), EXPECTED[case]
    people, number = len(known["annotators"]), len(known["documents"])
    assert result.counts.to_dict() == {
        "items": number, "items_compared": number, "annotators": people,
        "answers": number * people, "labels": sum(row[2] is not None for row in rows(case)[1:]),
    }  # fmt: skip
    for name, oracle in ORACLE_NAMES.items():
        average, figure = known["pairwise_average"][oracle], result.measure(name)
        assert figure.value == pytest.approx(average["micro_pooled_f1"], abs=CLOSE)
        assert figure.macro == pytest.approx(average["macro_mean_f1"], abs=CLOSE)
        assert figure.undefined == (None if average["pairs_defined"] else "single_category")
    assert {"-".join(pair.annotators) for pair in result.pairs} == set(known["pairs"])
    for pair in result.pairs:
        row = pair.to_dict()
        assert row.pop("annotators") == list(pair.annotators) == sorted(pair.annotators)
        assert row.pop("items") == number
        assert row.keys() == SPAN_MEASURES.keys()
        for name, oracle in ORACLE_NAMES.items():
            expected = known["pairs"]["-".join(pair.annotators)][oracle]
            assert row[name]["true_positives"] == expected["tp"]
            assert row[name]["value"] == pytest.approx(expected["f1"], abs=CLOSE)


def test_three_annotators(ledger, write):
    ledger.import_file(write(rows("s07_three_annotators")), "p", options=SPANS)
    result = figures(ledger)
    with ledger.asking("p") as (connection, question):
        names = category_names(connection, question)
    assert [rate.category for rate in result.rates] == list(names)
    assert {names[rate.category]: rate.labels for rate in result.rates} == {
        "PER": 4, "LOC": 5, "ORG": 3
    }  # fmt: skip
    assert result.unitizing.items == 3
    a, b, c = result.annotators
    assert [own.annotator for own in (a, b, c)] == ["A", "B", "C"]
    assert (a.answers, a.spans, a.shares) == (3, 4, {"PER": 0.25, "ORG": 0.25, "LOC": 0.5})
    assert [pair.measures[0].true_positives for pair in result.pairs] == [3, 1, 1]
    assert a.exact.value == 2 * (3 + 1) / (4 + 5 + 4 + 3)
    assert a.exact.macro == pytest.approx((2 / 3 + 2 / 7) / 2)
    assert c.exact.recall == (1 + 1) / (2 * 3)
    assert c.to_dict()["span_f1_exact"]["value"] == c.exact.value
    assessment = ledger.agreement("p", measures=["unitizing_alpha", "span_f1_exact"]).to_dict()
    exact, unitizing = sorted(assessment["measures"], key=lambda row: row["measure"])
    assert unitizing["value"] == result.unitizing.value is not None
    assert unitizing["interval_undefined"] == "not_applicable"
    assert "interval_undefined" not in exact


def test_revisions_passes_kinds_and_documents_of_one_answer(ledger, write):
    lines = """d,ann,PER,0,2,10,1
        d,ann,PER,5,6,10,2
        d,bob,PER,0,2,10,1
        d,bob,LOC,5,6,10,2
        d,truth,PER,7,8,10,1
        e,ann,LOC,0,1,10,1
        e,bob,PER,0,1,10,1
        f,cleo,PER,0,1,,1"""
    ledger.import_file(write(HEADER + lines), "p", options=SPANS)
    set_kind(ledger, "reference", "truth")
    result = figures(ledger)
    assert result.counts.to_dict() == {
        "items": 3, "items_compared": 2, "annotators": 3, "answers": 5, "labels": 5
    }  # fmt: skip
    exact, unlabelled = map(result.measure, ("span_f1_exact", "span_f1_unlabelled"))
    assert (exact.true_positives, exact.value, exact.documents) == (1, 0.5, 2)  # first passes
    assert (unlabelled.value, unlabelled.method) == (1, "one-sided exact")
    assert result.unitizing.value is not None  # f has no length, and nothing to compare either
    alone = result.annotators[2]
    assert (alone.annotator, alone.spans, alone.exact.undefined) == ("cleo", 1, "no_overlap")
    (pair,) = result.pairs
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
    result = figures(ledger)
    (pair,) = result.pairs
    row = pair.to_dict()
    assert row["annotators"] == ["ann", "zoe"]
    assert row["span_f1_exact"] == {
        "value": 2 / 3, "precision": 1, "recall": 0.5, "true_positives": 1, "undefined": None
    }  # fmt: skip
    assert result.measure("span_f1_exact").precision == 1
    assert result.unitizing.undefined == "not_applicable"  # no document has a length


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("d,ann,PER,0,2,9,1\n e,ann,PER,0,2,9,1", "too_few_annotators"),
        ("d,ann,PER,0,2,9,1\n e,bob,PER,0,2,9,1", "no_overlap"),
        ("d,ann,,,,9,1\n d,bob,,,,9,1", "single_category"),
    ],
)
def test_figures_that_cannot_be_computed(ledger, write, text, reason):
    ledger.import_file(write(HEADER + text), "p", options=SPANS)
    result = figures(ledger)
    assert {figure.undefined for figure in (*result.measures, result.unitizing)} == {reason}
    with ledger.asking("p") as (connection, question):
        names = annotator_names(connection, question.project).values()
    set_kind(ledger, "model", *names)
    assert {figure.undefined for figure in figures(ledger).measures} == {"too_few_items"}


def test_figures_take_one_statement(ledger, write):
    lines = [f"{n},{name},x,{n},{n + 2},999,1" for n in range(300) for name in "AB"]
    ledger.import_file(write(HEADER + "\n".join(lines)), "p", options=SPANS)
    with ledger.asking("p") as (connection, question):
        selection = select_answers(connection, question)
        people = annotator_names(connection, question.project)
        categories = category_names(connection, question)
        with count_statements(ledger.database.engine) as statements:
            result = assess_spans(connection, selection, annotators=people, categories=categories)
    assert (statements.number, result.counts.items) == (1, 300)
