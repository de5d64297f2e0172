"""Notes on the time line: what happened to a project at a moment, such as a new guideline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from shlex import quote
from typing import Annotated

from sqlalchemy import Connection, func, insert, select, update

from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.kept import read_once
from tracker.core.results import Json, Record, Time
from tracker.projects.decisions import settle_gaps
from tracker.projects.names import check_entered_name, check_entered_text
from tracker.projects.projects import ProjectInfo, lock_project, record_change
from tracker.storage.schema import ERASED, Note


@dataclass(frozen=True)
class NoteInfo(Record):
    """An event on the time line; ``id`` is its number in the project."""

    at: Time
    id: Annotated[int, Json("note")]
    text: str
    guideline: Annotated[str | None, Json(rare=True)] = None
    settled: Annotated[int | None, Json("settled_gaps", rare=True)] = None


def add_note(
    connection: Connection,
    project: ProjectInfo,
    text: str,
    at: int | None = None,
    guideline: str | None = None,
    *,
    settles_gaps: bool = False,
) -> NoteInfo:
    """Note what happened at a moment; None for now.

    With ``guideline`` that version of the guideline holds from then on, and it may settle the gaps
    that decisions named. Raises InvalidOption for an unfit text, a moment in the future, and for a
    version that another note has.
    """
    if settles_gaps and guideline is None:
        raise InvalidOption(
            "gaps are settled by a version of the guideline", "name it: --guideline NAME"
        )
    text = check_entered_text(text, "note")
    if at is not None and at > clock.now():
        raise InvalidOption(f"--at {clock.iso(at)} lies in the future", "nobody knows it yet")
    lock_project(connection, project.id)
    if guideline is not None:
        guideline = check_entered_name(guideline, "guideline")
        for note in list_notes(connection, project):
            if note.guideline == guideline:
                unnote = f"tracker project unnote {quote(project.name)} {note.id}"
                raise InvalidOption(
                    f"the guideline {guideline!r} holds from {clock.iso(note.at)}",
                    f"remove that note first: {unnote}",
                )
    highest = select(func.max(Note.id)).where(Note.project_id == project.id)
    number = (connection.scalar(highest) or 0) + 1
    # Without the text, which can be erased: the log is never changed.
    change, now = record_change(connection, project.id, "note", {"note": number})
    note = NoteInfo(now if at is None else at, number, text, guideline)
    row = {"at": note.at, "id": number, "text": text, "guideline": guideline}
    row |= {"project_id": project.id, "change_id": change}
    connection.execute(insert(Note).values(row))
    return (
        replace(note, settled=settle_gaps(connection, project.id, number)) if settles_gaps else note
    )


@read_once
def list_notes(connection: Connection, project: ProjectInfo) -> list[NoteInfo]:
    """Return the notes of a project in the order of their moments, without those removed."""
    rows = connection.execute(
        select(Note.at, Note.id, Note.text, Note.guideline)
        .where(Note.project_id == project.id, Note.removed_by.is_(None))
        .order_by(Note.at, Note.id)
    )
    return [NoteInfo(*row) for row in rows]


def remove_note(
    connection: Connection, project: ProjectInfo, number: int, *, erase: bool = False
) -> NoteInfo:
    """Take a note off the time line; its row stays. Raises NotFound for an unknown number.

    With ``erase`` its text is erased for good, also that of a note removed before.
    """
    lock_project(connection, project.id)
    ours = (Note.project_id == project.id, Note.id == number)
    row = connection.execute(
        select(Note.at, Note.text, Note.guideline, Note.removed_by).where(*ours)
    ).one_or_none()
    if row is None or (row.removed_by is not None and not erase):
        name = quote(project.name)
        raise NotFound(
            f"{project.name!r} has no note {number}",
            f"see: tracker project notes {name}"
            if list_notes(connection, project)
            else f'make one: tracker project note {name} "what happened"',
        )
    change = row.removed_by
    if change is None:
        change, _ = record_change(connection, project.id, "remove note", {"note": number})
    values = {"removed_by": change} | ({"text": ERASED, "guideline": None} if erase else {})
    connection.execute(update(Note).where(*ours).values(values))
    return NoteInfo(row.at, number, row.text, row.guideline)
