"""Label Studio's tasks by its interface: those updated since a moment, and which there are."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeGuard, cast

from sqlalchemy import (
    Connection,
    Select,
    Table,
    bindparam,
    false,
    select,
    union_all,
    update,
)

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.formats.answers import field_at, field_text
from tracker.formats.source import SourceFile
from tracker.imports.loader import ImportResult
from tracker.imports.withdrawal import Absences
from tracker.projects.questions import QuestionOptions
from tracker.readers.label_studio import NAME
from tracker.storage.schema import Annotator, Import, Label, PastLabel, Source, Sync
from tracker.storage.schema.labels import question_numbers
from tracker.sync.http import Progress, Pulled, Service, service_url
from tracker.sync.run import (
    OVERLAP,
    UNREAD,
    NothingNew,
    asked_of_json,
    brought_news,
    import_as_json,
    known_of_source,
    questions_of_file,
    record_sync,
    syncs_of_source,
)

if TYPE_CHECKING:
    import requests


_LISTED, _READ = 1000, 100  # tasks a page: of their numbers, and whole
TOKEN = "LABEL_STUDIO_API_KEY"  # noqa: S105 - the name of the variable that holds it


class LabelStudio:
    """A project of a Label Studio, as the token's owner sees it."""

    tool = NAME
    asks_all = True

    def __init__(self, url: str, number: int, token: str, item: str | None = None) -> None:
        """``item`` is the field of a task's data that is its key; else its number is."""
        if not token.strip():
            raise InvalidOption(
                "there is no token for Label Studio",
                f"copy yours from Account & Settings: export {TOKEN}=…",
            )
        if not (token.strip().isascii() and token.strip().isprintable()):
            raise InvalidOption(f"what {TOKEN} holds is no token of Label Studio")
        self.source = f"{service_url(url)}/projects/{number}"
        self._number = number
        self._item = item
        self._token = token.strip()
        self._service = Service(service_url(url), "Label Studio")

    def pull(self, since: int | None, into: IO[str], progress: Progress) -> Pulled:
        """Write the tasks updated since a moment as Label Studio exports them."""
        self._log_in()
        begun = self._service.answered_at(self._check_project())
        pulled = Pulled()
        fields = "id,updated_at" + (",data" if self._item else "")
        for task in self._tasks({"include": fields}, _LISTED):
            key = self._key(task)
            pulled.unread[key] = pulled.unread.get(key, 0) + 1
            updated = self._service.moment(field_text(task["updated_at"]))
            pulled.until = max(pulled.until or 0, updated)
        # What is updated after this began is read the next time, though it was listed, perhaps:
        # its events may have been taken meanwhile, and hold against what is read here.
        if begun is not None and pulled.until is not None:
            pulled.until = min(pulled.until, begun)
        if since is not None and since > (pulled.until or 0):
            since = None  # an older backup of it runs there now
        wholes = {"fields": "all", "resolve_uri": "false"}
        for task in self._tasks(wholes, _READ, since, progress):
            key = self._key(task)
            pulled.unread[key] = pulled.unread.get(key, 1) - 1
            pulled.write(into, task)
        pulled.end(into)
        return pulled

    def _key(self, task: Mapping[str, Any]) -> str:
        data = task.get("data")
        if self._item is None or not isinstance(data, dict):
            return field_text(task["id"])
        return field_text(field_at(data, self._item)).strip()

    def _tasks(
        self,
        fields: Mapping[str, str],
        at_once: int,
        since: int | None = None,
        progress: Progress = lambda *_: None,
    ) -> Iterator[dict[str, Any]]:
        """Yield tasks in the order of their numbers, which lets no page depend on another."""
        last, number, total = 0, 0, None
        while True:
            filters = [_filter("id", "Number", last)]
            if since is not None:
                filters.append(_filter("updated_at", "Datetime", clock.iso(since - 1)))
            query = {"filters": {"conjunction": "and", "items": filters}, "ordering": ["tasks:id"]}
            page = self._get(
                "api/tasks",
                {
                    "project": self._number, "page_size": at_once, "query": json.dumps(query),
                    **fields,
                },
            )  # fmt: skip
            tasks = page.get("tasks") if isinstance(page, dict) else None
            if not isinstance(tasks, list) or not all(map(_is_task, tasks)):
                raise self._service.other()
            yield from tasks
            number += len(tasks)
            total = page.get("total") if total is None else total
            progress(number, total)
            if len(tasks) < at_once:
                return
            if tasks[-1]["id"] <= last:
                raise self._service.other()
            last = tasks[-1]["id"]

    def _get(self, path: str, query: Mapping[str, str | int] | None = None) -> Any:
        response = self._service.ask(path, query)
        if response.status_code == 401:
            self._log_in()  # an access token ends after some minutes
            response = self._service.ask(path, query)
        self._check_rights(response)
        return self._service.json(response)

    def _log_in(self) -> None:
        """Present the token; a personal access token is exchanged for one of some minutes."""
        if self._token.count(".") != 2:
            self._service.headers["Authorization"] = f"Token {self._token}"
            return
        self._service.headers.clear()
        response = self._service.ask("api/token/refresh", post={"refresh": self._token})
        self._check_rights(response)
        answer = self._service.json(response)
        access = answer.get("access") if isinstance(answer, dict) else None
        if not isinstance(access, str):
            raise self._service.other()
        self._service.headers["Authorization"] = f"Bearer {access}"

    def _check_rights(self, response: requests.Response) -> None:
        if response.status_code in {401, 403}:
            raise Refused(
                f"{self._service.url} does not accept the token in {TOKEN}",
                "copy yours from Account & Settings; it may have ended, or not be for this project",
            )

    def _check_project(self) -> requests.Response:
        """Return the answer about the project.

        Raises NotFound if there is no such project, Refused if there is no Label Studio.
        """
        response = self._service.ask(f"api/projects/{self._number}")
        self._check_rights(response)
        if response.status_code == 404:
            if "release" not in (self._service.json(self._service.ask("api/version")) or ()):
                raise self._service.other()
            raise NotFound(
                f"there is no project {self._number} in {self._service.url}",
                "its number is in the address of its page: …/projects/NUMBER/data",
            )
        project = self._service.json(response)
        if not isinstance(project, dict) or "label_config" not in project:
            raise self._service.other()
        return response


