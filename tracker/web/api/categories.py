"""Categories."""

from __future__ import annotations

from fastapi import Response

from tracker.web.api.answering import Answer, reads, resource
from tracker.web.api.bodies.records import Categories
from tracker.web.api.parameters import Question

router = resource("records")


@router.get("/projects/{project:segment}/categories", **reads("listCategories", Categories))
def list_categories(answer: Answer, project: str, question: Question = None) -> Response:
    """Return a question's categories with the number of labels; `tracker category list P`."""
    return answer.figure(
        project, lambda ledger: ledger.categories.list(project, question=question).to_dict()
    )
