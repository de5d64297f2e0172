"""Notes on the time line of a project."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Response

from tracker.core.operations import LARGEST
from tracker.ledger import Ledger
from tracker.web.api.bodies.records import NoteOfProject, Notes
from tracker.web.api.bodies.requests import NewNote
from tracker.web.api.routing import Answer, reads, resource, writes

router = resource("records")


@router.get("/projects/{project:segment}/notes", **reads("listNotes", Notes))
def list_notes(answer: Answer, project: str) -> Response:
    """Return a project's notes in the order of their events; `tracker project notes P`."""

    def compute(ledger: Ledger) -> Any:
        rows = [one.to_dict() for one in ledger.notes.list(project)]
        return {"project": project, "notes": rows}

    return answer.figure(project, compute)


@router.post(
    "/projects/{project:segment}/notes", status_code=201, **writes("addNote", NoteOfProject)
)
def add_note(answer: Answer, project: str, sent: NewNote) -> Response:
    """Note an event; `tracker project note P TEXT`."""
    made = answer.ledger.notes.add(project, sent.text, sent.at, sent.guideline)
    return answer.done({"project": project} | made.to_dict(), 201)


@router.delete("/projects/{project:segment}/notes/{note}", **writes("removeNote", NoteOfProject))
def remove_note(
    answer: Answer,
    project: str,
    note: Annotated[int, Path(description="The note's number.", ge=1, le=LARGEST)],
    erase: Annotated[bool, Query(description="Delete its text for good.")] = False,
) -> Response:
    """Remove a note from the time line, and return it; `tracker project unnote P N`."""
    removed = answer.ledger.notes.remove(project, note, erase=erase)
    return answer.done({"project": project} | removed.to_dict())