def _filter(field: str, kind: str, value: str | int) -> dict[str, str | int]:
    return {"filter": f"filter:tasks:{field}", "operator": "greater", "type": kind, "value": value}


def _is_task(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("id"), int) and "updated_at" in value


# -- What Label Studio sends by its webhooks: annotations that were saved, tasks that were deleted


_SAVED = {"ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED"}
_TASKS_DELETED, _DELETED = "TASKS_DELETED", "ANNOTATIONS_DELETED"
_MEND = "in Label Studio's form for webhooks, let it send the payload"
OF = " of "
"""In the name of an event's source: between its annotation and when that was saved."""
IMPORTED, KNOWN, IGNORED, FOR_SYNC = "imported", "known", "ignored", "for_sync"
"""What may come of an event."""


@dataclass(frozen=True)
class Event:
    """An event that concerns answers."""

    action: str  # what happened, in Label Studio's words
    source: str  # the address of the project, as a sync of it has it
    tasks: tuple[dict[str, Any], ...] = ()
    """Tasks as they are exported, each with the annotations that were saved."""
    deleted: tuple[str, ...] = ()  # the numbers of the tasks that were deleted
    for_sync: str = ""  # what only a sync can find out

    @property
    def name(self) -> str:
        annotations = self._annotations
        if len(annotations) != 1:
            return f"{self.source}/{'annotations' if annotations else 'tasks'}"
        (annotation,) = annotations
        return f"{self.source}/annotations/{annotation['id']}{OF}{_saved_at(annotation)}"

    @property
    def saved_at(self) -> int | None:
        """When the last of its annotations was saved; None if it has none."""
        times = (clock.parse_timestamp(_saved_at(annotation)) for annotation in self._annotations)
        return max(times, default=None)

    @property
    def _annotations(self) -> list[dict[str, Any]]:
        return [annotation for task in self.tasks for annotation in task["annotations"]]


def _saved_at(annotation: Mapping[str, Any]) -> str:
    return field_text(annotation.get("updated_at") or annotation["created_at"])


def event_of(payload: Mapping[str, Any], url: str | None) -> Event | None:
    """Return what was sent as an event; None if it concerns no answers.

    ``url`` is where Label Studio runs. Raises Refused for an event that lacks what it should have.
    """
    action = payload.get("action")
    if not isinstance(action, str):
        raise Refused("this is no event of Label Studio: it has no action")
    if action not in {*_SAVED, _TASKS_DELETED, _DELETED}:
        return None
    project = payload.get("project")
    number = project.get("id") if isinstance(project, dict) else None
    if not _is_number(number):
        raise Refused(f"the event {action} does not say of which project", _MEND)
    source = f"{service_url(url) if url else NAME}/projects/{number}"
    if action == _DELETED:
        return Event(action, source, for_sync="it does not say of which tasks")
    if action == _TASKS_DELETED:
        tasks = [_numbered(task, "a task") for task in _listed(payload, "tasks", action)]
        return Event(action, source, deleted=tuple(field_text(task["id"]) for task in tasks))
    saved = tuple(_tasks(payload, action))
    cancelled = action == "ANNOTATION_UPDATED" and any(
        annotation.get("was_cancelled") for task in saved for annotation in task["annotations"]
    )
    return Event(action, source, saved, for_sync="it was cancelled" if cancelled else "")


