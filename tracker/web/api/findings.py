"""Recorded findings, and what is done about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Path, Query, Response

from tracker.core.operations import LARGEST
from tracker.ledger import Ledger
from tracker.web.api.bodies.figures import Acted, Finding, FindingChanges, Findings
from tracker.web.api.bodies.requests import Act, Appeal
from tracker.web.api.parameters import Questions
from tracker.web.api.routing import Answer, Answering, reads, resource, writes

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


_ONE = "/projects/{project:segment}/findings/{finding}"


@router.post(f"{_ONE}/acknowledge", **writes("acknowledgeFinding", Acted))
def acknowledge_finding(answer: Answer, project: str, finding: Number, sent: Act) -> Response:
    """Mark a finding as being dealt with; `tracker flags acknowledge N -p P`."""
    flags = answer.ledger.flags
    return _acted(
        answer, project, flags.acknowledge(project, [finding], by=answer.by, note=sent.note)
    )


@router.post(f"{_ONE}/dismiss", **writes("dismissFinding", Acted))
def dismiss_finding(answer: Answer, project: str, finding: Number, sent: Act) -> Response:
    """Mark a finding as harmless; `tracker flags dismiss N -p P`."""
    flags = answer.ledger.flags
    return _acted(answer, project, flags.dismiss(project, [finding], by=answer.by, note=sent.note))


@router.post(f"{_ONE}/resolve", **writes("resolveFinding", Acted))
def resolve_finding(answer: Answer, project: str, finding: Number, sent: Act) -> Response:
    """Mark a finding as dealt with; `tracker flags resolve N -p P`."""
    flags = answer.ledger.flags
    return _acted(answer, project, flags.resolve(project, [finding], by=answer.by, note=sent.note))


@router.post(f"{_ONE}/appeal", **writes("appealFinding", Acted))
def appeal_finding(answer: Answer, project: str, finding: Number, sent: Appeal) -> Response:
    """Record an annotator's objection to a finding; `tracker flags appeal N -p P`."""
    acted = answer.ledger.flags.appeal(project, finding, by=answer.by, note=sent.note)
    return _acted(answer, project, [acted])


@router.post(f"{_ONE}/uphold", **writes("upholdAppeal", Acted))
def uphold_appeal(answer: Answer, project: str, finding: Number, sent: Act) -> Response:
    """Accept an annotator's objection to a finding; `tracker flags uphold N -p P`."""
    flags = answer.ledger.flags
    return _acted(answer, project, flags.uphold(project, [finding], by=answer.by, note=sent.note))


@router.post(f"{_ONE}/reject", **writes("rejectAppeal", Acted))
def reject_appeal(answer: Answer, project: str, finding: Number, sent: Act) -> Response:
    """Turn an annotator's objection down; `tracker flags reject N -p P`."""
    flags = answer.ledger.flags
    return _acted(answer, project, flags.reject(project, [finding], by=answer.by, note=sent.note))


def _acted(answer: Answering, project: str, outcomes: Sequence[Any]) -> Response:
    return answer.done({"project": project, "flags": [one.to_dict() for one in outcomes]})
