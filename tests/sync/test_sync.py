"""Syncs: what was answered, corrected and deleted since the last one, once; and their undo."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import select

from tests.helpers import count_statements, standing, stored, undo
from tests.profiles import both, examples
from tests.sync.source import MINUTE, START, Source, result, sync
from tracker.core import clock
from tracker.core.errors import NotFound, Refused
from tracker.imports.loader import ImportResult
from tracker.ledger import Ledger
from tracker.storage.as_of import Moment, as_it_was
from tracker.storage.schema import Change, Label

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


def imported(ledger: Ledger, source: Source, **how: Any) -> ImportResult:
    """Sync a source that has something new; return what was imported."""
    made = sync(ledger, source, **how).imported
    assert made is not None
    return made


# -- What stands after a sync ---------------------------------------------------------------------

Action = tuple[str, int, str, str]
"""An action in the source: on a task, or on one of its annotations; or a sync."""
SYNC: Action = ("sync", 0, "", "")
kinds = st.sampled_from(["answer", "correct", "delete", "drop"])
people, categories = st.sampled_from(["ann", "bob"]), st.sampled_from(["good", "bad"])
actions = st.just(SYNC) | st.tuples(kinds, st.integers(1, 3), people, categories)
scripts = st.lists(actions, min_size=3, max_size=10)
_numbers = count(1)


def act(source: Source, action: Action) -> None:
    kind, which, who, category = action
    if kind == "answer":
        source.answer(which, who, category)
        return
    known = [(task, number) for task, some in source.tasks.items() for number in some]
    if known:
        task, number = known[which % len(known)]
        if kind == "correct":
            source.correct(task, number, category)
        elif kind == "delete":
            source.delete(task, number)
        else:
            source.delete_task(task)


@both
def test_a_sync_brings_what_an_export_holds(ledger: Ledger, write: Write, backend: str) -> None:
    @examples(3 if backend == "sqlite" else 1)
    @example("pass", [("delete", 0, "", "")])
    @example("revision", [("answer", 1, "ann", "bad"), SYNC, ("delete", 1, "", "")])
    @example("revision", [("answer", 1, "ann", "bad"), SYNC, ("delete", 0, "", "")])
    @given(st.sampled_from(["pass", "revision"]), scripts)
    def check(repeat: str, script: list[Action]) -> None:
        number, source = next(_numbers), Source()
        synced, exported = f"synced {number}", f"exported {number}"
        for action in [("answer", 1, "ann", "good"), SYNC, *script, SYNC]:
            if action == SYNC:
                sync(ledger, source, synced, repeat=repeat)
            else:
                act(source, action)
        if any(source.tasks.values()):
            export = write(source.text().encode(), f"{number}.json")
            ledger.import_file(export, exported, repeat=repeat)
            assert standing(ledger, synced, *COLUMNS) == standing(ledger, exported, *COLUMNS)
        else:
            assert standing(ledger, synced) == []
        assert sync(ledger, source, synced, repeat=repeat).imported is None

    check()
    assert ledger.database.check() == []


def test_only_what_was_updated_is_read_again(ledger: Ledger, source: Source) -> None:
    assert sync(ledger, Source()).imported is None
    assert ledger.projects.list() == [], "a source without answers makes no project"
    with pytest.raises(NotFound):
        sync(ledger, source, create=False)
    sync(ledger, source)
    before = stored(ledger)
    nothing = sync(ledger, source)
    assert source.read == [3]
    assert (nothing.imported, nothing.to_dict()["import"]) == (None, None)
    assert sync(ledger, source, whole=True).imported is None
    assert stored(ledger) == before
    with source._update(2):
        pass
    assert sync(ledger, source).imported is None
    assert source.read == [2, 3]  # the last minute is read again
    source.answer(2, "cem", "bad")
    made = imported(ledger, source)
    assert source.read == [2], "what brought nothing was read once"
    assert (made.inserted, made.unchanged) == (1, 2)
    source.answer(1, "cem", "bad")
    sync(ledger, source)
    assert source.read == [1, 2]
    sync(ledger, source, whole=True)
    assert source.read == [1, 2, 3]
    source.tasks[2][99] = {"id": 99, "completed_by": {"email": "dee"}, "result": [],
                           "created_at": "2026-01-05T09:00:00Z"}  # fmt: skip
    source.updated[2] = max(source.updated.values()) - MINUTE // 2
    assert imported(ledger, source).inserted == 1, "saved late, within the overlap"


def test_answers_of_files_and_others_stay(ledger: Ledger, source: Source, write: Write) -> None:
    ledger.import_file(write(source.text().encode(), "export.json"), "p")
    assert imported(ledger, source).unchanged == 6
    assert sync(ledger, source).imported is None
    other = Source()
    other.source = "http://labels.example/projects/2"
    other.answer(7, "ann", "good")
    sync(ledger, other)
    source.delete_task(3)
    sync(ledger, source)
    assert len(standing(ledger)) == 7
    undo(ledger, 1)
    assert len(standing(ledger)) == 5
    assert ("7", "ann", "good") in standing(ledger)


def test_an_emptied_annotation_is_no_deletion(ledger: Ledger, source: Source) -> None:
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


def test_a_dry_run_or_a_refused_source_stores_nothing(ledger: Ledger, source: Source) -> None:
    sync(ledger, source)
    before = stored(ledger)
    source.delete_task(3)
    source.answer(1, "cem", "bad")
    dry = sync(ledger, source, dry_run=True)
    assert dry.imported is not None
    assert (dry.imported.inserted, dry.withdrawn) == (1, 2)
    assert stored(ledger) == before
    assert sync(ledger, source).to_dict() | {"import": 0} == dry.to_dict() | {"import": 0}
    before = stored(ledger)
    with source._update(2) as annotations:
        annotations[99] = {"id": 99, "completed_by": {"email": "eve"}, "result": "nonsense"}
    source.delete_task(1)
    with pytest.raises(Refused, match="is no list"):
        sync(ledger, source)
    assert stored(ledger) == before
    assert sync(ledger, source, skip_invalid=True).withdrawn == 3


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
    assert sync(ledger, source).withdrawn == 1  # what it read has been read and changed meanwhile
    assert len(standing(ledger)) == 4
    assert [one.counts.inserted for one in ledger.imports.list("p")] == [6, 1, 0]
    restless = Source()
    restless.__dict__.update(source.__dict__)
    restless.between = lambda: source.answer(1, "cem", "bad") and sync(ledger, source)
    with pytest.raises(Refused, match="changes faster than"):
        sync(ledger, restless)


def _unknown_category(source: Source, number: int) -> None:
    source.correct(1, number, "ugly")


def _no_list(source: Source, number: int) -> None:
    with source._update(1) as annotations:
        annotations[number]["result"] = "nonsense"


def _two_at_once(source: Source, number: int) -> None:
    with source._update(1) as annotations:
        annotations[99] = annotations[number] | {"id": 99, "result": result(tone=("good",))}


@pytest.mark.parametrize("spoil", [_unknown_category, _no_list, _two_at_once])
def test_a_rejected_answer_is_not_deleted(
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


def test_statements_do_not_grow_with_the_tasks(sqlite_ledger: Ledger) -> None:
    counts = []
    for number in (60, 120):  # of fewer rows nothing is told of odd files
        source, name = Source(), f"of {number}"
        for task in range(number):
            source.answer(task, "ann", "good")
            source.answer(task, "bob", "good")
        sync(sqlite_ledger, source, name)
        for task in range(number):
            source.delete(task, 2 * task + 1) if task % 2 else source.delete_task(task)
        with count_statements(sqlite_ledger.database.engine) as statements:
            done = sync(sqlite_ledger, source, name)
        assert done.withdrawn == (number + 1) // 2 * 2 + number // 2
        counts.append(statements.number)
    assert counts[0] == counts[1]


# -- Items that the project knows by other keys ---------------------------------------------------


@pytest.fixture
def aliased(ledger: Ledger, write: Write) -> Ledger:
    """A project that has the first task under a key of its own."""
    ledger.import_items(write("item\n first"), "p")
    ledger.items.alias("p", "first", "1")
    return ledger


def test_answers_under_another_key_are_not_deleted(aliased: Ledger, source: Source) -> None:
    sync(aliased, source)
    number = source.answer(2, "cem", "good")
    assert sync(aliased, source).withdrawn == 0
    source.answer(1, "cem", "good")
    assert sync(aliased, source, whole=True).withdrawn == 0
    assert [row[0] for row in standing(aliased)].count("first") == 3
    source.delete(2, number)
    assert sync(aliased, source).withdrawn == 1
    source.delete_task(1)
    assert sync(aliased, source).withdrawn == 3
    assert aliased.database.check() == []


def test_answers_stay_when_their_key_is_another_items(aliased: Ledger, source: Source) -> None:
    sync(aliased, source)
    aliased.items.unalias("p", "1")
    source.answer(2, "cem", "good")
    assert sync(aliased, source).withdrawn == 0
    assert [row[0] for row in standing(aliased)].count("first") == 2
    sync(aliased, source, whole=True)  # what is read again is where its key leads now
    assert {row[0] for row in standing(aliased)} == {"1", "2", "3"}


def test_two_tasks_may_be_one_item(aliased: Ledger, source: Source) -> None:
    aliased.items.alias("p", "first", "2")
    sync(aliased, source, repeat="revision")
    before = standing(aliased)
    source.answer(3, "cem", "good")
    source.answer(2, "cem", "good")
    sync(aliased, source)
    assert [row for row in standing(aliased) if row[1] != "cem"] == before


# -- Undo, and the ledger as it was known between -------------------------------------------------


def then(ledger: Ledger, through: int) -> list[tuple[Any, ...]]:
    """The labels that stood after a change, as they are known to have stood."""
    rows = Label.__table__
    labels = select(rows.c["item_id", "given_as", "category_id", "pass"]).order_by(*rows.c[:8])
    with (
        ledger.reading("p") as (connection, project),
        as_it_was(connection, project.id, Moment(through=through)),
    ):
        return [tuple(row) for row in connection.execute(labels)]


def now(ledger: Ledger) -> tuple[int, list[tuple[Any, ...]]]:
    """The number of the last change, and the labels that stand."""
    with ledger.reading("p") as (connection, project):
        last = select(Change.id).where(Change.project_id == project.id)
        number = connection.scalar(last.order_by(Change.id.desc()).limit(1))
    assert number is not None
    return number, then(ledger, number)


@both
@pytest.mark.parametrize("undone", [(1,), (2, 0, 1)])
def test_the_past_stays_as_it_was_after_any_undo(ledger: Ledger, undone: tuple[int, ...]) -> None:
    """Of three syncs, the second and the third each withdraw, correct and add something."""
    source, imports = Source(), []
    first = [source.answer(task, who, "good") for task in (1, 2, 3) for who in ("ann", "bob")]
    imports.append(imported(ledger, source).id)
    source.delete(1, first[0])
    source.correct(1, first[1], "bad")
    source.delete_task(3)
    second = source.answer(2, "ann", "bad")
    imports.append(imported(ledger, source).id)
    source.delete(2, second)
    source.correct(1, first[1], "good")
    source.answer(1, "ann", "bad")
    imports.append(imported(ledger, source).id)
    known = dict([now(ledger)])
    complete = standing(ledger, "p", *COLUMNS[:5])
    for number in undone:
        undo(ledger, imports[number])
        known |= dict([now(ledger)])
    if len(undone) == 3:
        assert standing(ledger) == []
    assert sync(ledger, source).imported is not None
    assert standing(ledger, "p", *COLUMNS[:5]) == complete
    for through, labels in known.items():
        assert then(ledger, through) == labels
    assert sync(ledger, source).imported is None
    assert ledger.database.check() == []


def test_a_withdrawn_answer_is_seen_before_and_comes_back_by_the_undo(ledger: Ledger) -> None:
    source = Source()
    number = source.answer(1, "ann", "good")
    source.answer(1, "bob", "good")
    sync(ledger, source)
    before, there = now(ledger)
    source.delete(1, number)
    made = imported(ledger, source)
    between, without = now(ledger)
    undo(ledger, made.id)
    after, back = now(ledger)
    assert len(standing(ledger)) == 2
    assert (then(ledger, before), then(ledger, between), back) == (there, without, there)
    assert (len(there), len(without)) == (2, 1)
    known_at = clock.iso(ledger.imports.show(made.id or 0).recorded_at)
    assert ledger.agreement("p", known_at=known_at).counts.answers == 1
    assert sync(ledger, source).withdrawn == 1
    assert (then(ledger, between), then(ledger, after)) == (without, there)


def test_an_undone_import_is_not_brought_back_by_another_undo(ledger: Ledger) -> None:
    source = Source()
    number = source.answer(1, "ann", "good")
    source.answer(2, "bob", "good")
    first = imported(ledger, source)
    source.delete(1, number)
    second = imported(ledger, source)
    with pytest.raises(Refused, match=r"from import 1\n.*; tracker sync label-studio … -p p"):
        ledger.items.alias("p", "2", "1")  # the undo gives the item its answer back
    undo(ledger, first.id)
    undo(ledger, second.id)
    assert standing(ledger) == []
    sync(ledger, source)
    assert standing(ledger) == [("2", "bob", "good")]


def test_an_answer_that_comes_back_replaces_an_older_one(ledger: Ledger, write: Write) -> None:
    source = Source()
    numbers = [source.answer(1, "ann", one) for one in ("good", "bad")]
    sync(ledger, source, repeat="revision")
    source.delete(1, numbers[1])
    made = imported(ledger, source, repeat="revision")
    assert standing(ledger) == [("1", "ann", "good")]
    undo(ledger, made.id)
    assert standing(ledger) == [("1", "ann", "bad")]
    source = Source()
    number = source.answer(1, "ann", "bad")
    sync(ledger, source, "q")
    source.delete(1, number)
    withdrawal = sync(ledger, source, "q").imported
    assert withdrawal is not None
    rows = [("item", "annotator", "category", "labeled_at"), (1, "ann", "good", clock.iso(START))]
    ledger.import_file(write(rows), "q")
    assert standing(ledger, "q") == [("1", "ann", "good")]
    undo(ledger, withdrawal.id)
    assert standing(ledger, "q") == [("1", "ann", "bad")]
    assert ledger.database.check() == []


def test_the_past_survives_a_merge_and_an_erasure(ledger: Ledger) -> None:
    source = Source()
    numbers = [source.answer(task, "ann", "good") for task in (1, 2)]
    source.answer(1, "ann@home", "bad")
    sync(ledger, source)
    source.delete(1, numbers[0])
    made = imported(ledger, source)
    ledger.annotators.merge("p", "ann", "ann@home")
    undo(ledger, made.id)
    assert len(standing(ledger)) == 2
    ledger.annotators.erase("p", "ann")
    assert standing(ledger) == []
    assert ledger.database.check() == []
