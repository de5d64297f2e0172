"""Assigned items as what people answer in: rows, or the tasks of another program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Select, select

from tracker.core import clock
from tracker.export.writers import Document, encoded, json_list
from tracker.projects.annotators import annotator_names, find_annotators
from tracker.projects.projects import ProjectInfo
from tracker.storage.schema import Item, ItemAttribute
from tracker.storage.schema.work import REPEAT
from tracker.work.assignments_sql import UNDONE, Choice, items_of, select_assignments
from tracker.work.choosing import PROGRAMS

COLUMNS: Final = ("item", "annotator", "order", "text")
"""Of assigned items as rows; why an item is assigned is not told."""


class Task(NamedTuple):
    """An item that somebody is to answer, with what is known of it."""

    item: str
    annotator: str
    order: int
    text: str | None
    attributes: Mapping[str, str]
    is_repeated: bool

    @property
    def row(self) -> tuple[Any, ...]:
        return self.item, self.annotator, self.order, self.text

    @property
    def data(self) -> dict[str, Any]:
        text = {} if self.text is None else {"text": self.text}
        return {**self.attributes, **text, "item": self.item}


def assigned_tasks(
    connection: Connection,
    project: ProjectInfo,
    annotators: Sequence[str] = (),
    batch: int | None = None,
) -> list[Task]:
    """Return what is still to be answered, by annotator, in the order of the assignments.

    Raises NotFound for somebody unknown.
    """
    people = {person.id for person in find_annotators(connection, project, annotators)}
    choice = Choice(people if annotators else None, UNDONE, batch)
    rows = select_assignments(connection, project.id, choice, clock.now())
    names = annotator_names(connection, project)
    items = items_of(project.id, choice)
    texts = _texts(connection, project, items)
    attributes = _attributes(connection, project, items)
    orders: defaultdict[int, int] = defaultdict(int)
    tasks = []
    for row in rows:
        orders[row.annotator] += 1
        order, text = orders[row.annotator], texts.get(row.item_id)
        facts, is_repeated = attributes.get(row.item_id, {}), row.why == REPEAT
        tasks.append(Task(row.item, names[row.annotator], order, text, facts, is_repeated))
    return sorted(tasks, key=lambda task: (task.annotator, task.order))


def _texts(connection: Connection, project: ProjectInfo, items: Select[Any]) -> dict[int, str]:
    table = Item.__table__
    statement = select(table.c.id, table.c.text).where(
        table.c.project_id == project.id, table.c.id.in_(items), table.c.text.is_not(None)
    )
    return dict(connection.execute(statement).all())


def _attributes(
    connection: Connection, project: ProjectInfo, items: Select[Any]
) -> dict[int, dict[str, str]]:
    table = ItemAttribute.__table__
    attributes: defaultdict[int, dict[str, str]] = defaultdict(dict)
    statement = select(table.c.item_id, table.c.name, table.c.value).where(
        table.c.project_id == project.id, table.c.item_id.in_(items)
    )
    for item, name, value in connection.execute(statement):
        attributes[item][name] = value
    return attributes


# -- As the tasks of another program --------------------------------------------------------------


def _label_studio(tasks: Sequence[Task], _: Document) -> Iterator[dict[str, Any]]:
    for task in tasks:
        yield {"data": {**task.data, "annotator": task.annotator, "order": task.order}}


def _doccano(tasks: Sequence[Task], _: Document) -> Iterator[dict[str, Any]]:
    for task in tasks:
        known = {"annotator": task.annotator, "order": task.order}
        yield {"text": task.text or task.item, "label": [], **task.data, **known}


def _by_item(tasks: Sequence[Task], document: Document) -> Iterator[tuple[Task, list[str]]]:
    people: dict[str, list[str]] = {}
    first: dict[str, Task] = {}
    for task in sorted(tasks, key=lambda task: task.order):
        if task.is_repeated:
            document.left_out["an item asked again: the program asks each once"] += 1
            continue
        first.setdefault(task.item, task)
        people.setdefault(task.item, []).append(task.annotator)
    for item, task in first.items():
        yield task, people[item]


def _argilla(tasks: Sequence[Task], document: Document) -> Iterator[dict[str, Any]]:
    for task, people in _by_item(tasks, document):
        fields = {"text": task.text or task.item}
        metadata = {**task.attributes, "annotators": people}
        yield {"id": task.item, "fields": fields, "metadata": metadata}


def _prodigy(tasks: Sequence[Task], document: Document) -> Iterator[dict[str, Any]]:
    for task, people in _by_item(tasks, document):
        yield {"text": task.text or task.item, **task.data, "sessions": people}


_TASKS: Final[Mapping[str, Callable[[Sequence[Task], Document], Iterator[dict[str, Any]]]]] = {
    "label-studio": _label_studio,
    "doccano": _doccano,
    "argilla": _argilla,
    "prodigy": _prodigy,
}


def task_document(tasks: Sequence[Task], program: str) -> Document:
    document = Document("task")
    texts = document.counted(map(encoded, _TASKS[program](tasks, document)))
    is_list = PROGRAMS[program] == ".json"
    document.parts = json_list(texts) if is_list else (f"{text}\n" for text in texts)
    return document
