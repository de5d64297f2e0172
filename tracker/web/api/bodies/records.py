"""Records: annotators, categories, notes, results of imports, jobs, webhooks, formats."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from tracker.web.api.bodies.body import Body, Problem, Rejection


class Annotator(Body):
    """An annotator."""

    annotator: str
    kind: str
    aliases: list[str]
    left_on: str | None


class AnnotatorLabels(Annotator):
    """Likewise, with the number of labels that stand."""

    labels: int


class Annotators(Body):
    """A project's annotators by name."""

    project: str
    annotators: list[AnnotatorLabels]


class AnnotatorPage(Annotator):
    """One annotator's figures beside the others', findings and recorded flags."""

    project: str
    recorded: list[dict[str, Any]]


class CategoryLabels(Body):
    """A category with the number of labels that stand."""

    category: str
    labels: int


class Categories(Body):
    """A question's categories in order."""

    project: str
    closed: bool
    categories: list[CategoryLabels]


class CategoryOrder(Body):
    """A question's categories in their new order."""

    project: str
    categories: list[str]


class MergedCategory(Body):
    """A category whose answers count as another's, with how many labels that concerns."""

    project: str
    category: str
    into: str
    labels: int


class SplitCategory(Body):
    """A category that has its own answers again."""

    project: str
    category: str
    from_: str = Field(alias="from")


class RenamedCategory(Body):
    """A category's name."""

    project: str
    category: str


class Note(Body):
    """An event on the time line."""

    note: int
    at: str
    text: str


class NoteOfProject(Note):
    """Likewise, of a project."""

    project: str


class Notes(Body):
    """A project's notes in the order of their events."""

    project: str
    notes: list[Note]


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


class Webhook(Body):
    """An address that receives events, and what became of its messages."""

    webhook: int
    project: str | None
    url: str
    events: list[str]
    allow_private: bool
    created_at: str
    waiting: int
    given_up: int
    fault: str | None


class AddedWebhook(Webhook):
    """A new webhook, with the secret that signs its messages."""

    secret: str


class WebhookTest(Body):
    """Whether a message arrived; if not, `fault` says why."""

    webhook: int
    arrived: bool
    fault: str | None


class Webhooks(Body):
    """The webhooks, in the order of their making."""

    webhooks: list[Webhook]


class Format(Body):
    """A format that can be imported."""

    format: str
    title: str
    holds: list[str]


class Formats(Body):
    """The formats that can be imported."""

    formats: list[Format]
