"""`ledger.projects`: the projects of a database and their settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack, cast

from tracker.ledger.namespace import Namespace
from tracker.projects.projects import ProjectInfo
from tracker.projects.questions import QuestionInfo, QuestionOptions
from tracker.projects.settings import QuestionSettings

if TYPE_CHECKING:
    from tracker.counts.trail import Trail
    from tracker.ledger.imports import Reading

__all__ = ["Changing", "ProjectSettings", "Projects", "QuestionOptions", "QuestionSettings"]


class ProjectSettings(NamedTuple):
    """A project's questions, each with its categories."""

    questions: tuple[QuestionSettings, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON: those of the only question, or question by question."""
        if len(self.questions) == 1:
            return self.questions[0].to_dict()
        told = [
            {"question": one.question.name, **one.question.settings()}
            | {"categories": list(one.categories)}
            for one in self.questions
        ]
        return self.questions[0].question.project.to_dict() | {"questions": told}

    def import_keywords(self, names: Sequence[str] = ()) -> Reading:
        """Return the keywords with which exported labels are imported into another project.

        Labels of the questions of these names, of all for none.
        """
        from tracker.export.labels import import_keywords

        chosen = [
            (one.question, one.categories)
            for one in self.questions
            if not names or one.question.name in names
        ]
        return cast("Reading", import_keywords(chosen, named=len(self.questions) > 1))


class Changing(TypedDict, total=False):
    """The settings of a question to change; one left out, or None, stays as it is.

    Attributes:
        wanted: answers that each item should get; 0 for no number.
        scale: how categories compare.
        categories: the only ones, in this order.
        opened: whether new categories are accepted again.
    """

    wanted: int | None
    scale: str | None
    categories: Sequence[str] | None
    opened: bool


class Projects(Namespace):
    """The projects of a database, each known by its name."""

    def create(
        self, name: str, options: QuestionOptions | None = None, timezone: str | None = None
    ) -> QuestionInfo:
        """Create a project, and return its question; raises InvalidOption for a name in use.

        Its days begin in the time zone of that name; None for UTC.
        """
        from tracker.projects.questions import create_project

        with self._ledger.database.write() as connection:
            return create_project(connection, name, options, timezone=timezone)

    def list(self, *, archived: bool = False) -> Sequence[QuestionInfo]:
        """Return the questions of projects by name; of archived ones only on request."""
        from tracker.projects.projects import list_projects
        from tracker.projects.questions import questions_of

        if self._ledger.is_missing:
            return []
        with self._ledger.database.read() as connection:
            projects = list_projects(connection, archived=archived)
            questions = questions_of(connection, projects)
            return [question for project in projects for question in questions[project.id]]

    def find(self, name: str | None) -> ProjectInfo:
        """Return a project by name, or the only one (None); raises NotFound."""
        with self._ledger.reading(name) as (_, project):
            return project

    def show(self, project: str) -> QuestionSettings:
        """Return the settings and categories of a project that asks one question."""
        with self._ledger.asking(project) as (connection, found):
            return QuestionSettings.read(connection, found)

    def settings(self, project: str) -> ProjectSettings:
        """Return all questions of a project: their settings and categories."""
        from tracker.projects.questions import list_questions

        with self._ledger.reading(project) as (connection, found):
            questions = list_questions(connection, found)
            return ProjectSettings(
                tuple(QuestionSettings.read(connection, one) for one in questions)
            )

    def set(
        self,
        project: str,
        *,
        question: str | None = None,
        timezone: str | None = None,
        dry_run: bool = False,
        **settings: Unpack[Changing],
    ) -> QuestionSettings:
        """Change the settings of a project's question, and return them.

        Args:
            project: the project's name.
            question: the question's; None is the only one.
            timezone: the zone in which the project's days begin, such as Europe/Berlin.
            dry_run: check the settings; store nothing.
            settings: see `Changing`.

        Raises InvalidOption for a setting that is none, Refused for one that contradicts the
        answers.
        """
        from tracker.projects.projects import find_project, set_project_timezone
        from tracker.projects.questions import find_question, list_questions
        from tracker.projects.settings import set_question

        with self._ledger.database.write(keep=not dry_run) as connection:
            found = find_project(connection, project)
            if timezone is not None:
                found = set_project_timezone(connection, found, timezone)
                if question is None and not any(
                    one not in (None, False) for one in settings.values()
                ):
                    return QuestionSettings.read(connection, list_questions(connection, found)[0])
            asked = find_question(connection, found, question)
            return QuestionSettings.read(connection, set_question(connection, asked, **settings))

    def rename(self, project: str, name: str) -> ProjectInfo:
        """Give a project another name; raises InvalidOption for one that is taken."""
        from tracker.projects.projects import find_project, rename_project

        with self._ledger.writing(project) as (connection, found):
            rename_project(connection, found, name)
            return find_project(connection, name)

    def archive(self, project: str, *, restore: bool = False) -> ProjectInfo:
        """Take a project off the list of active ones, or put it back."""
        from tracker.projects.projects import archive_project, find_project

        with self._ledger.writing(project) as (connection, found):
            archive_project(connection, found, archived=not restore)
            return find_project(connection, project)

    def changes(
        self, project: str, limit: int | None = None, *, before: str | None = None
    ) -> Trail:
        """Return who changed what, the last act first; ``before`` is the ``next`` of a page.

        Raises InvalidOption for a ``before`` that is none.
        """
        from tracker.counts.trail import read_trail

        with self._ledger.reading(project) as (connection, found):
            return read_trail(connection, found, limit, before)

    def delete(self, project: str) -> None:
        """Delete a project with everything in it, for good."""
        from tracker.projects.projects import purge_project

        with self._ledger.writing(project) as (connection, found):
            purge_project(connection, found)


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
