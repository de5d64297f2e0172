"""Figures: agreement, its parts, its course, comparisons."""

from __future__ import annotations

from typing import Any

from tracker.web.api.bodies.body import Body


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
