"""Syncs: what was answered, corrected and deleted since the last one, once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.helpers import standing, stored, undo
from tests.profiles import both, examples
from tests.sync.source import MINUTE, Source, result, sync
from tracker.core.errors import NotFound, Refused
from tracker.ledger import Ledger
from tracker.storage.schema import Label, PastLabel

Write = Callable[..., Path]
COLUMNS = ("item", "annotator", "category", "pass", "labeled_at", "seconds")


@pytest.fixture
def source() -> Source:
    """Two people on three tasks."""
    made = Source()
    for task in (1, 2, 3):
        made.answer(task, "ann", "good")
        made.answer(task, "bob", "good" if task < 3 else "bad")
    return made


Action = tuple[str, int, str, str]
"""What is done in the source: to a task, or to one of its annotations; or a sync."""
SYNC: Action = ("sync", 0, "", "")
kinds = st.sampled_from(["answer", "correct", "delete", "drop"])
people, categories = st.sampled_from(["ann", "bob"]), st.sampled_from(["good", "bad"])
actions = st.just(SYNC) | st.tuples(kinds, st.integers(1, 3), people, categories)
scripts = st.lists(actions, min_size=3, max_size=10)
_numbers = count(1)


def act(source: Source, action: Action) -> None:
    what, which, who, category = action
    if what == "answer":
        source.answer(which, who, category)
        return
    known = [(task, number) for task, some in source.tasks.items() for number in some]
    if known:
        task, number = known[which % len(known)]
        if what == "correct":
            source.correct(task, number, category)
        elif what == "delete":
            source.delete(task, number)
        else:
            source.delete_task(task)


@both
def test_what_is_kept_up_with_is_what_an_export_holds(
    ledger: Ledger, write: Write, backend: str
) -> None:
    @examples(3 if backend == "sqlite" else 1)
    @example("pass", [("delete", 0, "", "")])
    @example("revision", [("answer", 1, "ann", "bad"), SYNC, ("delete", 1, "", "")])
    @example("revision", [("answer", 1, "ann", "bad"), SYNC, ("delete", 0, "", "")])
    @given(st.sampled_from(["pass", "revision"]), scripts)
    def check(repeat: str, script: list[Action]) -> None:
        number, source = next(_numbers), Source()
        kept, exported = f"kept {number}", f"exported {number}"
        for action in [("answer", 1, "ann", "good"), SYNC, *script, SYNC]:
            if action == SYNC:
                sync(ledger, source, kept, repeat=repeat)
            else:
                act(source, action)
        if any(source.tasks.values()):
            export = write(source.text().encode(), f"{number}.json")
            ledger.import_file(export, exported, repeat=repeat)
            assert standing(ledger, kept, *COLUMNS) == standing(ledger, exported, *COLUMNS)
        else:
            assert standing(ledger, kept) == []
        assert sync(ledger, source, kept, repeat=repeat).imported is None

    check()
    assert ledger.database.check() == []


def test_only_what_was_updated_is_read_again(ledger: Ledger, source: Source) -> None:
    sync(ledger, source)
    source.answer(2, "cem", "bad")
    done = sync(ledger, source)
    assert source.read == [2, 3]  # the last minute is read again
    assert done.imported is not None
    assert (done.imported.inserted, done.imported.unchanged) == (1, 4)
    source.answer(1, "cem", "bad")
    sync(ledger, source)
    assert source.read == [1, 2]
    sync(ledger, source, whole=True)
    assert source.read == [1, 2, 3]


def test_nothing_new_records_nothing(ledger: Ledger, source: Source) -> None:
    sync(ledger, source)
    before = stored(ledger)
    done = sync(ledger, source)
    assert source.read == [3]
    assert done.imported is None
    assert done.to_dict()["import"] is None
    assert sync(ledger, source, whole=True).imported is None
    assert stored(ledger) == before


def test_what_brings_nothing_is_read_once(ledger: Ledger, source: Source) -> None:
    sync(ledger, source)
    with source._update(2):
        pass
    assert sync(ledger, source).imported is None
    assert source.read == [2, 3]
    source.answer(1, "cem", "bad")
    sync(ledger, source)
    assert source.read == [1, 2]


def test_a_source_without_answers_makes_no_project(ledger: Ledger) -> None:
    assert sync(ledger, Source()).imported is None
    assert ledger.projects.list() == []


def test_a_project_may_have_to_be_there(ledger: Ledger, source: Source) -> None:
    with pytest.raises(NotFound):
        sync(ledger, source, create=False)


def test_what_was_imported_from_a_file_is_not_withdrawn(
    ledger: Ledger, source: Source, write: Write
) -> None:
    ledger.import_file(write(source.text().encode(), "export.json"), "p")
    done = sync(ledger, source)
    assert done.imported is not None
    assert done.imported.unchanged == 6
    assert sync(ledger, source).imported is None
    source.delete_task(3)
    sync(ledger, source)
    assert len(standing(ledger)) == 6
    undo(ledger, 1)
    assert len(standing(ledger)) == 4


def test_other_sources_keep_their_answers(ledger: Ledger, source: Source) -> None:
    other = Source()
    other.source = "http://labels.example/projects/2"
    other.answer(7, "ann", "good")
    sync(ledger, source)
    sync(ledger, other)
    source.delete_task(3)
    sync(ledger, source)
    assert ("7", "ann", "good") in standing(ledger)
    assert len(standing(ledger)) == 5


def test_an_annotation_emptied_is_no_deletion(ledger: Ledger, source: Source) -> None:
    """Its question may be asked by no other task that is read with it."""
    number = source.answer(1, "cem", "bad")
    sync(ledger, source)
    source.correct(1, number)
    done = sync(ledger, source)
    assert (source.read, done.withdrawn) == ([1], 0)
    assert ("1", "cem", None) in standing(ledger)
    source.correct(1, number, "good")
    sync(ledger, source)
    assert ("1", "cem", "good") in standing(ledger)


def test_a_new_question_is_asked_of_all(ledger: Ledger, source: Source, write: Write) -> None:
    sync(ledger, source)
    source.answer(2, "cem", "bad", topic=("cats",))
    with pytest.raises(Refused, match="has no question 'topic'"):
        sync(ledger, source)
    ledger.questions.add("p", "topic")
    done = sync(ledger, source)
    assert (done.since, source.read) == (None, [1, 2, 3])
    ledger.import_file(write(source.text().encode(), "export.json"), "exported")
    columns = ("question", "item", "annotator", "category")
    assert standing(ledger, "p", *columns) == standing(ledger, "exported", *columns)
    source.answer(1, "cem", topic=("dogs",))
    sync(ledger, source)
    assert source.read == [1, 2]


def test_a_dry_run_stores_nothing(ledger: Ledger, source: Source) -> None:
    sync(ledger, source)
    before = stored(ledger)
    source.delete_task(3)
    source.answer(1, "cem", "bad")
    done = sync(ledger, source, dry_run=True)
    assert done.imported is not None
    assert (done.imported.inserted, done.withdrawn) == (1, 2)
    assert stored(ledger) == before
    assert sync(ledger, source).to_dict() | {"import": 0} == done.to_dict() | {"import": 0}


@both
def test_two_at_once_do_not_record_twice(ledger: Ledger, source: Source) -> None:
    sync(ledger, source)
    number = source.answer(2, "cem", "bad")
    source.delete_task(3)

    def overtake() -> None:
        source.between = lambda: None
        sync(ledger, source)
        source.delete(2, number)

    source.between = overtake
    done = sync(ledger, source)  # what it read has been read and changed meanwhile
    assert done.withdrawn == 1
    assert len(standing(ledger)) == 4
    assert [one.counts.inserted for one in ledger.imports.list("p")] == [6, 1, 0]


def test_a_source_that_never_rests_is_given_up(ledger: Ledger, source: Source) -> None:
    other = Source()
    other.__dict__.update(source.__dict__)
    other.between = lambda: source.answer(1, "cem", "bad") and sync(ledger, source)
    with pytest.raises(Refused, match="changes faster than"):
        sync(ledger, other)


def test_nothing_is_stored_of_a_source_that_is_refused(ledger: Ledger, source: Source) -> None:
    sync(ledger, source)
    before = stored(ledger)
    with source._update(2) as annotations:
        annotations[99] = {"id": 99, "completed_by": {"email": "eve"}, "result": "nonsense"}
    source.delete_task(3)
    with pytest.raises(Refused, match="is no list"):
        sync(ledger, source)
    assert stored(ledger) == before
    assert sync(ledger, source, skip_invalid=True).withdrawn == 2


def _unknown_category(source: Source, number: int) -> None:
    source.correct(1, number, "ugly")


def _no_list(source: Source, number: int) -> None:
    with source._update(1) as annotations:
        annotations[number]["result"] = "nonsense"


def _two_at_once(source: Source, number: int) -> None:
    with source._update(1) as annotations:
        annotations[99] = annotations[number] | {"id": 99, "result": result(tone=("good",))}


@pytest.mark.parametrize("spoil", [_unknown_category, _no_list, _two_at_once])
def test_what_is_rejected_now_is_not_deleted(
    ledger: Ledger, source: Source, spoil: Callable[[Source, int], None]
) -> None:
    """The source has an answer there, although not one that can be recorded."""
    number = source.answer(1, "cem", "bad")
    sync(ledger, source, repeat="revision")
    ledger.questions.set("p", "tone", categories=("good", "bad"))
    before = standing(ledger)
    spoil(source, number)
    source.delete_task(3)
    done = sync(ledger, source, repeat="revision", skip_invalid=True)
    assert done.imported is not None
    assert done.imported.rejected > 0
    assert (done.withdrawn, standing(ledger)) == (2, [one for one in before if one[0] != "3"])
    source.delete(1, number)
    source.tasks[1].pop(99, None)
    assert sync(ledger, source, repeat="revision").withdrawn == 1


def test_what_was_saved_late_is_read_within_the_overlap(ledger: Ledger, source: Source) -> None:
    sync(ledger, source)
    source.tasks[2][99] = {
        "id": 99, "completed_by": {"email": "cem"}, "created_at": "2026-01-05T09:00:00Z",
        "result": [],
    }  # fmt: skip
    source.updated[2] = max(source.updated.values()) - MINUTE // 2
    done = sync(ledger, source)
    assert done.imported is not None
    assert done.imported.inserted == 1


def test_statements_do_not_grow_with_the_tasks(sqlite_ledger: Ledger) -> None:
    from tests.helpers import count_rows, count_statements

    counted = []
    for number in (60, 120):  # of fewer rows nothing is told of odd files
        source, name = Source(), f"of {number}"
        for task in range(number):
            source.answer(task, "ann", "good")
            source.answer(task, "bob", "good")
        sync(sqlite_ledger, source, name)
        for task in range(number):
            source.delete(task, 2 * task + 1) if task % 2 else source.delete_task(task)
        engine = sqlite_ledger.database.engine
        with count_statements(engine) as statements, count_rows(engine) as rows:
            done = sync(sqlite_ledger, source, name)
        assert done.withdrawn == (number + 1) // 2 * 2 + number // 2
        counted.append((statements.number, rows.number))
    assert counted[0][0] == counted[1][0]
    assert {Label.__tablename__, PastLabel.__tablename__} <= stored(sqlite_ledger).keys()
