"""What the description of the interface says of bodies that are not made from results."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field


class Body(BaseModel):
    """An object of JSON; there may be further fields."""

    model_config = ConfigDict(extra="allow")


class Rejection(Body):
    """A row that cannot be imported, and why."""

    source: str
    line: int | None
    reason: str


class Problem(Body):
    """What is wrong, and what to do about it (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    mend: str | None = None
    exit_code: int | None = None
    rejections: list[Rejection] | None = None
    parameters: list[dict[str, Any]] | None = None


# -- Records: results of imports, jobs, formats ---------------------------------------------------


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


# -- What is sent to the interface: the options of the commands that change something -------------


Name = Annotated[str, Field(max_length=500, examples=["reviews"])]


class Sent(BaseModel):
    """An object of JSON without other fields than these."""

    model_config = ConfigDict(extra="forbid")


class NewName(Sent):
    """Another name."""

    name: Name


_Some = dict[str, Any] | list[dict[str, Any]] | None


class LabelStudioEvent(BaseModel):
    """What Label Studio sends by a webhook that sends the payload; there may be further fields."""

    model_config = ConfigDict(extra="allow")

    action: str = Field(examples=["ANNOTATION_CREATED"])
    project: dict[str, Any] | None = None
    task: _Some = None
    annotation: _Some = None
    tasks: _Some = Field(None, description="Tasks that were deleted.")
    annotations: _Some = Field(None, description="Annotations that were deleted.")
