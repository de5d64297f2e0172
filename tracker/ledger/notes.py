"""`ledger.notes`: the notes on the time lines of projects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from shlex import join, quote
from typing import TYPE_CHECKING, Annotated

from tracker.core import clock
from tracker.core.operations import Given, Option, operation
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project
from tracker.render.blocks import Column

if TYPE_CHECKING:
    from tracker.projects.notes import NoteInfo

_ALL = "/projects/{project}/notes"


def _noted(note: NoteInfo, given: Given) -> Iterator[str]:
    guideline = "" if note.guideline is None else f" (guideline {note.guideline})"
    at = clock.iso(note.at)[:19]
    yield f"note {note.id} of {given.project}, {at}Z: {note.text}{guideline}"
    if note.settled is not None:
        from tracker.render.nouns import count_noun

        yield f"{count_noun(note.settled, 'gap')} of the guideline settled"


def _removed(removed: NoteInfo, given: Given) -> Iterator[str]:
    """Yield which note is gone; the text of one that was erased is not said again."""
    done = "erased" if given.erase else f"removed: {removed.text}"
    yield f"note {removed.id} of {given.project} is {done}"


def _how_to_put_back(removed: NoteInfo, given: Given) -> Iterator[str]:
    if given.erase:
        return
    words = [given.project, removed.text, "--at", clock.iso(removed.at)]
    words += [] if removed.guideline is None else ["--guideline", removed.guideline]
    yield f"to put it back: tracker project note {join(words)}"


class Notes(Namespace):
    """The notes on the time lines of projects."""

    @operation(
        "project note", f"POST {_ALL}", "addNote",
        about=("project",), status=201, view=_noted,
        hints=lambda _, given: [f"next: tracker history {quote(given.project)}"],
    )  # fmt: skip
    def add(
        self,
        project: Project,
        text: Annotated[str, Option("What happened.", examples=("guideline v2",), longest=None)],
        at: Annotated[
            date | str | None,
            Option(
                "Time of the event (default: now): 2026-03-01T14:30 (UTC), 2026-03-01 (from the "
                "begin of that day), 7d, '3 weeks ago'.",
                metavar="WHEN",
                examples=("2026-03-01",),
            ),
        ] = None,
        guideline: Annotated[
            str | None,
            Option(
                "The version of the guideline that holds from then on; --guideline of other "
                "commands chooses its answers.",
                metavar="NAME",
            ),
        ] = None,
        *,
        settles_gaps: Annotated[
            bool, Option("The guideline now says what was open: see adjudicate gaps.")
        ] = False,
    ) -> NoteInfo:
        """Note an event, such as a new guideline; curves show it.

        Raises InvalidOption for a text that cannot be stored, and for a time in the future.

        Examples:
        - `tracker project note reviews "guideline v2"`
        - `tracker project note reviews "v3" --guideline v3 --at 2026-03-01`
        - `tracker project note reviews "two annotators joined" --at 2026-03-01`

        Next: `tracker history reviews`
        """
        from tracker.counts.filter import begin_of
        from tracker.projects.notes import add_note

        with self._ledger.writing(project) as (connection, info):
            moment = None if at is None else begin_of("--at", at, info.timezone)
            return add_note(connection, info, text, moment, guideline, settles_gaps=settles_gaps)

    @operation(
        "project notes", f"GET {_ALL}", "listNotes",
        listing="notes", about=("project",),
        columns=(
            Column("note", kind="name"), Column("at", kind="minute"), Column("text"),
            Column("guideline", rare=True),
        ),
        hints=lambda notes, given: [] if notes else [
            f'none yet: tracker project note {quote(given.project)} "what happened"'
        ],
    )  # fmt: skip
    def list(self, project: Project) -> Sequence[NoteInfo]:
        """List a project's notes in the order of their events.

        Example:
        - `tracker project notes reviews`

        Next: `tracker compare reviews "..guideline v2" "guideline v2.."`
        """
        from tracker.projects.notes import list_notes

        with self._ledger.reading(project) as (connection, info):
            return list_notes(connection, info)

    @operation(
        "project unnote", f"DELETE {_ALL}/{{note}}", "removeNote",
        about=("project",), view=_removed, hints=_how_to_put_back,
    )  # fmt: skip
    def remove(
        self,
        project: Project,
        note: Annotated[int, Option("The note's number.", least=1)],
        *,
        erase: Annotated[
            bool, Option("Delete its text for good, also of one removed before.")
        ] = False,
    ) -> NoteInfo:
        """Remove a note from the time line; the record of changes keeps it.

        Raises NotFound for an unknown number.

        Examples:
        - `tracker project unnote reviews 2`
        - `tracker project unnote reviews 2 --erase`

        Next: `tracker project notes reviews`
        """
        from tracker.projects.notes import remove_note

        with self._ledger.writing(project) as (connection, info):
            return remove_note(connection, info, note, erase=erase)
