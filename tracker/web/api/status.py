"""How far projects are."""

from __future__ import annotations

from fastapi import Response

from tracker.history.status_json import status_as_json, statuses_as_json
from tracker.web.api.bodies import Status, StatusByQuestion, Statuses
from tracker.web.api.parameters import AskedMoment, Questions
from tracker.web.api.routing import Answer, reads, resource

router = resource("figures")


@router.get("/status", **reads("listStatus", Statuses))
def all_statuses(answer: Answer, moment: AskedMoment) -> Response:
    """Return the progress of each project that is not archived; `tracker status`."""
    return answer.of_all(lambda ledger: statuses_as_json(ledger.statuses(**moment)))


@router.get("/projects/{project:segment}/status", **reads("getStatus", Status | StatusByQuestion))
def project_status(
    answer: Answer,
    project: str,
    moment: AskedMoment,
    question: Questions = (),
) -> Response:
    """Return a project's progress; `tracker status P`."""
    return answer.figure(
        project,
        lambda ledger: status_as_json(
            ledger.status_by_question(project, questions=question, **moment),
            ledger.verdict(project, questions=question, **moment),
        ),
    )
