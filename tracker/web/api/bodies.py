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


# -- Figures: agreement, its parts, its course, comparisons ---------------------------------------


class Counts(Body):
    """What figures rest on."""

    items: int
    items_compared: int
    annotators: int
    answers: int
    labels: int


class Measure(Body):
    """A coefficient with its error and interval, or the reason why there is none."""

    measure: str
    value: float | None
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    confidence: float
    items: int
    undefined: str | None


class CategoryRate(Body):
    """How far annotators agree on one category."""

    category: str
    labels: int
    agreements: int
    potential_agreements: int
    rate: float | None
    ci_low: float | None
    ci_high: float | None
    undefined: str | None


class Agreement(Body):
    """The figures of one question."""

    project: str
    as_of: str | None
    scale: str
    counts: Counts
    measures: list[Measure | dict[str, Any]]
    categories: list[CategoryRate | dict[str, Any]]
    summary: dict[str, Any]
    recent: dict[str, Any] | None = None
    changes: list[dict[str, Any]] | None = None


class AgreementByQuestion(Body):
    """A row for each question, the weakest first."""

    project: str
    questions: list[dict[str, Any]]


class AgreementRows(Body):
    """Figures by pair, annotator, item or group, or another answer about agreement."""

    project: str


class Concern(Body):
    """What is plainly wrong: a period, slice, category, annotator, pair, import or the project."""

    subject: str
    names: list[str]
    kind: str
    question: str | None
    explained: float | None
    why: str
    command: str


class Status(Body):
    """How far a question is; of one project with its verdict."""

    project: str
    items: int
    answers: int
    annotators: int
    wanted: int | None
    coverage: float | None
    answers_per_day: float | None
    estimated_completion: str | None
    open_flags: int
    recent: dict[str, Any] | None
    verdict: list[Concern] | None = None
    detectable_gap: float | None = None


class StatusByQuestion(Body):
    """How far each question of a project is."""

    project: str
    verdict: list[Concern] | None = None
    detectable_gap: float | None = None
    questions: list[Status]


class Statuses(Body):
    """How far each project is that is not archived."""

    projects: list[Status | StatusByQuestion]


class Snapshot(Body):
    """Recorded figures."""

    snapshot: int
    name: str | None
    note: str | None
    taken_at: str
    as_of: str
    digest: str


class SnapshotByQuestion(Body):
    """The record of each question under one number."""

    snapshot: int
    questions: list[dict[str, Any]]


class History(Body):
    """Recorded snapshots, oldest first, or the points of a curve, which have no number."""

    project: str
    snapshots: list[Snapshot | dict[str, Any]]


class HistoryByQuestion(Body):
    """The history of each question."""

    project: str
    questions: list[dict[str, Any]]


class Comparison(Body):
    """What changed from one state to another."""

    project: str
    a: dict[str, Any]
    b: dict[str, Any]
    shared_items: int
    measures: list[dict[str, Any]]
    categories: list[dict[str, Any]]


class Gate(Body):
    """What became of each check."""

    project: str
    passed: bool
    checks: list[dict[str, Any]]
    verdict: list[Concern]


class Audit(Body):
    """The findings about each annotator."""

    project: str
    annotators: list[dict[str, Any]] | None = None
    questions: list[dict[str, Any]] | None = None
