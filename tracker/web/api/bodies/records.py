"""Records: projects, questions, items, changes, imports, jobs, webhooks, formats."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tracker.web.api.bodies.body import Body, Problem, Rejection


class Project(Body):
    """A project; the settings are those of its only question, or each question has its own."""

    project: str
    created_at: str
    archived_at: str | None
    timezone: str


class Projects(Body):
    """Projects by name."""

    projects: list[Project]


class DeletedProject(Body):
    """A project that was deleted."""

    project: str
    deleted: bool


class Question(Body):
    """A question's settings."""

    question: str
    answers: str
    scale: str
    wanted: int | None
    categories_closed: bool


class Questions(Body):
    """A project's questions, in the order in which they were made."""

    project: str
    questions: list[Question]


class ItemAnnotators(Body):
    """An item, and how many annotators answered it."""

    item: str
    annotators: int


class Items(Body):
    """Items in import order."""

    project: str
    items: list[ItemAnnotators]


class Label(Body):
    """One answer to an item, standing or past."""

    annotator: str
    pass_: int = Field(alias="pass")
    category: str | None
    answer: str
    labeled_at: str | None
    state: str
    import_: int | None = Field(alias="import")


class Item(Body):
    """One item with every label it ever had."""

    project: str
    item: str
    text: str | None
    attributes: dict[str, str]
    labels: list[Label]


class Change(Body):
    """What somebody did in a project, by number where it is of a change, an import, a snapshot."""

    at: str
    by: str | None
    kind: str
    change: int | None
    import_: int | None = Field(alias="import")
    snapshot: int | None
    finding: int | None
    findings: int
    what: str


class Changes(Body):
    """What was done in a project, the last first; `next` is the cursor of the next page."""

    project: str
    changes: list[Change]
    next: str | None


class Import(Body):
    """An import as it was recorded."""

    import_: int = Field(alias="import")
    project: str
    recorded_at: str
    sources: list[dict[str, Any]]
    rows: int
    inserted: int
    changed: int
    unchanged: int
    older: int
    rejected: int
    read: dict[str, Any] | None
    left_out: dict[str, int] | None
    undone_at: str | None


class Imports(Body):
    """Imports, oldest first."""

    imports: list[Import]


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
