"""`ledger.questions`: what projects ask, each question known by its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from tracker.ledger.namespaces import Namespace
from tracker.ledger.projects import Changing, Projects, QuestionSettings
from tracker.projects.questions import QuestionInfo, QuestionOptions


class Questions(Namespace):
    """The questions of projects; all methods raise NotFound for one that is not asked."""

    def list(self, project: str) -> Sequence[QuestionInfo]:
        """Return a project's questions in the order in which they were made."""
        from tracker.projects.questions import list_questions

        with self._ledger.reading(project) as (connection, found):
            return list_questions(connection, found)

    def show(self, project: str, name: str | None = None) -> QuestionSettings:
        """Return how a question is answered, and its categories; None is the only one."""
        with self._ledger.asking(project, question=name) as (connection, found):
            return QuestionSettings.read(connection, found)

    def add(self, project: str, name: str, options: QuestionOptions | None = None) -> QuestionInfo:
        """Add a question to a project, and return it.

        Raises InvalidOption for a name that is taken, and for options that are not valid.
        """
        from tracker.projects.questions import add_question

        with self._ledger.writing(project) as (connection, found):
            return add_question(connection, found, name, options or QuestionOptions())

    def rename(self, project: str, name: str, new: str) -> QuestionInfo:
        """Give a question another name, and return it; raises InvalidOption for one taken."""
        from tracker.projects.questions import rename_question

        with self._ledger.changing(project, name) as (connection, found):
            return rename_question(connection, found, new)

    def set(
        self,
        project: str,
        name: str | None = None,
        *,
        dry_run: bool = False,
        **settings: Unpack[Changing],
    ) -> QuestionSettings:
        """Change a question's settings, and return them; None is the only question.

        As `Projects.set` does.
        """
        return Projects(self._ledger).set(project, question=name, dry_run=dry_run, **settings)
