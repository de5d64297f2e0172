"""A project of spans, from files to figures: which answers are streamed, and what they give."""

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import update

from tests.helpers import AS_THEY_ARE, SPANS, count_statements, csv_text
from tests.measures.span_oracles import CASES, EXPECTED, ORACLE_NAMES, rows
from tests.profiles import both, examples
from tracker.agreement.counts_sql import select_span_documents, select_span_rows
from tracker.agreement.spans import assess_spans
from tracker.counts.filter import make_answer_filter, select_answers
from tracker.formats.mappings import parse_column_roles
from tracker.formats.source import STDIN, SourceFile
from tracker.imports.loader import load_import
from tracker.projects.annotators import annotator_names, set_annotator_kind
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.questions import QuestionOptions, create_project
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
    ledger.import_file(write(HEADER + "d,A,ORG,0,1,,1\n d,B,,,,,1"), "p")
    assert documents(ledger)["d"] == (10, {"A": [("ORG", 0, 1)], "B": []})
    set_kind(ledger, "reference", "A")
    assert documents(ledger) == {"d": (10, {"B": []}), "e": (None, {"C": [("LOC", 1, 2)]})}
    set_kind(ledger, "model", "B", "C")
    assert documents(ledger) == {}
    assert documents(ledger, annotators="C").keys() == {"e"}


def test_a_text_is_as_long_as_its_document_if_spans_count_characters(ledger, write):
    header, options = "item,annotator,category,start,end,text", QuestionOptions(answers="spans")
    file = write(f"{header}\na,A,x,0,4,good day\na,B,x,0,4,good day\n")
    ledger.import_file(file, "p", options=options)
    assert ledger.agreement("p").measure("unitizing_alpha").value == 1
    ledger.import_file(file, "tokens", options=replace(options, offsets="tokens"))
    assert ledger.agreement("tokens").measure("unitizing_alpha").undefined == "not_applicable"


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
        load_import(connection, project, [source], parse_column_roles([]), options=AS_THEY_ARE)
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
        for name, oracle in ORACLE_NAMES.items():
            expected = known["pairs"]["-".join(pair.annotators)][oracle]
            assert row[name]["true_positives"] == expected["tp"]
            assert row[name]["value"] == pytest.approx(expected["f1"], abs=CLOSE)


def test_items_show_how_far_boundaries_agree(sqlite_ledger, write):
    rows = "doc,coder,tag,start,end\n" + "".join(
        f"{doc},{who},PER,{start},{start + 4}\n"
        for doc, who, start in (("d", "A", 0), ("d", "B", 0), ("e", "A", 0), ("e", "B", 2))
    )
    sqlite_ledger.import_file(write(rows + "f,A,PER,0,4\n"), "p", options=SPANS)
    figures = [(row["item"], *[*row.values()][5:]) for row in sqlite_ledger.by_item("p")]
    assert figures == [("d", 2, 2, 1.0, 1.0), ("e", 2, 2, 0.0, 0.5), ("f", 1, 1, None, None)]
