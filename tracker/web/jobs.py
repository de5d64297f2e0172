"""Work that takes longer than a request may: done in the background, watched, cancelled."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from tracker.core import clock
from tracker.core.errors import NotFound, TrackerError
from tracker.web.errors import Problem, problem_of

if TYPE_CHECKING:
    from tracker.imports.loader import ImportResult

_AT_ONCE = 2
_KEPT = 100  # jobs that are over, the last ones

Step = Callable[[int, int | None], None]
"""Told how much is done, and of how much; it ends a job that was cancelled."""


class Cancelled(Exception):
    """Somebody has cancelled the job."""


@dataclass(frozen=True)
class Outcome:
    """What came of a job, and the parts of the address of the page that shows it."""

    told: str
    link: tuple[str, ...]
    result: dict[str, Any] | None = None
    imported: ImportResult | None = None


class ProgressJson(TypedDict):
    """How much of a job is done, and of how much, if that is known."""

    done: int
    total: int | None


class JobJson(TypedDict):
    """Work in the background: waiting, running, done, failed or cancelled.

    `result` is what the command prints with `--json`; `problem` says why it failed.
    """

    job: int
    title: str
    project: str
    by: str
    started_at: str
    state: str
    progress: ProgressJson
    summary: str | None
    result: dict[str, Any] | None
    problem: Problem | None


@dataclass
class Job:
    """Work in the background, as `JobJson` shows it.

    ``form`` is the address of the form that began it, in parts; empty if it is gone.
    """

    number: int
    title: str
    project: str
    by: str
    started_at: str
    state: str = "waiting"
    done: int = 0
    total: int | None = None
    outcome: Outcome | None = None
    problem: Problem | None = None
    form: tuple[str, ...] = ()
    cancelled: threading.Event = field(default_factory=threading.Event, repr=False)
    future: Future[None] | None = field(default=None, repr=False)

    @property
    def over(self) -> bool:
        return self.state in {"done", "failed", "cancelled"}

    def step(self, done: int, total: int | None) -> None:
        """Keep how much is done; raises Cancelled if somebody wants no more."""
        self.done, self.total = done, total
        if self.cancelled.is_set():
            raise Cancelled

    def wait(self, seconds: float) -> None:
        if self.future is not None:
            wait_for([self.future], seconds)

    def run(self, work: Callable[[Step], Outcome]) -> None:
        try:
            self.step(0, None)
            self.state = "running"
            self.outcome = work(self.step)
            self.state = "done"
        except Cancelled:
            self.state = "cancelled"
        except Exception as error:
            self.problem, self.state = problem_of(error), "failed"
            if not isinstance(error, TrackerError):
                raise

    def to_dict(self) -> JobJson:
        came = self.outcome
        return {
            "job": self.number, "title": self.title, "project": self.project, "by": self.by,
            "started_at": self.started_at, "state": self.state,
            "progress": {"done": self.done, "total": self.total},
            "summary": None if came is None else came.told,
            "result": None if came is None else came.result, "problem": self.problem,
        }  # fmt: skip


class Jobs:
    """The jobs of a server since it was started, some at a time, the others in turn."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._jobs: dict[int, Job] = {}
        self._pool = ThreadPoolExecutor(_AT_ONCE, "tracker-job")

    def start(
        self,
        title: str,
        project: str,
        by: str,
        work: Callable[[Step], Outcome],
        *,
        form: tuple[str, ...] = (),
    ) -> Job:
        """Begin a job, and return it; ``work`` calls its argument between its parts."""
        started = clock.iso(clock.now())
        job = Job(next(self._numbers), title, project, by, started, form=form)
        self._jobs[job.number] = job
        for old in [one for one in self._jobs.values() if one.over][:-_KEPT]:
            del self._jobs[old.number]
        job.future = self._pool.submit(job.run, work)
        return job

    def get(self, number: int) -> Job:
        """Return a job; raises NotFound if there is none of that number any more."""
        found = self._jobs.get(number)
        if found is None:
            raise NotFound(f"there is no job {number}", "jobs are forgotten when the server stops")
        return found

    def list(self) -> list[Job]:
        return list(self._jobs.values())[::-1]

    def forget(self) -> None:
        for job in self.list():
            if job.over:
                del self._jobs[job.number]

    def close(self) -> None:
        for job in self._jobs.values():
            job.cancelled.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
