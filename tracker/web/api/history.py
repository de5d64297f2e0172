"""Figures over time, and two states beside each other."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response

from tracker.counts.choosing import answers_to_one
from tracker.ledger import Ledger
from tracker.web.api.bodies.figures import Comparison, History, HistoryByQuestion
from tracker.web.api.parameters import AskedAnswers, AskedMetric, Measures, Question
from tracker.web.api.routing import Answer, reads, resource

router = resource("figures")
_TREND_OF = "krippendorff_alpha"


@router.get(
    "/projects/{project:segment}/history", **reads("getHistory", History | HistoryByQuestion)
)
def project_history(
    answer: Answer,
    project: str,
    answers: AskedAnswers,
    every: Annotated[
        str | None,
        Query(description="Rebuild the curve: a point each day, week or month.", examples=["week"]),
    ] = None,
    window: Annotated[
        str, Query(description="With every: the answers behind a point: all, 7d, last-500-items.")
    ] = "all",
    measure: Measures = (),
    interval: Annotated[
        str | None, Query(description="With every: the method of the intervals.")
    ] = None,
    trend: Annotated[
        bool, Query(description="Also whether the first measure rises or falls.")
    ] = False,
    watch_for: Annotated[
        str | None, Query(description="Also alarms for a drop, a rise or a change of its level.")
    ] = None,
) -> Response:
    """Return the recorded snapshots, or the curve rebuilt from the labels; `tracker history P`."""
    measures = list(dict.fromkeys(measure))
    watching = trend or watch_for is not None

    def compute(ledger: Ledger) -> Any:
        names = answers["questions"]
        if not watching and len(names) != 1:
            names = names or ledger.question_names(project)
        if not watching and len(names) > 1:
            return ledger.history_by_question(
                project, every, window, measures=measures, interval=interval,
                **(answers | {"questions": names}),
            ).to_dict()  # fmt: skip
        told = ledger.history(
            project,
            every,
            window=window,
            measures=measures,
            interval=interval,
            **answers_to_one(answers),
        ).to_dict()  # fmt: skip
        if watching:
            told |= ledger.monitor(
                project, (measures or [_TREND_OF])[0], every or "week", trends=trend,
                watch_for=watch_for, **answers_to_one(answers),
            ).to_dict()  # fmt: skip
        return told

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
