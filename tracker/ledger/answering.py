"""`ledger.answering`: answers to assigned items that are given here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from tracker.core.errors import TrackerError
from tracker.core.operations import operation
from tracker.core.results import Json, Record
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project
from tracker.render.blocks import Column

if TYPE_CHECKING:
    from tracker.ledger.imports import Importing
    from tracker.work.answering import Due, NextItem
    from tracker.work.choosing import Given

_NAME = "answered here"  # what an import has in the place of a file's name


@dataclass(frozen=True)
class Recorded(Record):
    """Answers given here that were recorded: whose, how many, and by which import."""

    annotator: str
    answers: int
    import_: Annotated[int | None, Json("import")]


class Answering(Namespace):
    """The answers that annotators give on their own page."""

    _ledger: Importing

    def next(self, project: str, annotator: str) -> NextItem | None:
        """Return the first item that somebody has not answered yet; None if there is none."""
        from tracker.projects.annotators import find_annotator_id
        from tracker.work.answering import next_item

        with self._ledger.reading(project) as (connection, info):
            return next_item(connection, info, find_annotator_id(connection, info, annotator))

    def answer(
        self,
        project: str,
        annotator: str,
        assignment: str,
        answers: Mapping[str, Given],
        spent_ms: int | None = None,
    ) -> bool:
        """Keep what somebody answers to an item, and return whether it is new; see `keep_answer`.

        Raises NotFound for an assignment that is not theirs, InvalidOption for an answer that does
        not fit.
        """
        from tracker.projects.annotators import find_annotator_id
        from tracker.work.answering import keep_answer

        with self._ledger.writing(project) as (connection, info):
            who = find_annotator_id(connection, info, annotator)
            return keep_answer(connection, info, who, assignment, answers, spent_ms)

    def undo(self, project: str, annotator: str) -> bool:
        """Take back somebody's last answer that is not recorded yet; returns whether there is."""
        from tracker.projects.annotators import find_annotator
        from tracker.work.answering import undo_answer

        with self._ledger.writing(project) as (connection, info):
            return undo_answer(connection, info, find_annotator(connection, info, annotator))

    @operation(
        "assignments record", "POST /projects/{project}/assignments/record", "recordAnswers",
        listing="recorded", about=("project",),
        columns=(Column("annotator", kind="name"), Column("answers", kind="count"),
                 Column("import", kind="name")),
    )  # fmt: skip
    def record(self, project: Project) -> Sequence[Recorded]:
        """Record at once the answers given here that wait until their annotator pauses.

        `tracker serve` records them by itself, two minutes after somebody's last answer: an import
        for each annotator, which can be undone like any other.

        Example:
        - `tracker assignments record reviews`

        Next: `tracker imports list -p reviews`
        """
        from tracker.work.answering import drafts_due

        with self._ledger.reading(project) as (connection, info):
            due = drafts_due(connection, info.id, every=True)
        return self._record_each([(info.name, one) for one in due])

    def record_due(self) -> Sequence[Recorded]:
        """Record the answers of those who have paused, or have given many, in all projects."""
        from tracker.projects.projects import list_projects
        from tracker.work.answering import drafts_due

        with self._ledger.database.read() as connection:
            due = drafts_due(connection)
            projects = list_projects(connection) if due else ()
        names = {project.id: project.name for project in projects}
        return self._record_each([(names[one.project_id], one) for one in due
                                  if one.project_id in names])  # fmt: skip

    def finish(self, project: str, annotator: str) -> Sequence[Recorded]:
        """Record somebody's answers that wait."""
        from tracker.projects.annotators import annotator_names, find_annotator
        from tracker.work.answering import drafts_due

        with self._ledger.reading(project) as (connection, info):
            own = {*find_annotator(connection, info, annotator).names}
            names = annotator_names(connection, info)
            due = drafts_due(connection, info.id, every=True)
        mine = [one for one in due if names[one.annotator_id] in own]
        return self._record_each([(info.name, one) for one in mine])

    def _record_each(self, due: Sequence[tuple[str, Due]]) -> list[Recorded]:
        """Record each one's drafts; those that are refused stay, and are told of at the end."""
        recorded, refused = [], None
        for project, drafts in due:
            try:
                recorded.append(self._record(project, drafts))
            except TrackerError as error:
                refused = refused or error
        if refused is not None:
            raise refused
        return recorded

    def _record(self, project: str, due: Due) -> Recorded:
        """Record drafts as an import, in one transaction."""
        from tracker.projects.annotators import annotator_names
        from tracker.readers.frames import CellsSource
        from tracker.work.answering import take_drafts

        with self._ledger.database.together(bulk=True):
            with self._ledger.writing(project) as (connection, info):
                columns = take_drafts(connection, info, due)
                name = annotator_names(connection, info)[due.annotator_id]
            number = None
            if columns:
                number = self._ledger.import_cells(CellsSource(columns, _NAME), project).id
        return Recorded(name, due.drafts, number)
