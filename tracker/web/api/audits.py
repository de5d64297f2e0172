"""Audits: findings about annotators' answers, as they are now.

FastAPI reads the annotations of these classes as they are, so they are no texts here.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Query, Response

from tracker.core.operations import LARGEST
from tracker.ledger import Ledger
from tracker.web.api.bodies import Audit
from tracker.web.api.parameters import AskedAnswers, AskedTests
from tracker.web.api.routing import Answer, reads, resource, writes

if TYPE_CHECKING:
    from tracker.audit.result import AuditByQuestion

router = resource("findings")


@dataclass(frozen=True)
class Shown:
    """What is shown of an audit."""

    everything: Annotated[
        bool, Query(alias="all", description="Also the tests that found nothing.")
    ] = False
    pseudonyms: Annotated[bool, Query(description="Pseudonyms in place of names.")] = False
    suppress_below: Annotated[
        int | None, Query(description="Leave out figures of fewer answers.", ge=0, le=LARGEST)
    ] = None

    def told(self, ledger: Ledger, audit_by_question: "AuditByQuestion") -> Any:
        """Return the JSON of an audit, with no more than was asked for."""
        audits = tuple(
            ledger.anonymized(audit, pseudonyms=self.pseudonyms, suppress_below=self.suppress_below)
            for audit in audit_by_question.audits
        )
        return replace(audit_by_question, audits=audits).to_dict(clear=self.everything)


_Shown = Annotated[Shown, Depends()]


@router.get("/projects/{project:segment}/audit", **reads("getAudit", Audit))
def project_audit(
    answer: Answer, project: str, answers: AskedAnswers, tests: AskedTests, shown: _Shown
) -> Response:
    """Test each annotator against the co-annotators of the same items; `tracker audit P`."""
    return answer.figure(
        project,
        lambda ledger: shown.told(ledger, ledger.audit_by_question(project, **tests, **answers)),
    )


@router.post("/projects/{project:segment}/audit", **writes("recordAudit", Audit))
def record_audit(
    answer: Answer, project: str, answers: AskedAnswers, tests: AskedTests, shown: _Shown
) -> Response:
    """Make the tests, and record what is flagged; `tracker audit P --record`."""
    found, _ = answer.ledger.record_audit_by_question(project, **tests, **answers)
    return answer.done(shown.told(answer.ledger, found))
