"""Audits: findings about annotators' answers, as they are now."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import Depends, Query, Response

from tracker.ledger import Ledger
from tracker.web.api.answering import Answer, reads, resource
from tracker.web.api.bodies.figures import Audit
from tracker.web.api.parameters import LARGEST, Answers

router = resource("findings")


@router.get("/projects/{project:segment}/audit", **reads("getAudit", Audit))
def project_audit(
    answer: Answer,
    project: str,
    answers: Annotated[Answers, Depends()],
    everything: Annotated[
        bool, Query(alias="all", description="Also the tests that found nothing.")
    ] = False,
    alpha: Annotated[float, Query(description="False discovery rate.", gt=0, lt=1)] = 0.05,
    kind: Annotated[
        tuple[str, ...],
        Query(description="Only this kind (repeatable).", examples=[["constant_category"]]),
    ] = (),
    exclude_kind: Annotated[
        tuple[str, ...], Query(description="All but this kind (repeatable).")
    ] = (),
    evidence: Annotated[
        int, Query(description="So many items for each finding.", ge=0, le=LARGEST)
    ] = 0,
    pseudonyms: Annotated[bool, Query(description="Pseudonyms in place of names.")] = False,
    suppress_below: Annotated[
        int | None,
        Query(description="Leave out figures of fewer answers.", ge=0, le=LARGEST),
    ] = None,
) -> Response:
    """Test each annotator against the co-annotators of the same items; `tracker audit P`."""

    def compute(ledger: Ledger) -> Any:
        found = ledger.audit_by_question(
            project, questions=answers.questions, alpha=alpha, kinds=kind,
            exclude_kinds=exclude_kind, evidence=evidence, **answers.selecting,
        )  # fmt: skip
        audits = tuple(
            ledger.anonymized(one, pseudonyms=pseudonyms, suppress_below=suppress_below)
            for one in found.audits
        )
        return replace(found, audits=audits).to_dict(clear=everything)

    return answer.figure(project, compute)
