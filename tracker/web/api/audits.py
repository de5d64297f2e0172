"""Audits: findings about annotators' answers, as they are now.

FastAPI reads the annotations of these classes as they are, so they are no texts here.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Query, Response

from tracker.ledger import Ledger
from tracker.web.api.bodies.figures import Audit
from tracker.web.api.parameters import Answers
from tracker.web.api.routing import Answer, reads, resource, writes
from tracker.web.request import LARGEST

if TYPE_CHECKING:
    from tracker.audit.result import AuditByQuestion

router = resource("findings")


@dataclass(frozen=True)
class AuditAsked:
    """Which tests are made, and what is shown of them."""

    everything: Annotated[
        bool, Query(alias="all", description="Also the tests that found nothing.")
    ] = False
    alpha: Annotated[float, Query(description="False discovery rate.", gt=0, lt=1)] = 0.05
    kind: Annotated[
        tuple[str, ...],
        Query(description="Only this kind (repeatable).", examples=[["constant_category"]]),
    ] = ()
    exclude_kind: Annotated[
        tuple[str, ...], Query(description="All but this kind (repeatable).")
    ] = ()
    evidence: Annotated[
        int, Query(description="So many items for each finding.", ge=0, le=LARGEST)
    ] = 0
    pseudonyms: Annotated[bool, Query(description="Pseudonyms in place of names.")] = False
    suppress_below: Annotated[
        int | None, Query(description="Leave out figures of fewer answers.", ge=0, le=LARGEST)
    ] = None

    def told(self, ledger: Ledger, found: "AuditByQuestion") -> Any:
        """Return the JSON of an audit, with no more than was asked for."""
        audits = tuple(
            ledger.anonymized(one, pseudonyms=self.pseudonyms, suppress_below=self.suppress_below)
            for one in found.audits
        )
        return replace(found, audits=audits).to_dict(clear=self.everything)

    def looking(self, answers: Answers) -> dict[str, Any]:
        """Return the keyword arguments of the ledger."""
        return {
            "questions": answers.questions, "alpha": self.alpha, "kinds": self.kind,
            "exclude_kinds": self.exclude_kind, "evidence": self.evidence, **answers.selecting,
        }  # fmt: skip


_Asked = Annotated[AuditAsked, Depends()]
_Answers = Annotated[Answers, Depends()]


@router.get("/projects/{project:segment}/audit", **reads("getAudit", Audit))
def project_audit(answer: Answer, project: str, answers: _Answers, asked: _Asked) -> Response:
    """Test each annotator against the co-annotators of the same items; `tracker audit P`."""
    return answer.figure(
        project,
        lambda ledger: asked.told(
            ledger, ledger.audit_by_question(project, **asked.looking(answers))
        ),
    )


@router.post("/projects/{project:segment}/audit", **writes("recordAudit", Audit))
def record_audit(answer: Answer, project: str, answers: _Answers, asked: _Asked) -> Response:
    """Make the tests, and record what is flagged; `tracker audit P --record`."""
    found, _ = answer.ledger.record_audit_by_question(project, **asked.looking(answers))
    return answer.done(asked.told(answer.ledger, found))
