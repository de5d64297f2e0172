"""Snapshots counted from the one before: exactly what counting everything gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import select, text

from tests.audit.flags.found import Seen, record
from tests.helpers import SPANS, Write, count_rows, count_statements, question_of, undo
from tests.history.scripts import (
    EVERYTHING_HAPPENS,
    Run,
    Step,
    added_up,
    all_steps,
    answers,
    few_links,
    plainly,
    recorded,
    taken,
    tampering,
)
from tests.profiles import examples
from tests.storage.as_of.plain import BOTH_KINDS, Clock
from tracker.agreement.query import Metric, Query
from tracker.agreement.run import assess
from tracker.core.errors import CheckFailed
from tracker.counts.filter import make_answer_filter
from tracker.history import stored as tallies
from tracker.history.take import take_snapshot
from tracker.ledger import Ledger
from tracker.projects.annotators import set_annotator_kind
from tracker.projects.identities import erase_annotator
from tracker.storage.schema import Snapshot


def follow(ledger: Ledger, now: Clock, kind: str, script: list[Step]) -> None:
    """Count both ways after every step; compare what is stored with a snapshot in full.

    That Postgres says the same is told by the digests (`test_digests.py`).
    """
    with ledger.database.write(keep=False) as connection:
        run = Run(connection, kind, now)
        take_snapshot(connection, run.question)
        for number, step in enumerate(script, 1):
            run.take(step)
            taken = take_snapshot(connection, run.question, check=True)
            if number % 4 and number < len(script):
                continue
            told = recorded(connection, taken)
            with connection.begin_nested() as undone:
                whole = take_snapshot(connection, run.question, full=True)
                assert recorded(connection, whole) == told
                undone.rollback()


@BOTH_KINDS
def test_what_is_counted_from_the_last_one_is_what_is_counted_anew(
    sqlite_ledger: Ledger, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    now = Clock(monkeypatch)

    @examples(3)
    @example(EVERYTHING_HAPPENS[::2] if kind == "several" else EVERYTHING_HAPPENS)
    @given(st.lists(all_steps(kind), min_size=1, max_size=4))
    def check(script: list[Step]) -> None:
        follow(sqlite_ledger, now, kind, script)

    check()


def test_only_touched_items_are_read_where_that_takes_less(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(answers(40)), "p")
    assert taken(ledger).read is None, "there is nothing to count from"
    assert taken(ledger).read == 0
    number = ledger.import_file(write(answers(3, 10, 1)), "p").id
    assert taken(ledger).read == 3
    assert taken(ledger, full=True).read is None
    assert taken(ledger).read == 0
    undo(ledger, number)
    assert taken(ledger, check=True).read == 3
    ledger.import_file(write(answers(30, 5, 1)), "p")
    assert taken(ledger).read is None, "most were touched"
    ledger.import_file(write(answers(30, 5) + "\n"), "p")
    assert taken(ledger, check=True).read == 30, "to check it is counted both ways"
    ledger.import_file(write(answers(30, 5) + "\n\n"), "p")
    assert taken(ledger, check=True).read == 0, "a repetition touches nothing"


def test_statements_and_rows_do_not_depend_on_the_size_of_the_project(
    ledger: Ledger, write: Write
) -> None:
    sent, rows = [], []
    for size, touched in ((60, 4), (200, 4), (200, 40)):
        project = f"{size} {touched}"
        ledger.import_file(write(answers(size)), project)
        ledger.record_snapshot(project)
        ledger.import_file(write(answers(touched, 8, 1)), project)
        with (
            count_statements(ledger.database.engine) as statements,
            count_rows(ledger.database.engine) as read,
        ):
            assert ledger.record_snapshot(project).read == touched
        sent.append(statements.number)
        rows.append(read.number)
    assert sent[0] == sent[1] == sent[2]
    # Not a row of the 140 items more, nor of the 36 touched more: tallies, however put together.
    assert max(rows) < min(rows) + 36


def test_a_check_that_fails_stores_nothing(sqlite_ledger: Ledger, write: Write) -> None:
    sqlite_ledger.import_file(write(answers(40)), "p")
    taken(sqlite_ledger)
    sqlite_ledger.import_file(write(answers(3, 10, 1)), "p")
    with sqlite_ledger.database.write() as connection:
        connection.execute(text("DELETE FROM touched WHERE change_id = 3"))
    with pytest.raises(CheckFailed, match="counted from snapshot 1, item patterns and tallies"):
        taken(sqlite_ledger, check=True)
    assert len(sqlite_ledger.history("p").snapshots) == 1


def test_differences_add_up_until_a_whole_one_is_due(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    few_links(monkeypatch)
    ledger.import_file(write(answers(40)), "p")
    bases = []
    for n in range(7):
        ledger.import_file(write(answers(2, n, n % 2)), "p")
        found = taken(ledger)
        assert (found.read is None) == (n == 0)
        with ledger.asking("p") as (connection, question):
            number = found.snapshot.id
            assert added_up(connection, number) == plainly(connection, question)
            base = select(Snapshot.base_snapshot_id).where(Snapshot.id == number)
            bases.append(connection.scalar(base))
    assert bases == [1, 1, 1, 4, 4, 4, 7]


def test_wide_projects_keep_no_tallies_of_annotators(
    sqlite_ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "MOST_PATTERNS", 2)
    sqlite_ledger.import_file(write(answers(40)), "p")
    taken(sqlite_ledger)
    for n in range(1, 3):
        sqlite_ledger.import_file(write(answers(2, 2 * n, 1)), "p")
        assert taken(sqlite_ledger, check=True).read == 2
    assert taken(sqlite_ledger, if_changed=True).fresh is False
    with sqlite_ledger.asking("p") as (connection, question):
        bases = set(connection.scalars(select(Snapshot.base_snapshot_id)))
        assert bases == {None}
        assert added_up(connection, 3) == (plainly(connection, question)[0], None)


def test_none_is_taken_where_the_last_one_says_the_same(
    sqlite_ledger: Ledger, write: Write
) -> None:
    def wanted(query: Query | None = None, **how: Any) -> tuple[int, bool]:
        found = taken(sqlite_ledger, query, if_changed=True, **how)
        return found.snapshot.id, found.fresh

    sqlite_ledger.import_file(write(answers(40)), "p")
    assert [wanted(), wanted(), wanted(full=True)] == [(1, True), (1, False), (1, False)]
    sqlite_ledger.import_file(write(answers(40) + "\n"), "p")
    assert wanted() == (1, False), "a repetition says the same"
    number = sqlite_ledger.import_file(write(answers(2, 5, 1)), "p").id
    assert [wanted(), wanted()] == [(2, True), (2, False)]
    undo(sqlite_ledger, number)
    assert wanted() == (3, True), "the last one is what is compared with"
    record(sqlite_ledger, Seen(1))
    assert [wanted(), wanted()] == [(4, True), (4, False)]
    assert wanted(Query(confidence=0.9)) == (5, True)
    assert wanted() == (4, False), "others of other settings do not matter"
    fresh = []
    for row in ("\n".join(f"i{n},{who},x,0,4" for n in range(9) for who in "AB"), "i1,A,y,0,4"):
        file = write(f"item,annotator,category,start,end\n{row}")
        sqlite_ledger.import_file(file, "spans", options=SPANS)
        fresh += [sqlite_ledger.record_snapshot("spans", if_changed=True).fresh for _ in range(2)]
    assert fresh == [True, False, True, False]


TAMPERINGS = [
    "UPDATE snapshots SET labels = 7",
    "UPDATE snapshots SET digest = 'ab'",
    "UPDATE snapshots SET last_change_id = 1",
    "UPDATE snapshot_patterns SET items = items + 1 WHERE pattern_id = 1",
    "DELETE FROM snapshot_patterns WHERE pattern_id = 1",
    "UPDATE snapshot_annotators SET tallies = '[]' WHERE annotator_id = 2",
    "UPDATE snapshot_annotators SET answers = answers + 1 WHERE annotator_id = 2",
    "UPDATE patterns SET pattern = '[[[1],9]]' WHERE id = 1",
    "UPDATE snapshot_flags SET state = 'acknowledged'",
]


@pytest.fixture(scope="module")
def changed(module_ledger: Ledger, tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """A project that two items of changed since its snapshot."""
    file = tmp_path_factory.mktemp("answers") / "answers.csv"
    file.write_text(answers(40))
    module_ledger.import_file(file, "p")
    record(module_ledger, Seen(1))
    module_ledger.snapshot("p")
    file.write_text(answers(2, 5, 1))
    module_ledger.import_file(file, "p")
    return module_ledger


def test_from_a_base_that_was_tampered_with_nothing_is_counted(changed: Ledger) -> None:
    for statement in (None, *TAMPERINGS):
        with changed.database.write(keep=False, bulk=True) as connection:
            if statement is not None:
                tampering(connection)
                connection.execute(text(statement))
            project = question_of(connection)
            found = take_snapshot(connection, project)
            assert found.read == (2 if statement is None else None), statement
            whole = assess(connection, project).figures()
            assert found.snapshot.assessment.figures() == whole, statement


QUESTIONS = [
    Query(),
    Query(confidence=0.9),
    Query(metric=Metric(weights="linear")),
    Query(metric=Metric(scale="interval")),
    Query(filter=make_answer_filter(exclude_annotators=["A"])),
    Query(filter=make_answer_filter(annotators=["A", "B"])),
]
UNBASED = [
    make_answer_filter(since="2020-01-01"),
    make_answer_filter(until="2020-01-01"),
    make_answer_filter(where={"lang": "nl"}),
    make_answer_filter(as_of="2020-01-01"),
    make_answer_filter(known_at="2020-01-01"),
]


def test_settings_that_differ_share_no_base(sqlite_ledger: Ledger, write: Write) -> None:
    sqlite_ledger.import_file(write(answers(40).replace(",x", ",1").replace(",y\n", ",2\n")), "p")
    assert [taken(sqlite_ledger, one).read for one in QUESTIONS] == [None] * len(QUESTIONS)
    assert [taken(sqlite_ledger, one).read for one in QUESTIONS] == [0] * len(QUESTIONS)
    reads = []
    for kind in ("model", "human", "model"):  # a change back finds its base again
        with sqlite_ledger.writing("p") as (connection, project):
            set_annotator_kind(connection, project, "C", kind)
        reads.append(taken(sqlite_ledger, check=True).read)
    assert reads == [None, 0, 0]
    with sqlite_ledger.writing("p") as (connection, project):
        erase_annotator(connection, project, "C")
    assert [taken(sqlite_ledger).read, taken(sqlite_ledger).read] == [None, 0]


def test_what_time_or_attributes_choose_is_counted_anew(
    sqlite_ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = answers(8).replace("\n", ",nl\n").replace("category,nl", "category,lang")
    Clock(monkeypatch).moment = 1_000_000  # so that the project was there at these moments
    sqlite_ledger.import_file(write(rows), "p", keep=["lang"])
    monkeypatch.undo()
    for choice in UNBASED:
        query = Query(filter=choice)
        taken(sqlite_ledger, query)
        found = taken(sqlite_ledger, query, check=True)
        assert (found.read, found.fresh) == (None, True)
        again = taken(sqlite_ledger, query, if_changed=True)
        assert (again.fresh, again.snapshot.id) == (False, found.snapshot.id)
