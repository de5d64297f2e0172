"""Recorded findings, and what is done about them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Response

from tracker.ledger import Ledger
from tracker.web.api.answering import Answer, reads, resource
from tracker.web.api.bodies.figures import Finding, FindingChanges, Findings
from tracker.web.api.parameters import LARGEST, Questions

router = resource("findings")

Number = Annotated[int, Path(description="The finding's number.", ge=1, le=LARGEST, examples=[1])]


@router.get("/projects/{project:segment}/findings", **reads("listFindings", Findings))
def list_findings(
    answer: Answer,
    project: str,
    state: Annotated[
        tuple[str, ...],
        Query(
            description="Only those: open, acknowledged, dismissed, resolved, or all (repeatable). "
            "Without: open and acknowledged.",
            examples=[["all"]],
        ),
    ] = (),
    annotator: Annotated[str | None, Query(description="Only of this annotator.")] = None,
    kind: Annotated[str | None, Query(description="Only of this kind.")] = None,
    question: Questions = (),
) -> Response:
    """Return a project's recorded findings; `tracker flags list P`."""

    def compute(ledger: Ledger) -> Any:
        listed = ledger.flags.list(
            project, states=state or None, annotator=annotator, kind=kind, questions=question
        )
        return {"project": project, "flags": [one.to_dict() for one in listed]}

    return answer.figure(project, compute)


@router.get("/projects/{project:segment}/findings/changes", **reads("listChanges", FindingChanges))
def list_changes(answer: Answer, project: str) -> Response:
    """Return what was done about all findings; `tracker flags history -p P`."""
    return answer.figure(project, lambda ledger: _changes(ledger, project, None))


@router.get("/projects/{project:segment}/findings/{finding}", **reads("getFinding", Finding))
def show_finding(answer: Answer, project: str, finding: Number) -> Response:
    """Return one finding with its latest evidence and sightings; `tracker flags show N -p P`."""
    return answer.figure(
        project,
        lambda ledger: {"project": project} | ledger.flags.show(project, finding).to_dict(),
    )


@router.get(
    "/projects/{project:segment}/findings/{finding}/changes",
    **reads("listChangesOfFinding", FindingChanges),
)
def list_changes_of_finding(answer: Answer, project: str, finding: Number) -> Response:
    """Return what was done about a finding; `tracker flags history N -p P`."""
    return answer.figure(project, lambda ledger: _changes(ledger, project, finding))


def _changes(ledger: Ledger, project: str, finding: int | None) -> Any:
    return {"project": project, "changes": ledger.flags.history(project, finding)}
