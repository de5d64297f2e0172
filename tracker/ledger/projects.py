"""`ledger.projects`: the projects of a database and their settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tracker.ledger.namespaces import Namespace
from tracker.projects.project import ProjectInfo
from tracker.projects.question import QuestionInfo, QuestionOptions

__all__ = ["Projects", "QuestionOptions", "QuestionSettings"]


class QuestionSettings(NamedTuple):
    """A question, and the names of its categories in their order."""

    question: QuestionInfo
    categories: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON."""
        return self.question.to_dict() | {"categories": list(self.categories)}


class Projects(Namespace):
    """The projects of a database, each known by its name."""

    def create(self, name: str, options: QuestionOptions | None = None) -> QuestionInfo:
        """Create a project, and return its question; raises InvalidOption for a name in use."""
        from tracker.projects.question import create_project

        with self._ledger.database.write() as connection:
            return create_project(connection, name, options)

    def list(self, *, archived: bool = False) -> Sequence[QuestionInfo]:
        """Return the questions of projects by name; of archived ones only on request."""
        from tracker.projects.project import list_projects
        from tracker.projects.question import questions_of

        if self._ledger.is_missing:
            return []
        with self._ledger.database.read() as connection:
            projects = list_projects(connection, archived=archived)
            questions = questions_of(connection, projects)
            return [question for project in projects for question in questions[project.id]]

    def find(self, name: str | None) -> QuestionInfo:
        """Return the question of a project by name, or of the only one (None); raises NotFound."""
        with self._ledger.asking(name) as (_, question):
            return question

    def show(self, project: str) -> QuestionSettings:
        """Return a project's settings and its categories."""
        from tracker.projects.categories import category_names

        with self._ledger.asking(project) as (connection, found):
            return QuestionSettings(found, tuple(category_names(connection, found).values()))

    def set(
        self,
        project: str,
        *,
        wanted: int | None = None,
        scale: str | None = None,
        categories: Sequence[str] | None = None,
        opened: bool = False,
        dry_run: bool = False,
    ) -> QuestionSettings:
        """Change a project's settings, and return them; None leaves one as it is.

        Args:
            project: the project's name.
            wanted: answers that each item should get; 0 for no number.
            scale: how categories compare.
            categories: the only ones, in this order.
            opened: whether new categories are accepted again.
            dry_run: check the settings; store nothing.

        Raises InvalidOption for a setting that is none, Refused for one that contradicts the
        answers.
        """
        from tracker.projects.categories import category_names
        from tracker.projects.settings import set_question

        with self._ledger.changing(project, keep=not dry_run) as (connection, found):
            changed = set_question(
                connection,
                found,
                wanted=wanted,
                scale=scale,
                categories=categories,
                opened=opened,
            )
            return QuestionSettings(changed, tuple(category_names(connection, changed).values()))

    def rename(self, project: str, name: str) -> ProjectInfo:
        """Give a project another name; raises InvalidOption for one that is taken."""
        from tracker.projects.project import find_project, rename_project

        with self._ledger.writing(project) as (connection, found):
            rename_project(connection, found, name)
            return find_project(connection, name)

    def archive(self, project: str, *, restore: bool = False) -> ProjectInfo:
        """Take a project off the list of active ones, or put it back."""
        from tracker.projects.project import archive_project, find_project

        with self._ledger.writing(project) as (connection, found):
            archive_project(connection, found, archived=not restore)
            return find_project(connection, project)

    def delete(self, project: str) -> None:
        """Delete a project with everything in it, for good."""
        from tracker.projects.project import purge_project

        with self._ledger.writing(project) as (connection, found):
            purge_project(connection, found)
