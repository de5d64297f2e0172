"""What Label Studio sends by its webhooks: annotations that were saved, tasks that were deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from tracker.core import clock
from tracker.core.errors import Refused
from tracker.imports.loader import ImportResult
from tracker.imports.readers.answers import field_text
from tracker.imports.readers.label_studio import NAME
from tracker.sync.run import nothing_imported
from tracker.sync.web import service_url

_SAVED = {"ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED"}
_TASKS_DELETED, _DELETED = "TASKS_DELETED", "ANNOTATIONS_DELETED"
_MEND = "in Label Studio's form for webhooks, let it send the payload"
OF = " of "
"""In the name of an event's source: between its annotation and when that was saved."""
IMPORTED, KNOWN, IGNORED, FOR_SYNC = "imported", "known", "ignored", "for_sync"
"""What may come of an event."""


@dataclass(frozen=True)
class Event:
    """An event that concerns answers.

    Attributes:
        action: what happened, in Label Studio's words.
        source: the address of the project, as a sync of it has it.
        tasks: tasks as they are exported, each with the annotations that were saved.
        deleted: the numbers of the tasks that were deleted.
        for_sync: what only a sync can find out; empty if there is no such thing.
    """

    action: str
    source: str
    tasks: tuple[dict[str, Any], ...] = ()
    deleted: tuple[str, ...] = ()
    for_sync: str = ""

    @property
    def name(self) -> str:
        """The name of the source that its import has."""
        annotations = self._annotations
        if len(annotations) != 1:
            return f"{self.source}/{'annotations' if annotations else 'tasks'}"
        (one,) = annotations
        return f"{self.source}/annotations/{one['id']}{OF}{_saved_at(one)}"

    @property
    def saved_at(self) -> int | None:
        """When the last of its annotations was saved; None if it has none."""
        times = (clock.parse_timestamp(_saved_at(one)) for one in self._annotations)
        return max(times, default=None)

    @property
    def _annotations(self) -> list[dict[str, Any]]:
        return [one for task in self.tasks for one in task["annotations"]]


def _saved_at(annotation: Mapping[str, Any]) -> str:
    return field_text(annotation.get("updated_at") or annotation["created_at"])


def event_of(told: Mapping[str, Any], url: str | None) -> Event | None:
    """Return what was sent as an event; None if it concerns no answers.

    ``url`` is where Label Studio runs. Raises Refused for an event that lacks what it should have.
    """
    action = told.get("action")
    if not isinstance(action, str):
        raise Refused("this is no event of Label Studio: it has no action")
    if action not in {*_SAVED, _TASKS_DELETED, _DELETED}:
        return None
    project = told.get("project")
    number = project.get("id") if isinstance(project, dict) else None
    if not _is_number(number):
        raise Refused(f"the event {action} does not say of which project", _MEND)
    source = f"{service_url(url) if url else NAME}/projects/{number}"
    if action == _DELETED:
        return Event(action, source, for_sync="it does not say of which tasks")
    if action == _TASKS_DELETED:
        gone = [_numbered(one, "a task") for one in _listed(told, "tasks", action)]
        return Event(action, source, deleted=tuple(field_text(one["id"]) for one in gone))
    tasks = tuple(_tasks(told, action))
    cancelled = any(
        one.get("was_cancelled") and action == "ANNOTATION_UPDATED"
        for task in tasks
        for one in task["annotations"]
    )
    return Event(action, source, tasks, for_sync="it was cancelled" if cancelled else "")


def _tasks(told: Mapping[str, Any], action: str) -> Iterator[dict[str, Any]]:
    """Yield each task with the annotations of it that are told of. Raises Refused."""
    given = told.get("task")
    listed = given if isinstance(given, list) else [] if given is None else [given]
    tasks = {one["id"]: one for one in (_numbered(task, "a task") for task in listed)}
    saved: dict[int, list[dict[str, Any]]] = {}
    for one in _listed(told, "annotation", action):
        annotation = _numbered(one, "an annotation")
        number = annotation.get("task")
        if not _is_number(number):
            raise Refused(f"annotation {annotation['id']} does not say of which task")
        for name in ("created_at", "updated_at"):
            if name == "created_at" or annotation.get(name) is not None:
                _moment(annotation, name)
        saved.setdefault(number, []).append(annotation)
    for number, some in saved.items():
        data = tasks.get(number, {}).get("data")
        yield {"id": number, "data": {} if data is None else data, "annotations": some}


def _listed(told: Mapping[str, Any], name: str, action: str) -> list[Any]:
    value = told.get(name)
    some = value if isinstance(value, list) else [value]
    if value is None or not some:
        raise Refused(f"the event {action} has no {name}", _MEND)
    return some


def _numbered(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict) or not _is_number(value.get("id")):
        raise Refused(f"{what} of the event has no id", _MEND)
    return value


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _moment(annotation: Mapping[str, Any], name: str) -> int:
    try:
        return clock.parse_timestamp(field_text(annotation.get(name)))
    except ValueError:
        raise Refused(f"{name} of annotation {annotation['id']} is no time") from None


@dataclass(frozen=True)
class EventResult:
    """What came of an event: ``imported``, ``known``, ``ignored``, or a sync must find out.

    ``imported`` is the result of the import, if there was anything to import; ``why`` says why an
    event brought nothing, or what is to be done.
    """

    project: str
    action: str
    outcome: str
    why: str = ""
    imported: ImportResult | None = None
    withdrawn: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON: that of an import, and what was sent."""
        told = nothing_imported(self.project)
        if self.imported is not None:
            told = self.imported.to_dict()
        if self.outcome != IMPORTED:
            told["import"] = None
        more = {"withdrawn": self.withdrawn, "event": self.action, "outcome": self.outcome}
        return told | more | ({"why": self.why} if self.why else {})