def _tasks(payload: Mapping[str, Any], action: str) -> Iterator[dict[str, Any]]:
    """Yield each task of an event with its annotations. Raises Refused."""
    value = payload.get("task")
    listed = value if isinstance(value, list) else [] if value is None else [value]
    tasks = {task["id"]: task for task in (_numbered(member, "a task") for member in listed)}
    saved: dict[int, list[dict[str, Any]]] = {}
    for member in _listed(payload, "annotation", action):
        annotation = _numbered(member, "an annotation")
        number = annotation.get("task")
        if not _is_number(number):
            raise Refused(f"annotation {annotation['id']} does not say of which task")
        _check_moment(annotation, "created_at")
        if annotation.get("updated_at") is not None:
            _check_moment(annotation, "updated_at")
        saved.setdefault(number, []).append(annotation)
    for number, of_task in saved.items():
        data = tasks.get(number, {}).get("data")
        yield {"id": number, "data": {} if data is None else data, "annotations": of_task}


def _listed(payload: Mapping[str, Any], name: str, action: str) -> list[Any]:
    value = payload.get(name)
    values = value if isinstance(value, list) else [value]
    if value is None or not values:
        raise Refused(f"the event {action} has no {name}", _MEND)
    return values


def _numbered(value: Any, part: str) -> dict[str, Any]:
    if not isinstance(value, dict) or not _is_number(value.get("id")):
        raise Refused(f"{part} of the event has no id", _MEND)
    return value


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_moment(annotation: Mapping[str, Any], name: str) -> None:
    try:
        clock.parse_timestamp(field_text(annotation.get(name)))
    except ValueError:
        raise Refused(f"{name} of annotation {annotation['id']} is no time") from None


@dataclass(frozen=True)
class EventResult:
    """What came of an event: ``imported``, ``known``, ``ignored``, or a sync must find out."""

    project: str
    action: str
    outcome: str
    why: str = ""  # why an event brought nothing, or what is to be done
    imported: ImportResult | None = None  # if there was anything to import
    withdrawn: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON: that of an import, and what was sent."""
        payload = import_as_json(self.project, self.imported)
        if self.outcome != IMPORTED:
            payload["import"] = None
        more = {"withdrawn": self.withdrawn, "event": self.action, "outcome": self.outcome}
        return payload | more | ({"why": self.why} if self.why else {})


# -- An event of Label Studio's on its way into the ledger ----------------------------------------


_syncs = Sync.__table__


class _Known(NamedTuple):
    """A record of an annotator's answers to an item."""

    item: int
    annotator: int
    pass_: int
    labeled_at: int
    change: int


@dataclass
class _EventAbsences(Absences):
    name: str = ""
    are_revisions: bool = False

    def withdraw(
        self, connection: Connection, incoming: Table, project_id: int, change: int
    ) -> Select[int, int]:
        """Withdraw as a sync does; an event that takes nothing back reads no label."""
        if self.listed:
            return super().withdraw(connection, incoming, project_id, change)
        nothing = select(incoming.c.question_id, incoming.c.item_id).where(false())
        return cast("Select[int, int]", nothing)

    def number_passes(self, connection: Connection, incoming: Table, project_id: int) -> None:
        """Number the passes after those that are known; raises NothingNew if all is out of date."""
        known = _known_records(connection, incoming, project_id)
        if any(_saved_later(connection, project_id, self.name, known)):
            raise NothingNew
        if known and not self.are_revisions:
            _renumber(connection, incoming, project_id, known)


def _known_records(connection: Connection, incoming: Table, project_id: int) -> list[_Known]:
    """Return the records that hold of those who answered the same items now."""
    statements = []
    for table in (Label.__table__.c, PastLabel.__table__.c):
        statement = (
            select(
                table.item_id, table.annotator_id, table["pass"], table.labeled_at, table.change_id
            )
            .join(
                incoming,
                (incoming.c.item_id == table.item_id)
                & (incoming.c.annotator_id == table.annotator_id),
            )
            .where(
                table.project_id == project_id,
                table.question_id.in_(question_numbers(project_id)),
                table.item_id.in_(select(incoming.c.item_id)),
            )
        )
        if "taken_back_by" in table:
            statement = statement.where(table.taken_back_by.is_(None))
        statements.append(statement)
    rows = connection.execute(select(union_all(*statements).subquery()).distinct())
    return [_Known(*row) for row in rows]


