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
UPDATED = "ANNOTATION_UPDATED"


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
    for late in events[:3]:
        assert take(ledger, late).outcome == "known"
    assert standing(ledger) == [("1", "ann", "good")]
    take(ledger, events[3])
    before = stored(ledger)
    assert [take(ledger, one).outcome for one in events] == ["known"] * 4
    assert stored(ledger) == before
    assert standing(ledger) == [("1", "ann", "bad")]
    deleted = server.answer(1, "bob", "good")
    late_events = [server.told(1, number), server.told(1, deleted)]
    server.correct(1, number, "good")
    server.delete(1, deleted)
    server.answer(2, "ann", "good")
    done = sync(ledger, server)
    before = stored(ledger)
    assert [take(ledger, one).outcome for one in late_events] == ["known"] * 2
    assert stored(ledger) == before
    assert done.imported is not None
    undo(ledger, done.imported.id)
    assert take(ledger, late_events[1]).outcome == "imported"


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


@both
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
    assert take(sqlite_ledger, event).outcome == "known"
    assert sqlite_ledger.items.show("p", "1").text == "text 1"


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
