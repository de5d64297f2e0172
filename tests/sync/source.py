"""A source of tasks in memory, which is read live: what a Label Studio tells, without one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from tracker.core import clock
from tracker.ledger import Ledger
from tracker.sync.http import Progress, Pulled
from tracker.sync.run import SyncResult

MINUTE = 60_000_000
START = clock.parse_timestamp("2026-01-05T08:00:00Z")


class Source:
    """Tasks by number, each with its annotations by number; every change takes an hour."""

    tool = "label-studio"
    source = "http://labels.example/projects/1"
    asks_all = True

    def __init__(self) -> None:
        self.now = START
        self.tasks: dict[int, dict[int, dict[str, Any]]] = {}
        self.updated: dict[int, int] = {}
        self.read: list[int] = []
        self.between: Callable[[], object] = lambda: None
        self._numbers: Iterator[int] = iter(range(1, 1_000_000))

    @contextmanager
    def _update(self, task: int) -> Iterator[dict[int, dict[str, Any]]]:
        self.now += 60 * MINUTE
        yield self.tasks.setdefault(task, {})
        self.updated[task] = self.now

    def answer(self, task: int, who: str, *categories: str, **more: Any) -> int:
        """Annotate a task; returns the annotation's number. ``tone`` is what is asked."""
        number = next(self._numbers)
        with self._update(task) as annotations:
            annotations[number] = {
                "id": number, "completed_by": {"email": who},
                "created_at": clock.iso(self.now), "result": result(**{"tone": categories, **more}),
            }  # fmt: skip
        return number

    def correct(self, task: int, number: int, *categories: str) -> None:
        """Change an annotation, which keeps the time at which it was made."""
        with self._update(task) as annotations:
            annotations[number]["result"] = result(tone=categories)

    def delete(self, task: int, number: int) -> None:
        with self._update(task) as annotations:
            del annotations[number]

    def delete_task(self, task: int) -> None:
        del self.tasks[task]
        del self.updated[task]

    def text(self, since: int | None = None) -> str:
        """The tasks updated since a moment, as they are exported."""
        self.read = [task for task in self.tasks if self.updated[task] >= (since or 0)]
        return json.dumps(
            [
                {"id": task, "annotations": list(self.tasks[task].values()), "data": {}}
                for task in self.read
            ]
        )

    def pull(self, since: int | None, into: IO[str], progress: Progress) -> Pulled:
        into.write(self.text(since))
        progress(len(self.read), len(self.read))
        unread = {str(task): int(task not in self.read) for task in self.tasks}
        until = max(self.updated.values(), default=None)
        self.between()
        return Pulled(unread, until, len(self.read))


def result(**controls: tuple[str, ...]) -> list[dict[str, Any]]:
    """The regions of an annotation that chose some categories of each control."""
    return [
        {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [*some]}}
        for name, some in controls.items()
        if some
    ]


def sync(ledger: Ledger, source: Source, project: str = "p", **how: Any) -> SyncResult:
    return ledger._sync(source, project, [], **how)
