"""Notes on the time line: what happened to a project at a moment, such as a new guideline."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from tracker.core import clock
from tracker.core.errors import NotFound
from tracker.projects.change_log import lock_project, record_change
from tracker.projects.lookup import check_entered_text, near_names
from tracker.projects.project import ProjectInfo
from tracker.storage.schema import ERASED, Note


@dataclass(frozen=True)
class NoteInfo:
    """A note; ``id`` is its number in the project, ``at`` a moment in microseconds."""

    id: int
    at: int
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return the note as JSON."""
        return {"at": clock.iso(self.at), "note": self.id, "text": self.text}


def add_note(
    connection: Connection, project: ProjectInfo, text: str, at: int | None = None
) -> NoteInfo:
    """Note what happened at a moment, now if left out; raises InvalidOption for an unfit text."""
    text = check_entered_text(text, "note")
    lock_project(connection, project.id)
    highest = select(func.max(Note.id)).where(Note.project_id == project.id)
    number = (connection.scalar(highest) or 0) + 1
    # Without the text, which may have to go: the log is never changed.
    change, now = record_change(connection, project.id, "note", {"note": number})
    made = NoteInfo(number, now if at is None else at, text)
    connection.execute(
        insert(Note).values(
            project_id=project.id, id=number, at=made.at, text=text, change_id=change
        )
    )
    return made


def list_notes(connection: Connection, project: ProjectInfo) -> list[NoteInfo]:
    """Return the notes of a project in the order of their moments, without those removed."""
    rows = connection.execute(
        select(Note.id, Note.at, Note.text)
        .where(Note.project_id == project.id, Note.removed_by.is_(None))
        .order_by(Note.at, Note.id)
    )
    return [NoteInfo(row.id, row.at, row.text) for row in rows]


def remove_note(
    connection: Connection, project: ProjectInfo, number: int, *, erase: bool = False
) -> NoteInfo:
    """Take a note off the time line; its row stays. Raises NotFound for an unknown number.

    With ``erase`` its text goes for good; that of one removed before, too.
    """
    lock_project(connection, project.id)
    ours = (Note.project_id == project.id, Note.id == number)
    row = connection.execute(select(Note.at, Note.text, Note.removed_by).where(*ours)).one_or_none()
    if row is None or (row.removed_by is not None and not erase):
        known = list_notes(connection, project)
        raise NotFound(f"{project.name!r} has no note {number}", _listing(project, known))
    change = row.removed_by
    if change is None:
        change, _ = record_change(connection, project.id, "remove note", {"note": number})
    values = {"removed_by": change} | ({"text": ERASED} if erase else {})
    connection.execute(update(Note).where(*ours).values(values))
    return NoteInfo(number, row.at, row.text)


def find_note(connection: Connection, project: ProjectInfo, text: str) -> NoteInfo:
    """Return the note of that text, the last of several, or of that number; raises NotFound."""
    wanted = text.strip()
    known = list_notes(connection, project)
    same = [note for note in known if note.text == wanted]
    same = same or [note for note in known if str(note.id) == wanted]
    if not same:
        raise NotFound(
            f"{project.name!r} has no note {wanted!r}",
            near_names(wanted, [note.text for note in known]) or _listing(project, known),
        )
    return same[-1]


def _listing(project: ProjectInfo, known: list[NoteInfo]) -> str:
    """Return where to look for the notes there are, or how to make one."""
    if known:
        return f"see: tracker project notes {quote(project.name)}"
    return f'make one: tracker project note {quote(project.name)} "what happened"'
