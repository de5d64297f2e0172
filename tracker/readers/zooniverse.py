"""Zooniverse: the classifications of a project as CSV, a row for each, with JSON in its cells."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

from tracker.core.errors import InvalidOption, Refused
from tracker.formats import answers as tool
from tracker.formats.answers import WITHOUT_AUTHOR, Answer, Repeats, Texts, field_text, json_in
from tracker.formats.batch import GOLD
from tracker.formats.reader import Reading
from tracker.formats.source import SourceFile
from tracker.formats.streams import head_columns
from tracker.projects.names import check_entered_name

_COLUMNS = {"user_name", "annotations", "subject_ids"}
_JSON = ("annotations", "metadata", "subject_data")
_HINT = "in Zooniverse's project builder, request the classification export"


class _Task(NamedTuple):
    """What one task of a classification was answered with."""

    key: str
    label: str
    values: list[Any]
    several: bool = False


class _Classifications:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.repeats = Repeats(reading)
        self.free: set[str] = set()  # questions that are answered with free texts
        self.twice: set[str] = set()  # labels of several tasks of one classification

    def of_file(self, source: SourceFile) -> Iterator[Answer]:
        with closing(source.readings()) as readings:
            self._examine(next(readings))
            yield from tool.answers_of_rows(next(readings), self.answers, _HINT)

    def _examine(self, source: SourceFile) -> None:
        """Note which tasks have free texts, and which labels two tasks share."""
        named = {question.column for question in self.reading.mapped.questions}
        texts: defaultdict[str, Texts] = defaultdict(Texts)
        alone = replace(self.reading, left_out=Counter())

        def of_row(_line: int, cells: Mapping[str, str]) -> Iterator[Answer]:
            tasks = list(_tasks(_annotations(cells), alone))
            labels = Counter(label for _, label in {(task.key, task.label) for task in tasks})
            self.twice |= {label for label, number in labels.items() if number > 1}
            for task in tasks:
                for value in task.values:
                    texts[task.label].add(field_text(value))
            yield from ()

        deque(tool.answers_of_rows(source, of_row, _HINT), 0)
        silent = {label for label, values in texts.items() if not values.number}
        free = {label for label, values in texts.items() if not values.are_categories}
        self.free = (free | silent) - named

    def answers(self, line: int, cells: Mapping[str, str]) -> Iterator[Answer]:
        user = cells["user_name"].strip() or self.reading.annotator
        if not user:
            self.reading.leave_out(WITHOUT_AUTHOR[0])
            return
        metadata, subjects = (
            tool.object_of(json_in(cells, name) or {}, name) for name in _JSON[1:]
        )
        data = {name: cell for name, cell in cells.items() if name not in _JSON}
        for subject in subjects.values():
            data |= subject if isinstance(subject, dict) else {}
        times = [field_text(metadata.get(name)) for name in ("started_at", "finished_at")]
        number = self.repeats.number(cells["subject_ids"], user, data)
        when = cells.get("created_at", "").removesuffix(" UTC")
        empty = Answer(line, cells["subject_ids"], user, "", (), when, tool.seconds_between(*times))
        empty = empty._replace(number=number, data=data)
        for task in _tasks(_annotations(cells), self.reading):
            if task.label in self.free:
                self.reading.leave_out("free text", len(task.values))
                continue
            question = f"{task.label} ({task.key})" if task.label in self.twice else task.label
            labels = [tool.category_of(value, f"a value of {question!r}") for value in task.values]
            for answer in tool.answers_to(self.reading, empty, {question: labels}):
                if task.several:
                    self.reading.ask(question, "several")
                yield answer
                if cells.get("gold_standard", "").strip().lower() == "true":
                    yield answer._replace(annotator=GOLD, kind="reference", seconds="", number="")


def _tasks(annotations: list[Any], reading: Reading) -> Iterator[_Task]:
    """Yield the tasks of a classification that are answered with categories, also within combos.

    Drawings, and texts in them, are counted as left out, and details of what was chosen.
    """
    for value in annotations:
        task = tool.object_of(value, "an annotation")
        key, answer = field_text(task.get("task")), task.get("value")
        label = _question(field_text(task.get("task_label")), key)
        parts = answer if isinstance(answer, list) else []
        objects = [part for part in parts if isinstance(part, dict)]
        if objects and all("task" in part and "value" in part for part in objects):
            yield from _tasks(objects, reading)
        elif objects and all("select_label" in part or "option" in part for part in objects):
            for part in objects:
                name = _question(field_text(part.get("select_label")), "")
                values = [value for value in (part.get("label"), part.get("value")) if value]
                named = f"{label}: {name}" if name else label
                yield _Task(f"{key}.{name}", named, values[:1])
        elif objects and all("choice" in part for part in objects):
            reading.leave_out("detail of a choice", sum(bool(p.get("answers")) for p in objects))
            yield _Task(key, label, [part["choice"] for part in objects], several=True)
        elif objects or isinstance(answer, dict):
            reading.leave_out("drawing", len(objects) or 1)
        elif isinstance(answer, list):
            yield _Task(key, label, [part for part in parts if part is not None], several=True)
        else:
            yield _Task(key, label, [] if answer in (None, "") else [answer])


def _question(label: str, otherwise: str) -> str:
    name = " ".join(label.split())
    try:
        check_entered_name(name, "question")
    except (InvalidOption, Refused):
        return otherwise
    return name


def _annotations(cells: Mapping[str, str]) -> list[Any]:
    return tool.list_in({name: json_in(cells, name) for name in _JSON[:1]}, "annotations")


ZOONIVERSE = tool.tool_reader(
    "zooniverse",
    "Zooniverse: classification export as CSV",
    ("questions", "several", "time", "seconds", "skips", "passes", "gold", "attributes"),
    recognizes=lambda source: {*head_columns(source)} >= _COLUMNS,
    answers=lambda source, reading: _Classifications(reading).of_file(source),
)
