"""Which snapshot another may be counted from, and which not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.audit.flags.found import Seen, record
from tests.helpers import question_of
from tests.history.scripts import added_up, answers, plainly, taken, tampering
from tests.storage.as_of.plain import Clock, at
from tracker.agreement.query import Metric, Query
from tracker.agreement.run import assess
from tracker.core import clock
from tracker.counts.filter import make_answer_filter
from tracker.history.take import take_snapshot
from tracker.history.verify import verify_snapshots
from tracker.ledger import Ledger
from tracker.projects.annotators import set_annotator_kind
from tracker.projects.identities import erase_annotator

Write = Callable[..., Path]

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
    sqlite_ledger.import_file(write(answers(40) + "i30,D,x\n"), "q")
    sqlite_ledger.snapshot("q")
    sqlite_ledger.import_file(write(answers(2, 5, 1)), "q")
    sqlite_ledger.snapshot("q")
    with sqlite_ledger.database.write(keep=False) as connection:
        tampering(connection)
        connection.execute(
            text("UPDATE snapshot_annotators SET answers = 0 WHERE annotator_id = 4")
        )
        snapshot = take_snapshot(connection, question_of(connection, "q")).snapshot
    assert snapshot.assessment.counts.annotators == 4, "nothing is counted from such a base"


def test_what_time_or_attributes_choose_is_counted_anew(
    sqlite_ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = answers(8).replace("\n", ",nl\n").replace("category,nl", "category,lang")
    Clock(monkeypatch).moment = 1_000_000  # so that the project was there at these moments
    sqlite_ledger.import_file(write(rows), "p", keep=["lang"])
    monkeypatch.undo()
    for choice in UNBASED:
        query = Query(filter=choice)
        for _ in range(2):
            found = taken(sqlite_ledger, query, check=True)
            assert (found.read, found.fresh) == (None, True)
        again = taken(sqlite_ledger, query, if_changed=True)
        assert (again.fresh, again.snapshot.id) == (False, found.snapshot.id)


def test_from_a_snapshot_of_what_was_known_then_is_counted_what_came_since(
    sqlite_ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = Clock(monkeypatch)
    for second in range(1, 4):
        now.moment = at(second)
        sqlite_ledger.import_file(write(answers(40 if second == 1 else 2, second, second)), "p")
    taken(sqlite_ledger)
    now.moment = at(5)
    then = taken(sqlite_ledger, Query(filter=make_answer_filter(known_at=clock.iso(at(1.5)))))
    assert (then.read, then.snapshot.last_change_id) == (None, 2)
    as_of = taken(sqlite_ledger, Query(filter=make_answer_filter(as_of=clock.iso(at(2.5)))))
    assert as_of.read is None
    found = taken(sqlite_ledger, check=True)
    assert found.read == 3, "the items of both imports since"
    with sqlite_ledger.asking("p") as (connection, question):
        assert added_up(connection, found.snapshot.id) == plainly(connection, question)
        assert verify_snapshots(connection, question).faults == ()
