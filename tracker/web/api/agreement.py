"""Agreement: the figures, and further questions about them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Response

from tracker.agreement.asking import Further, Measured
from tracker.core.errors import NotFound
from tracker.ledger import Ledger
from tracker.ledger.about_agreement import agreement_answer
from tracker.web.api.bodies import Agreement, AgreementByQuestion, AgreementRows
from tracker.web.api.parameters import AskedAnswers, AskedErrors, AskedFigures, query_of
from tracker.web.api.routing import Answer, reads, resource

router = resource("figures")


@router.get(
    "/projects/{project:segment}/agreement",
    **reads("getAgreement", Agreement | AgreementByQuestion | AgreementRows),
)
def project_agreement(
    answer: Answer,
    project: str,
    answers: AskedAnswers,
    figures: AskedFigures,
    errors: AskedErrors,
    measured: Annotated[Measured, query_of(Measured)],
    further: Annotated[Further, query_of(Further)],
) -> Response:
    """Return how well annotators agree; `tracker agreement P`.

    Of a project that asks several questions, a row for each; `question` gives all about one.
    One further question can be asked at a time: `by`, `explain`, `influence`, `merge`,
    `best_merges`, `against`, `self`, `gold`, `calibration`, `methods`.
    """

    def compute(ledger: Ledger) -> Any:
        return agreement_answer(
            ledger, project,
            answers=answers, figures=figures, errors=errors, measured=measured, further=further,
        ).json()  # fmt: skip

    if further["by"] in {"item", "pair"}:
        return answer.rows(project, compute)
    return answer.figure(project, compute, of=_other_project(answer.ledger, further["against"]))


def _other_project(ledger: Ledger, against: str | None) -> list[str]:
    """Return the name of the other project that is asked about, if it is one."""
    try:
        return [] if against is None else [ledger.projects.find(against).name]
    except NotFound:
        return []
