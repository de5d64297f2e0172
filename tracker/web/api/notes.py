"""Notes on the time line of a project."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from tracker.ledger import Ledger
from tracker.web.api.answering import Answer, reads, resource
from tracker.web.api.bodies.records import Notes

router = resource("records")


@router.get("/projects/{project:segment}/notes", **reads("listNotes", Notes))
def list_notes(answer: Answer, project: str) -> Response:
    """Return a project's notes in the order of their events; `tracker project notes P`."""

    def compute(ledger: Ledger) -> Any:
        rows = [one.to_dict() for one in ledger.notes.list(project)]
        return {"project": project, "notes": rows}

    return answer.figure(project, compute)
