"""Questions and their settings."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Response

from tracker.ledger import Ledger
from tracker.web.api.bodies.records import Question, Questions
from tracker.web.api.bodies.requests import ChangedSettings, NewName, NewNamedQuestion
from tracker.web.api.routing import Answer, reads, resource, writes

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


@router.post(
    "/projects/{project:segment}/questions", status_code=201, **writes("addQuestion", Question)
)
def add_question(answer: Answer, project: str, sent: NewNamedQuestion) -> Response:
    """Add a question to a project; `tracker question add P Q`."""
    made = answer.ledger.questions.add(project, sent.question, sent.options)
    told = {"question": made.name, **made.to_dict()}
    return answer.made(told, "projects", project, "questions", made.name)


@router.patch(
    "/projects/{project:segment}/questions/{question:segment}", **writes("setQuestion", Question)
)
def set_question(answer: Answer, project: str, question: str, sent: ChangedSettings) -> Response:
    """Change a question's settings; `tracker question set P Q`."""
    changed = answer.ledger.questions.set(project, question, **sent.changing)
    return answer.done({"question": changed.question.name, **changed.to_dict()})


@router.post(
    "/projects/{project:segment}/questions/{question:segment}/rename",
    **writes("renameQuestion", Question),
)
def rename_question(answer: Answer, project: str, question: str, sent: NewName) -> Response:
    """Give a question another name; `tracker question rename P Q NAME`."""
    made = answer.ledger.questions.rename(project, question, sent.name)
    return answer.done({"question": made.name, **made.to_dict()})
