"""A database that is open: one transaction at a time, one project in it."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Self

from sqlalchemy import Connection

from tracker.core.errors import InvalidOption
from tracker.projects.projects import ProjectInfo, find_project
from tracker.projects.questions import QuestionInfo, find_question, find_questions
from tracker.storage.database import Database

if TYPE_CHECKING:
    from tracker.counts.filter import AnswerFilter
    from tracker.storage.as_of import Moment


DEFAULT_DATABASE = "sqlite:///tracker.db"


def ledger_database_url(given: str | None) -> str:
    """Return the URL that is given, or the environment's, or that of a file in this folder."""
    return given or os.environ.get("TRACKER_DATABASE_URL") or DEFAULT_DATABASE


class Transactions:
    """One database of projects, by its URL, read and changed a transaction at a time."""

    def __init__(self, url: str, notice: Callable[[str], None] = lambda _: None) -> None:
        """``notice`` is called with a sentence for each reservation about a result."""
        self.database = Database(url)
        self.notice = notice

    def acting_for(self, name: str | None) -> Self:
        """Return the same ledger as a user changes it: the change log names them."""
        _ = self.database.engine  # both have the one that there is
        ledger = copy.copy(self)
        ledger.database = copy.copy(self.database)
        ledger.database.by = name
        return ledger

    def count_with(self, engine: str | None = None) -> Self:
        """Choose what counts (`engines`), else what the environment names, else by itself.

        Raises InvalidOption for an unknown engine, Refused for one that is not installed.
        """
        from tracker.engines.choose import AUTO, DUCKDB, make_engine
        from tracker.lake.choose import check_file_engine, is_master

        name = engine or os.environ.get("TRACKER_ENGINE") or AUTO
        if name == DUCKDB or is_master(name):
            self.database.engine_of_files = check_file_engine(name)
            name = name if name == DUCKDB else AUTO
        self.database.engine_of_counts = make_engine(name)
        return self

    @property
    def is_missing(self) -> bool:
        """Whether there is no file yet, so that there is no project to look for.

        Raises DatabaseUnusable if its path cannot be that of a database.
        """
        _ = self.database.engine
        return self.database.file is not None and not self.database.file.exists()

    def revision(self, project: str) -> str:
        """Return the revision of a project: another one after every change; raises NotFound."""
        from tracker.projects.projects import project_revisions

        with self.reading(project) as (connection, info):
            return project_revisions(connection, info.id)[info.name]

    def revisions(self) -> dict[str, str]:
        """Return the revision of each project by its name."""
        from tracker.projects.projects import project_revisions

        with self.database.read() as connection:
            return project_revisions(connection)

    @contextmanager
    def reading(self, project: str | None) -> Iterator[tuple[Connection, ProjectInfo]]:
        """A connection that sees one state, and the project (None: the only one)."""
        with self.database.read() as connection:
            info = find_project(connection, project)
            yield self._over_files(connection, info), info

    def _over_files(self, connection: Connection, project: ProjectInfo) -> Connection:
        """The connection that reads a project's labels: the same, unless they lie in files."""
        if project.labels_at is None:
            return connection
        from tracker.lake.connection import lake_connection

        engine = self.database.engine_of_files
        return lake_connection(connection, project, engine, self.notice)

    @contextmanager
    def asking(
        self,
        project: str | None,
        choice: AnswerFilter | None = None,
        *,
        question: str | None = None,
    ) -> Iterator[tuple[Connection, QuestionInfo]]:
        """A connection that sees one state, and the question that a choice of answers is about.

        The question is the choice's, or the one named, or the only one. The state is that of a
        choice with a moment; `notice` gets the reservations about it.
        """
        name = question if choice is None else choice.question
        state = self._asking(project, choice, lambda held, of: [find_question(held, of, name)])
        with state as (connection, [about]):
            yield connection, about

    def asking_each(
        self, project: str | None, choice: AnswerFilter | None = None, names: Sequence[str] = ()
    ) -> AbstractContextManager[tuple[Connection, list[QuestionInfo]]]:
        """Return a connection as `asking` gives it, and the questions of these names.

        Without names, the question of the choice, or all.
        """
        if not names and choice is not None and choice.question is not None:
            names = [choice.question]
        return self._asking(project, choice, lambda held, of: find_questions(held, of, names))

    @contextmanager
    def _asking(
        self,
        project: str | None,
        choice: AnswerFilter | None,
        find: Callable[[Connection, ProjectInfo], list[QuestionInfo]],
    ) -> Iterator[tuple[Connection, list[QuestionInfo]]]:
        """A connection that sees the state of a choice, and the questions found, as set then."""
        with self.reading(project) as (connection, info):
            if choice is None:
                yield connection, find(connection, info)
                return
            from tracker.projects.questions import questions_asked_then
            from tracker.projects.settings import question_settings_then
            from tracker.storage.as_of import as_it_was

            moment = self.moment_of(connection, info, choice)
            asked = None
            if moment.through is not None:
                asked = questions_asked_then(connection, info, moment.through)
            with as_it_was(connection, info.id, moment):
                questions = self._known(find(connection, info), asked)
                yield (
                    connection,
                    [
                        question_settings_then(connection, question, moment.through)
                        for question in questions
                    ],
                )

    def _known(
        self, questions: list[QuestionInfo], asked: Collection[int] | None
    ) -> list[QuestionInfo]:
        """The questions that were asked then, by number; `notice` is told of the others.

        Raises InvalidOption if none was.
        """
        if asked is None:
            return questions
        known = [question for question in questions if question.id in asked]
        names = ", ".join(repr(question.name) for question in questions if question not in known)
        if not known:
            raise InvalidOption(f"{names}: not asked then", "name a later --known-at")
        if names:
            self.notice(f"left out, because it was not asked then: {names}")
        return known

    def question_names(self, project: str) -> list[str]:
        """Return the names of a project's questions in the order in which they were made."""
        with self.asking_each(project) as (_, questions):
            return [question.name for question in questions]

    def moment_of(
        self, connection: Connection, project: ProjectInfo, choice: AnswerFilter
    ) -> Moment:
        """The state that a choice means; `notice` gets the reservations about it."""
        from tracker.storage.as_of import as_of_caveats, moment_as_of

        choice = choice.in_zone(project.timezone)
        moment = moment_as_of(connection, project.id, choice.as_of, choice.known_at)
        for sentence in as_of_caveats(connection, project.id, moment):
            self.notice(sentence)
        return moment

    @contextmanager
    def writing(
        self, project: str | None, *, keep: bool = True
    ) -> Iterator[tuple[Connection, ProjectInfo]]:
        """A connection in one transaction, undone unless ``keep``, and the project.

        None stands for the only one.
        """
        with self.database.write(keep=keep) as connection:
            info = find_project(connection, project)
            yield self._over_files(connection, info), info

    @contextmanager
    def changing(
        self, project: str | None, question: str | None = None, *, keep: bool = True
    ) -> Iterator[tuple[Connection, QuestionInfo]]:
        """A connection in one transaction, undone unless ``keep``, and a question.

        It is the one named, or the only one.
        """
        with self.writing(project, keep=keep) as (connection, info):
            yield connection, find_question(connection, info, question)
