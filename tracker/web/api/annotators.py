"""Annotators."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Response

from tracker.ledger import Ledger
from tracker.web.api.answering import Answer, reads, resource
from tracker.web.api.bodies.records import AnnotatorPage, Annotators
from tracker.web.api.parameters import Questions

router = resource("records")

Name = Annotated[str, Path(description="Any name of the annotator.")]


@router.get("/projects/{project:segment}/annotators", **reads("listAnnotators", Annotators))
def list_annotators(answer: Answer, project: str) -> Response:
    """Return a project's annotators by name; `tracker annotator list P`."""

    def compute(ledger: Ledger) -> Any:
        rows = [one.to_dict() for one in ledger.annotators.list(project)]
        return {"project": project, "annotators": rows}

    return answer.figure(project, compute)


@router.get(
    "/projects/{project:segment}/annotators/{annotator:segment}",
    **reads("getAnnotator", AnnotatorPage),
)
def show_annotator(
    answer: Answer,
    project: str,
    annotator: Name,
    competence: Annotated[
        bool, Query(description="Also the competence by Dawid and Skene's model.")
    ] = False,
    question: Questions = (),
) -> Response:
    """Return one annotator's figures beside the others', and findings; `tracker annotator show`."""
    return answer.figure(
        project,
        lambda ledger: ledger.annotator(
            project, annotator, competence=competence, questions=question
        ),
    )
