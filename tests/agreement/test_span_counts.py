"""The stream of documents: which answers are in it, in which order, by which statement."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, update

from tests.helpers import SPANS, count_statements, csv_text
from tests.profiles import examples
from tracker.agreement.counts_sql import select_span_documents, select_span_rows
from tracker.counts.filter import make_answer_filter, select_answers
from tracker.formats.column_roles import parse_column_roles
from tracker.formats.source import STDIN, SourceFile
from tracker.imports.loader import load_import
from tracker.ledger import Ledger
from tracker.projects.annotators import annotator_names, set_annotator_kind
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.questions import QuestionInfo, create_project
from tracker.storage.schema import NONE_APPLIES, SKIPPED, Label

Write = Callable[..., Path]
Spans = dict[str, tuple[int | None, dict[str, list[tuple[str, int, int]]]]]

HEADER = "doc,coder,tag,start,end,n_tokens,pass\n"
FILE = (
    HEADER
    + """d,B,PER,0,2,10,1
    d,A,LOC,4,5,10,1
    d,A,PER,4,5,10,1
    d,A,PER,0,2,10,1
    e,A,,,,,1
    e,C,LOC,1,2,,1
    e,C,PER,1,3,,2"""
)


def streamed(connection: Connection, question: QuestionInfo) -> Spans:
    """The stream, by names."""
    items, people = (
        item_names(connection, question.project),
        annotator_names(connection, question.project),
    )
    categories = category_names(connection, question)
    selection = select_answers(connection, question)
    found = list(select_span_documents(connection, selection))
    assert [one.item for one in found] == sorted({one.item for one in found})
    for one in found:
        assert list(one.answers) == sorted(one.answers)
        assert all(spans == sorted(spans) for spans in one.answers.values())
    return {
        items[one.item]: (
            one.length,
            {
                people[who]: sorted((categories[c], start, end) for c, start, end in spans)
                for who, spans in one.answers.items()
            },
        )
        for one in found
    }


def documents(ledger: Ledger, project: str = "p") -> Spans:
    with ledger.asking(project) as (connection, question):
        return streamed(connection, question)


@contextmanager
def changing(ledger: Ledger) -> Iterator[None]:
    """A block that changes what is counted."""
    before = documents(ledger)
    yield
    assert documents(ledger) != before


def test_documents_with_their_answers_and_length(ledger, write):
    ledger.import_file(write(FILE), "p", options=SPANS)
    assert documents(ledger) == {
        "d": (10, {"A": [("LOC", 4, 5), ("PER", 0, 2), ("PER", 4, 5)], "B": [("PER", 0, 2)]}),
        "e": (None, {"A": [], "C": [("LOC", 1, 2)]}),  # C: the lower of two passes
    }


def test_an_empty_project_has_none(ledger, write):
    file = write(HEADER + "d,A,PER,0,2,,1")
    ledger.import_file(file, "p", options=SPANS)
    with ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "A", "model")
    assert documents(ledger) == {}


def test_what_stands_is_counted(ledger, write):
    ledger.import_file(write(FILE), "p", options=SPANS)
    with changing(ledger):
        ledger.import_file(write(HEADER + "d,A,ORG,0,1,,1\n d,B,,,,,1"), "p")
    assert documents(ledger)["d"] == (10, {"A": [("ORG", 0, 1)], "B": []})
    with changing(ledger), ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "A", "reference")
    assert documents(ledger) == {"d": (10, {"B": []}), "e": (None, {"C": [("LOC", 1, 2)]})}


def test_a_skipped_answer_is_none_and_leaves_the_next_pass(ledger, write):
    more = "\n d,C,,,,,1\n d,C,PER,7,8,,2\n f,B,,,,,1"
    ledger.import_file(write(FILE + more), "p", options=SPANS)
    assert documents(ledger)["d"][1]["C"] == []
    with changing(ledger), ledger.writing("p") as (connection, project):
        connection.execute(
            update(Label)
            .where(Label.project_id == project.id, Label.category_id == NONE_APPLIES)
            .values(category_id=SKIPPED)
        )
    found = documents(ledger)
    assert found["d"][1]["C"] == [("PER", 7, 8)]
    assert found["e"][1].keys() == {"C"}
    assert "f" not in found


def test_what_was_not_chosen_stays_out(ledger, write):
    timed = """item,annotator,category,start,end,labeled_at,lang
        d,A,x,0,1,2024-03-01,en
        d,B,x,0,1,2024-03-03,en
        e,A,x,0,1,2024-03-03,de
        f,B,x,0,1,2024-03-05,en"""
    ledger.import_file(write(timed), "p", options=SPANS, keep=["lang"])

    def chosen(**said):
        with ledger.asking("p") as (connection, question):
            choice = make_answer_filter(**said)
            selection = select_answers(connection, question, choice)
            items, people = (
                item_names(connection, question.project),
                annotator_names(connection, question.project),
            )
            return {
                items[one.item]: [people[who] for who in one.answers]
                for one in select_span_documents(connection, selection)
            }

    assert chosen() == {"d": ["A", "B"], "e": ["A"], "f": ["B"]}
    assert chosen(annotators="A") == {"d": ["A"], "e": ["A"]}
    assert chosen(since="2024-03-02", until="2024-03-04") == {"d": ["B"], "e": ["A"]}
    assert chosen(where={"lang": "en"}) == {"d": ["A", "B"], "f": ["B"]}


def test_another_project_stays_out(ledger, write):
    ledger.import_file(write(FILE), "p", options=SPANS)
    before = documents(ledger)
    ledger.import_file(write(HEADER + "d,A,ORG,0,9,12,1"), "q", options=SPANS)
    assert documents(ledger) == before
    assert documents(ledger, "q") == {"d": (12, {"A": [("ORG", 0, 9)]})}


def test_one_statement_and_nothing_to_sort(sqlite_ledger, write):
    sqlite_ledger.import_file(write(FILE), "p", options=SPANS)
    with sqlite_ledger.asking("p") as (connection, question):
        selection = select_answers(connection, question)
        with count_statements(sqlite_ledger.database.engine) as statements:
            list(select_span_documents(connection, selection))
        assert statements.number == 1
        compiled = select_span_rows(selection).compile(
            connection, compile_kwargs={"literal_binds": True}
        )
        plan = [row[-1] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}")]
    assert plan[0].startswith("SEARCH items USING PRIMARY KEY")
    assert plan[1].startswith(
        "SEARCH labels USING PRIMARY KEY (project_id=? AND question_id=? AND item_id=?)"
    )
    assert not [step for step in plan if "TEMP B-TREE" in step or "SCAN" in step]


# -- any file ------------------------------------------------------------------------------

Rows = dict[tuple[str, str, int], list[tuple[str, int, int]]]

spans = st.lists(
    st.tuples(st.sampled_from("xyz"), st.integers(0, 9), st.integers(1, 5)).map(
        lambda span: (span[0], span[1], sum(span[1:]))
    ),
    max_size=4,
    unique=True,
).map(sorted)
keys = st.tuples(st.sampled_from("defg"), st.sampled_from("ABCM"), st.integers(1, 3))


def check(ledger: Ledger, rows: Rows) -> None:
    """The stream of the rows against the rows; M is a model."""
    told = [["doc", "coder", "pass", "tag", "start", "end"]]
    expected = {}
    for (item, who, number), marked in sorted(rows.items(), reverse=True):
        told += [[item, who, number, *span] for span in marked or [(None, None, None)]]
        if who != "M":
            expected.setdefault(item, (None, {}))[1][who] = marked  # the lowest pass comes last
    with ledger.database.write(keep=False) as connection:
        project = create_project(connection, "p", SPANS)
        source = SourceFile(STDIN, io.BytesIO(csv_text(told).encode()))
        load_import(connection, project, [source], parse_column_roles([]))
        if any(who == "M" for _, who, _ in rows):
            set_annotator_kind(connection, project.project, "M", "model")
        assert streamed(connection, project) == expected


def test_any_file_on_sqlite(sqlite_ledger):
    files = st.dictionaries(keys, spans, min_size=1, max_size=15)
    examples(10)(given(files)(lambda rows: check(sqlite_ledger, rows)))()


def test_any_file_on_postgres(emptied_postgres_ledger):
    files = st.dictionaries(keys, spans, min_size=1, max_size=15)
    examples(3)(given(files)(lambda rows: check(emptied_postgres_ledger, rows)))()
