"""Questions and their settings."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Response

from tracker.ledger import Ledger
from tracker.web.api.answering import Answer, reads, resource
from tracker.web.api.bodies.records import Question, Questions

router = resource("records")


@router.get("/projects/{project:segment}/questions", **reads("listQuestions", Questions))
def list_questions(answer: Answer, project: str) -> Response:
    """Return a project's questions in the order of their making; `tracker question list P`."""

    def compute(ledger: Ledger) -> Any:
        found = ledger.questions.list(project)
        rows = [{"question": one.name, **one.settings()} for one in found]
        return {"project": project, "questions": rows}

    return answer.figure(project, compute)


@router.get(
    "/projects/{project:segment}/questions/{question:segment}", **reads("getQuestion", Question)
)
def show_question(
    answer: Answer, project: str, question: Annotated[str, Path(description="The question's name.")]
) -> Response:
    """Return how a question is answered, and its categories; `tracker question show P Q`."""

    def compute(ledger: Ledger) -> Any:
        found = ledger.questions.show(project, question)
        return {"question": found.question.name, **found.to_dict()}

    return answer.figure(project, compute)
