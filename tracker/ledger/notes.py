"""`ledger.notes`: what happened to a project, and when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from tracker.ledger.namespace import Namespace
from tracker.projects.notes import NoteInfo, add_note, list_notes, remove_note


class Notes(Namespace):
    """The notes on the time lines of projects."""

    def add(self, project: str, text: str, at: date | str | None = None) -> NoteInfo:
        """Note an event; a date means the end of that day, None now.

        Raises InvalidOption for a text that cannot be stored, and for a time in the future.
        """
        moment = None if at is None else _past_moment(at)
        with self._ledger.writing(project) as (connection, found):
            return add_note(connection, found, text, moment)

    def list(self, project: str) -> Sequence[NoteInfo]:
        """Return a project's notes in the order of their events."""
        with self._ledger.reading(project) as (connection, found):
            return list_notes(connection, found)

    def remove(self, project: str, number: int, *, erase: bool = False) -> NoteInfo:
        """Remove a note from the time line, and return it; with ``erase`` its text goes for good.

        Raises NotFound for an unknown number.
        """
        with self._ledger.writing(project) as (connection, found):
            return remove_note(connection, found, number, erase=erase)


def _past_moment(at: date | str) -> int | None:
    from tracker.core import clock
    from tracker.queries.filter import past_moment

    return past_moment("--at", at, clock.now())