def _saved_later(
    connection: Connection, project_id: int, name: str, known: Iterable[_Known]
) -> Iterator[bool]:
    """Yield for each event of the same annotation whether it was saved later than this one."""
    address, of, saved_at = name.rpartition(OF)
    if not of:
        return
    statement = (
        select(Source.name)
        .join(Import, Import.id == Source.import_id)
        .where(
            Import.project_id == project_id,
            Import.change_id.in_({record.change for record in known}),
            Import.undone_by.is_(None),
        )
    )
    for other in connection.scalars(statement):
        annotation, _, moment = other.rpartition(OF)
        if annotation == address:
            yield clock.parse_timestamp(moment) > clock.parse_timestamp(saved_at)


def _renumber(
    connection: Connection, incoming: Table, project_id: int, known: Iterable[_Known]
) -> None:
    """Give each annotation the pass that it has, or the next one of its annotator on the item."""
    passes: dict[tuple[int, int], dict[int, int]] = {}
    for record in sorted(known, key=lambda record: -record.pass_):
        of_pair = passes.setdefault((record.item, record.annotator), {})
        of_pair[record.labeled_at] = record.pass_
    rows = incoming.c
    people = select(Annotator.id).where(
        Annotator.project_id == project_id, Annotator.kind != "reference"
    )
    staged = (
        select(rows.item_id, rows.annotator_id, rows.labeled_at)
        .where(rows.annotator_id.in_(people))
        .distinct()
        .order_by(rows.labeled_at)
    )
    numbers = []
    for item, annotator, moment in connection.execute(staged).all():
        pair = passes.get((item, annotator))
        if pair is not None:
            number = pair.setdefault(moment, max(pair.values()) + 1)
            numbers.append({"of": item, "by": annotator, "at": moment, "number": number})
    if numbers:
        connection.execute(
            update(incoming)
            .where(
                rows.item_id == bindparam("of"),
                rows.annotator_id == bindparam("by"),
                rows.labeled_at == bindparam("at"),
            )
            .values({"pass": bindparam("number")}),
            numbers,
        )


@dataclass
class EventRun:
    """An event on its way into the ledger."""

    event: Event
    by_number: bool = True  # whether items are known by the numbers of tasks
    repeat: str | None = None  # what a second annotation is: ``revision`` or ``pass``
    absences: Absences | None = None  # what it says of answers that are known
    result: ImportResult | None = None  # what became of it, also if that is not kept
    file: SourceFile = field(init=False)
    tool = NAME

    def __post_init__(self) -> None:
        text = io.BytesIO(json.dumps(self.event.tasks).encode())
        self.file = SourceFile(self.event.name, text, name=self.event.name)

    def begin(self, connection: Connection, project_id: int) -> Absences:
        """Return what the source has no longer, as far as the event tells.

        Raises NothingNew for an event that is older than what a sync has read.
        """
        read = known_of_source(connection, project_id, NAME, self.event.source).until
        saved_at = self.event.saved_at
        if read is not None and saved_at is not None and saved_at < read - OVERLAP:
            raise NothingNew
        of_source = syncs_of_source(project_id, NAME, self.event.source)
        asked: dict[str, QuestionOptions] = {}
        for text in connection.scalars(select(_syncs.c.asked).where(of_source)):
            asked |= asked_of_json(text)
        self.absences = _EventAbsences(
            select(_syncs.c.change_id).where(of_source),
            dict.fromkeys(self.event.deleted if self.by_number else (), True),
            asked,
            alone=True,
            name=self.event.name,
            are_revisions=self.repeat == "revision",
        )
        return self.absences

    def end(self, connection: Connection, project_id: int, result: ImportResult) -> None:
        """Record that the source said so; raises NothingNew if all was known."""
        self.result = result
        change = connection.scalar(select(Import.change_id).where(Import.id == result.id))
        assert self.absences is not None
        news = self.absences.any_record or result.inserted or result.changed
        if not news and not brought_news(connection, project_id, change):
            raise NothingNew
        record_sync(
            connection, project_id, change, (NAME, self.event.source),
            since=UNREAD, until=UNREAD, asked=questions_of_file(self.file),
        )  # fmt: skip
