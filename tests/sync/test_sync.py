"""Syncs, and events that are sent: what was answered, corrected and deleted, once; their undo."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import select

from tests.helpers import Write, count_statements, standing, stored, undo
from tests.profiles import both, examples
from tests.sync.source import MINUTE, START, Source, result, sync
from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.imports.loader import ImportResult
from tracker.ledger import Ledger
from tracker.storage.as_of import Moment, as_it_was
from tracker.storage.schema import Change, Label
from tracker.sync.label_studio import EventResult

COLUMNS = ("item", "annotator", "category", "pass", "labeled_at", "seconds")


@pytest.fixture
def source() -> Source:
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
    number = source.answer(4, "cem", "bad")
    sync(ledger, source)
    source.correct(4, number)
    done = sync(ledger, source)
    assert (source.read, done.withdrawn) == ([4], 0)
    assert ("4", "cem", None) in standing(ledger)


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


def _two_at_once(source: Source, number: int) -> None:
    with source._update(1) as annotations:
        annotations[99] = annotations[number] | {"id": 99, "result": result(tone=("good",))}


@pytest.mark.parametrize("spoil", [_unknown_category, _two_at_once])
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


def test_the_past_stays_as_it_was_after_any_undo(ledger: Ledger) -> None:
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
    for number in (2, 0, 1):
        undo(ledger, imports[number])
        known |= dict([now(ledger)])
    assert standing(ledger) == []
    assert sync(ledger, source).imported is not None
    assert standing(ledger, "p", *COLUMNS[:5]) == complete
    for through, labels in known.items():
        assert then(ledger, through) == labels
    assert sync(ledger, source).imported is None
    assert ledger.database.check() == []


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


UPDATED = "ANNOTATION_UPDATED"


class Server(Source):
    """A source whose annotators are numbers, and which tells of what is done in it."""

    def told(self, task: int, number: int, action: str = "ANNOTATION_CREATED") -> dict[str, Any]:
        one = self.tasks[task][number]
        saved = {"updated_at": clock.iso(self.updated[task]), "task": task, "lead_time": 2.5}
        data = {"id": task, "data": {"text": f"text {task}"}}
        return {"action": action, "annotation": one | saved, "task": data, "project": {"id": 1}}

    def text(self, since: int | None = None) -> str:
        """The tasks as they are exported, with what the events have, too."""
        for task, some in self.tasks.items():
            for number in some:
                some[number] = self.told(task, number)["annotation"]
        return super().text(since)


def take(ledger: Ledger, event: dict[str, Any], **how: Any) -> EventResult:
    how = {"url": "http://labels.example", **how}
    return ledger.take_label_studio_event(json.loads(json.dumps(event)), "p", **how)


def gone(task: int) -> dict[str, Any]:
    return {"action": "TASKS_DELETED", "tasks": [{"id": task}], "project": {"id": 1}}


@pytest.fixture
def server() -> Server:
    return Server()


def test_a_sync_knows_what_events_brought(ledger: Ledger, server: Server, write: Write) -> None:
    """With another annotation of the same person, a correction, and one that says nothing now."""
    first = server.answer(1, "ann", "good")
    assert take(ledger, server.told(1, first)).outcome == "imported"
    for task, who in ((1, "bob"), (2, "ann"), (2, "bob"), (1, "ann")):
        done = take(ledger, server.told(task, server.answer(task, who, "bad")))
        assert (done.outcome, done.imported and done.imported.inserted) == ("imported", 1)
    server.correct(1, first, "bad")
    done = take(ledger, server.told(1, first, UPDATED))
    assert (done.imported and done.imported.changed) == 1
    server.correct(1, first)
    take(ledger, server.told(1, first, UPDATED))
    before = standing(ledger, "p", *COLUMNS)
    assert [row[1:4] for row in before if row[0] == "1"] == [
        ("ann", None, 1), ("ann", "bad", 2), ("bob", "bad", 1),
    ]  # fmt: skip
    export = write(server.text().encode(), "export.json")
    ledger.import_file(export, "exported")
    assert standing(ledger, "exported", *COLUMNS) == before
    assert ledger.import_file(export, "p").unchanged == 5
    undo(ledger, max(one.id for one in ledger.imports.list("p")))
    assert sync(ledger, server).withdrawn == 0
    assert standing(ledger, "p", *COLUMNS) == before
    assert sync(ledger, server).imported is None
    assert ledger.database.check() == []


def test_an_event_sent_again_or_late_changes_nothing(sqlite_ledger: Ledger, server: Server) -> None:
    ledger = sqlite_ledger
    number = server.answer(1, "ann", "good")
    events = [server.told(1, number)]
    for category in ("bad", "good", "bad"):
        server.correct(1, number, category)
        events.append(server.told(1, number, UPDATED))
    assert take(ledger, events[2]).outcome == "imported"
    assert take(ledger, events[0]).outcome == "known"
    take(ledger, events[3])
    before = stored(ledger)
    assert [take(ledger, one).outcome for one in events] == ["known"] * 4
    assert stored(ledger) == before
    assert standing(ledger) == [("1", "ann", "bad")]
    deleted = server.answer(1, "bob", "good")
    late = server.told(1, deleted)
    server.delete(1, deleted)
    server.answer(2, "ann", "good")
    done = sync(ledger, server)
    assert take(ledger, late).outcome == "known"
    assert done.imported is not None
    undo(ledger, done.imported.id)
    assert take(ledger, late).outcome == "imported"


def test_deletions_are_withdrawn_by_event_or_next_sync(ledger: Ledger, server: Server) -> None:
    for task in (1, 2, 3):
        take(ledger, server.told(task, server.answer(task, "ann", "good")))
    sync(ledger, server)
    server.delete_task(1)
    assert take(ledger, gone(1)).withdrawn == 1
    assert take(ledger, gone(1)).outcome == "known"
    assert take(ledger, gone(1), item="key").outcome == "for_sync"
    (number,) = server.tasks[2]
    server.delete(2, number)
    deleted = {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 1}], "project": {"id": 1}}
    assert "tracker sync label-studio" in take(ledger, deleted).to_dict()["why"]
    (number,) = server.tasks[3]
    event = server.told(3, number, UPDATED)
    event["annotation"]["was_cancelled"] = True
    assert take(ledger, event).outcome == "for_sync"
    assert [row[0] for row in standing(ledger)] == ["2", "3"]
    assert sync(ledger, server).withdrawn == 1
    assert [row[0] for row in standing(ledger)] == ["3"]
    undo(ledger, 5)  # that of the deleted task, after four imports
    assert [row[0] for row in standing(ledger)] == ["1", "3"]
    assert ledger.database.check() == []


def test_events_during_a_sync_do_not_stop_it(ledger: Ledger, server: Server) -> None:
    for task in (1, 2, 3, 4):
        for who in ("ann", "bob"):
            server.answer(task, who, "good")
    sync(ledger, server)
    number = server.answer(1, "cem", "good")
    server.correct(4, next(iter(server.tasks[4])), "bad")

    def meanwhile() -> None:
        server.between = lambda: None
        server.correct(1, number, "bad")
        take(ledger, server.told(1, number, UPDATED))
        take(ledger, server.told(5, server.answer(5, "ann", "good")))
        server.delete_task(3)
        assert take(ledger, gone(3)).withdrawn == 2

    server.between = meanwhile
    done = sync(ledger, server)
    assert done.imported is not None
    assert (done.imported.changed, done.withdrawn) == (1, 0)  # that of task 4
    now = standing(ledger)
    assert ("1", "cem", "bad") in now
    assert {row[0] for row in now} == {"1", "2", "4", "5"}
    sync(ledger, server)
    assert standing(ledger) == now
    assert sync(ledger, server).imported is None
    assert ledger.database.check() == []


def test_many_annotations_are_one_import(sqlite_ledger: Ledger, server: Server) -> None:
    """As if predictions were made annotations; the last control is known of the first, too."""
    events = [server.told(1, server.answer(1, "ann", "good")),
              server.told(2, server.answer(2, "ann", topic=("cats",)))]  # fmt: skip
    event = {name: [one[name] for one in events] for name in ("annotation", "task")}
    event |= {"action": "ANNOTATIONS_CREATED", "project": {"id": 1}}
    done = take(sqlite_ledger, event)
    assert done.imported is not None
    assert done.imported.inserted == 4


def test_an_answer_that_comes_back_replaces_an_older_one(ledger: Ledger, write: Write) -> None:
    source = Source()
    number = source.answer(1, "ann", "bad")
    sync(ledger, source)
    source.delete(1, number)
    withdrawal = imported(ledger, source)
    rows = [("item", "annotator", "category", "labeled_at"), (1, "ann", "good", clock.iso(START))]
    ledger.import_file(write(rows), "p")
    undo(ledger, withdrawal.id)
    assert standing(ledger) == [("1", "ann", "bad")]
    assert ledger.database.check() == []


def test_other_events_are_ignored_or_refused(sqlite_ledger: Ledger, server: Server) -> None:
    cancelled = server.told(1, server.answer(1, "ann", "good"))
    cancelled["annotation"]["was_cancelled"] = True
    others = [{"action": one} for one in ("PROJECT_UPDATED", "TASKS_CREATED", "LABEL_LINK_CREATED")]
    for event in (*others, cancelled):
        assert take(sqlite_ledger, event).to_dict()["outcome"] == "ignored"
    broken = result(tone=("x",))
    broken[0]["value"] = 5
    event = server.told(1, server.answer(1, "ann", "good"))
    event["annotation"]["result"] = broken
    timeless = {"id": 1, "created_at": "2026-01-05T08:00Z"}
    for change, problem in (
        ({"annotation": None}, "has no annotation"), ({"project": None}, "of which project"),
        ({"annotation": timeless}, "of which task"), ({"annotation": [{}]}, "has no id"),
        ({"annotation": {"id": 1, "task": 1}}, "is no time"), ({"action": 1}, "no action"),
        ({"task": {"data": {}}}, "has no id"), ({"project": {"id": 1}}, "has no value"),
    ):  # fmt: skip
        with pytest.raises(Refused, match=problem):
            take(sqlite_ledger, {**event, **change})
    with pytest.raises(InvalidOption, match="no URL"):
        take(sqlite_ledger, event, url="labels")
    assert sqlite_ledger.is_missing or sqlite_ledger.projects.list() == []
