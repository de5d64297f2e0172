"""Figures over time, and two states beside each other."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response

from tracker.agreement.asking import Measured
from tracker.history.asking import Curving, Watching
from tracker.ledger import Ledger
from tracker.ledger.about_history import HistoryRequest, history_answer
from tracker.web.api.bodies import Comparison, History, HistoryByQuestion
from tracker.web.api.parameters import AskedAnswers, AskedMetric, Question, query_of
from tracker.web.api.routing import Answer, reads, resource

router = resource("figures")


@router.get(
    "/projects/{project:segment}/history", **reads("getHistory", History | HistoryByQuestion)
)
def project_history(
    answer: Answer,
    project: str,
    answers: AskedAnswers,
    curve: Annotated[Curving, query_of(Curving)],
    measured: Annotated[Measured, query_of(Measured)],
    watching: Annotated[Watching, query_of(Watching)],
) -> Response:
    """Return the recorded snapshots, or the curve rebuilt from the labels; `tracker history P`."""

    def compute(ledger: Ledger) -> Any:
        request = HistoryRequest(
            ledger, project, curve, watching, measured["measures"], answers, last=0
        )
        return history_answer(request, for_people=False).json()

    return answer.figure(project, compute)


@router.get("/projects/{project:segment}/compare", **reads("compareStates", Comparison))
def compare_states(
    answer: Answer,
    project: str,
    a: Annotated[
        str,
        Query(
            description="A snapshot (number, name, last, last~2), time or date, note, or FROM..TO.",
            examples=["last~1"],
        ),
    ],
    b: Annotated[str, Query(description="The same; the change is from a to b.", examples=["last"])],
    metric: AskedMetric,
    other: Annotated[
        str | None, Query(alias="with", description="Take b from this project.")
    ] = None,
    anyway: Annotated[
        bool, Query(description="Compare even if settings or selections differ.")
    ] = False,
    test: Annotated[str | None, Query(description="The test of the items' agreement.")] = None,
    question: Question = None,
) -> Response:
    """Return what changed, whether by more than chance, and why; `tracker compare P A B`."""
    return answer.figure(
        project,
        lambda ledger: ledger.compare(
            project, a, b, other=other, question=question, anyway=anyway, test=test,
            **metric,
        ).to_dict(),
        of=() if other is None else (other,),
    )  # fmt: skip
