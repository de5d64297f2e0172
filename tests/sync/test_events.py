"""What Label Studio's webhooks send is taken in as its exports and syncs are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import standing, stored, undo
from tests.profiles import both
from tests.sync.source import Source, result, sync
from tracker.core import clock
from tracker.core.errors import InvalidOption, Refused
from tracker.ledger import Ledger
from tracker.sync.label_studio import EventResult

Write = Callable[..., Path]
COLUMNS = ("item", "annotator", "category", "pass", "labeled_at", "seconds")
URL = "http://labels.example"


class Server(Source):
    """A source whose annotators are numbers, and which tells of what is done in it."""

    def told(self, task: int, number: int, action: str = "ANNOTATION_CREATED") -> dict[str, Any]:
        """The event of an annotation as it is now."""
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
    return ledger.take_label_studio_event(json.loads(json.dumps(event)), "p", url=URL, **how)


@pytest.fixture
def server() -> Server:
    return Server()


def test_what_events_brought_a_sync_and_an_export_know(
    ledger: Ledger, server: Server, write: Write
) -> None:
    """With another annotation of the same person, a correction, and one that says nothing now."""
    first = server.answer(1, "ann", "good")
    assert take(ledger, server.told(1, first)).outcome == "imported"
    for task, who in ((1, "bob"), (2, "ann"), (2, "bob"), (1, "ann")):
        done = take(ledger, server.told(task, server.answer(task, who, "bad")))
        assert (done.outcome, done.imported and done.imported.inserted) == ("imported", 1)
    server.correct(1, first, "bad")
    done = take(ledger, server.told(1, first, "ANNOTATION_UPDATED"))
    assert (done.imported and done.imported.changed) == 1
    server.correct(1, first)
    take(ledger, server.told(1, first, "ANNOTATION_UPDATED"))
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
    number = server.answer(1, "ann", "good")
    events = [server.told(1, number)]
    for category in ("bad", "good", "bad"):
        server.correct(1, number, category)
        events.append(server.told(1, number, "ANNOTATION_UPDATED"))
    assert take(sqlite_ledger, events[2]).outcome == "imported"
    for late in events[:3]:
        assert take(sqlite_ledger, late).outcome == "known"
    assert standing(sqlite_ledger) == [("1", "ann", "good")]
    take(sqlite_ledger, events[3])
    before = stored(sqlite_ledger)
    assert [take(sqlite_ledger, one).outcome for one in events] == ["known"] * 4
    assert stored(sqlite_ledger) == before
    assert standing(sqlite_ledger) == [("1", "ann", "bad")]


def test_an_event_that_is_older_than_what_a_sync_read_changes_nothing(
    sqlite_ledger: Ledger, server: Server
) -> None:
    corrected, deleted = server.answer(1, "ann", "good"), server.answer(1, "bob", "good")
    late = [server.told(1, corrected), server.told(1, deleted)]
    server.correct(1, corrected, "bad")
    server.delete(1, deleted)
    server.answer(2, "ann", "good")
    done = sync(sqlite_ledger, server)
    before = stored(sqlite_ledger)
    assert [take(sqlite_ledger, one).outcome for one in late] == ["known"] * 2
    assert stored(sqlite_ledger) == before
    assert done.imported is not None
    undo(sqlite_ledger, done.imported.id)
    assert take(sqlite_ledger, late[0]).outcome == "imported"


def test_what_was_deleted_is_withdrawn_by_the_event_or_by_the_next_sync(
    ledger: Ledger, server: Server
) -> None:
    for task in (1, 2, 3):
        take(ledger, server.told(task, server.answer(task, "ann", "good")))
    sync(ledger, server)
    server.delete_task(1)
    gone = {"action": "TASKS_DELETED", "tasks": [{"id": 1}], "project": {"id": 1}}
    assert take(ledger, gone).withdrawn == 1
    assert take(ledger, gone).outcome == "known"
    assert take(ledger, gone, item="key").outcome == "for_sync"
    (number,) = server.tasks[2]
    server.delete(2, number)
    told = {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 1}], "project": {"id": 1}}
    assert "tracker sync label-studio" in take(ledger, told).to_dict()["why"]
    (number,) = server.tasks[3]
    event = server.told(3, number, "ANNOTATION_UPDATED")
    event["annotation"]["was_cancelled"] = True
    assert take(ledger, event).outcome == "for_sync"
    assert [row[0] for row in standing(ledger)] == ["2", "3"]
    assert sync(ledger, server).withdrawn == 1
    assert [row[0] for row in standing(ledger)] == ["3"]
    undo(ledger, 5)  # that of the deleted task, after four imports
    assert [row[0] for row in standing(ledger)] == ["1", "3"]
    assert ledger.database.check() == []


@both
def test_events_in_between_hold_up_no_sync_and_hold_against_it(
    ledger: Ledger, server: Server
) -> None:
    for task in (1, 2, 3, 4):
        for who in ("ann", "bob"):
            server.answer(task, who, "good")
    sync(ledger, server)
    number = server.answer(1, "cem", "good")
    server.correct(4, next(iter(server.tasks[4])), "bad")

    def meanwhile() -> None:
        server.between = lambda: None
        server.correct(1, number, "bad")
        take(ledger, server.told(1, number, "ANNOTATION_UPDATED"))
        take(ledger, server.told(5, server.answer(5, "ann", "good")))
        server.delete_task(3)
        gone = {"action": "TASKS_DELETED", "tasks": [{"id": 3}], "project": {"id": 1}}
        assert take(ledger, gone).withdrawn == 2

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
    told = [server.told(1, server.answer(1, "ann", "good"))]
    told += [server.told(2, server.answer(2, "ann", topic=("cats",)))]
    event = {
        "action": "ANNOTATIONS_CREATED", "project": {"id": 1},
        "annotation": [one["annotation"] for one in told], "task": [one["task"] for one in told],
    }  # fmt: skip
    done = take(sqlite_ledger, event)
    assert done.imported is not None
    assert done.imported.inserted == 4
    assert take(sqlite_ledger, event).outcome == "known"
    assert sqlite_ledger.items.show("p", "1").text == "text 1"


def test_other_events_are_ignored(sqlite_ledger: Ledger) -> None:
    events: list[dict[str, Any]] = [
        {"action": one} for one in ("PROJECT_UPDATED", "TASKS_CREATED", "LABEL_LINK_CREATED")
    ]
    server = Server()
    events.append(server.told(1, server.answer(1, "ann", "good")))
    events[-1]["annotation"]["was_cancelled"] = True
    for event in events:
        assert take(sqlite_ledger, event).to_dict()["outcome"] == "ignored"
    assert sqlite_ledger.is_missing or sqlite_ledger.projects.list() == []


LACKING: list[tuple[dict[str, Any], str]] = [
    ({"annotation": None}, "has no annotation"),
    ({"project": None}, "of which project"),
    ({"annotation": {"id": 1, "created_at": "2026-01-05T08:00Z"}}, "of which task"),
    ({"annotation": {"id": 1, "task": 1}}, "is no time"),
    ({"annotation": [{}]}, "has no id"),
    ({"task": {"data": {}}}, "has no id"),
    ({"action": 1}, "no action"),
    ({"project": {"id": 1}}, "has no value"),  # what was marked
]


def test_what_lacks_something_is_refused_and_nothing_stored(
    sqlite_ledger: Ledger, server: Server
) -> None:
    broken = result(tone=("x",))
    broken[0]["value"] = 5
    event = server.told(1, server.answer(1, "ann", "good"))
    event["annotation"]["result"] = broken
    for change, said in LACKING:
        with pytest.raises(Refused, match=said):
            take(sqlite_ledger, {**event, **change})
    with pytest.raises(InvalidOption, match="no URL"):
        sqlite_ledger.take_label_studio_event(event, "p", url="labels")
    assert sqlite_ledger.is_missing or sqlite_ledger.projects.list() == []
