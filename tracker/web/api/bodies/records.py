"""Records: results of imports, jobs, formats."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tracker.web.api.bodies.body import Body, Problem, Rejection


class ImportResult(Body):
    """What an import did, or would do."""

    import_: int | None = Field(alias="import")
    project: str
    rows: int
    inserted: int
    changed: int
    unchanged: int
    older: int
    rejected: int
    rejections: list[Rejection]
    read: dict[str, Any] = Field(default_factory=dict)
    left_out: dict[str, int] = Field(default_factory=dict)


class AnnotatorImport(ImportResult):
    """What an import of annotators did: how many were named, and their attributes."""

    annotators: int
    attributes: list[str]


class EventResult(ImportResult):
    """What came of an event that another program sent."""

    event: str
    outcome: str
    withdrawn: int


class Progress(Body):
    """How much of a job is done, and of how much, if that is known."""

    done: int
    total: int | None


class Job(Body):
    """Work in the background: waiting, running, done, failed or cancelled.

    `result` is what the command prints with `--json`; `problem` says why it failed.
    """

    job: int
    title: str
    project: str
    by: str
    started_at: str
    state: str
    progress: Progress
    summary: str | None
    result: dict[str, Any] | None
    problem: Problem | None


class Jobs(Body):
    """The jobs of this server since it was started, the last one first."""

    jobs: list[Job]


class SyncBegun(Job):
    """A sync that goes on in the background."""

    experiment: str


class Format(Body):
    """A format that can be imported."""

    format: str
    title: str
    holds: list[str]


class Formats(Body):
    """The formats that can be imported."""

    formats: list[Format]
