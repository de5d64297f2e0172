"""Snapshots: the records themselves."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from tracker.ledger import Ledger
from tracker.web.api.bodies.figures import (
    History,
    HistoryByQuestion,
    Snapshot,
    SnapshotByQuestion,
)
from tracker.web.api.bodies.requests import NewSnapshot
from tracker.web.api.parameters import AskedChoice, AskedFigures, Questions
from tracker.web.api.routing import Answer, reads, resource, writes

router = resource("figures")


@router.get(
    "/projects/{project:segment}/snapshots", **reads("listSnapshots", History | HistoryByQuestion)
)
def list_snapshots(answer: Answer, project: str) -> Response:
    """Return a project's snapshots, oldest first; `tracker snapshots list P`."""

    def compute(ledger: Ledger) -> Any:
        several = len(ledger.question_names(project)) > 1
        found = ledger.history_by_question(project) if several else ledger.history(project)
        return found.to_dict()

    return answer.figure(project, compute)


@router.get(
    "/projects/{project:segment}/snapshots/{snapshot:segment}",
    **reads("getSnapshot", Snapshot | SnapshotByQuestion),
)
def show_snapshot(
    answer: Answer, project: str, snapshot: str, question: Questions = ()
) -> Response:
    """Return everything about a snapshot: by number, name, `last` or `last~2`."""
    return answer.figure(
        project,
        lambda ledger: ledger.snapshot_pages(project, snapshot, questions=question).to_dict(),
    )


@router.post(
    "/projects/{project:segment}/snapshots",
    status_code=201,
    **writes("takeSnapshot", Snapshot | SnapshotByQuestion),
    responses={409: {"description": "The two ways to count differ, or the key is in use."}},
)
def take_snapshot(
    answer: Answer,
    project: str,
    sent: NewSnapshot,
    answers: AskedChoice,
    figures: AskedFigures,
) -> Response:
    """Record the figures as they are now; `tracker snapshot P`."""
    taken = answer.ledger.snapshot_by_question(project, **sent.model_dump(), **figures, **answers)
    return answer.made(taken.to_dict(), "projects", project, "snapshots", str(taken.id))
