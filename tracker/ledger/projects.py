"""`ledger.projects`: the projects of a database and their settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tracker.ledger.namespaces import Namespace
from tracker.projects.project import ProjectInfo, ProjectOptions

__all__ = ["ProjectOptions", "ProjectSettings", "Projects"]


class ProjectSettings(NamedTuple):
    """A project, and the names of its categories in their order."""

    project: ProjectInfo
    categories: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON."""
        return self.project.to_dict() | {"categories": list(self.categories)}


class Projects(Namespace):
    """The projects of a database, each known by its name."""

    def create(self, name: str, options: ProjectOptions | None = None) -> ProjectInfo:
        """Create a project; raises InvalidOption for a name that is taken."""
        from tracker.projects.project import create_project

        with self._ledger.database.write() as connection:
            return create_project(connection, name, options)

    def list(self, *, archived: bool = False) -> Sequence[ProjectInfo]:
        """Return the projects by name; the archived ones only on request."""
        from tracker.projects.project import list_projects

        if self._ledger.is_missing:
            return []
        with self._ledger.database.read() as connection:
            return list_projects(connection, archived=archived)

    def find(self, name: str | None) -> ProjectInfo:
        """Return the project of a name, or the only one (None); raises NotFound."""
        with self._ledger.reading(name) as (_, project):
            return project

    def show(self, project: str) -> ProjectSettings:
        """Return a project's settings and its categories."""
        from tracker.projects.categories import category_names

        with self._ledger.reading(project) as (connection, found):
            return ProjectSettings(found, tuple(category_names(connection, found).values()))

    def set(
        self,
        project: str,
        *,
        wanted: int | None = None,
        scale: str | None = None,
        categories: Sequence[str] | None = None,
        opened: bool = False,
        dry_run: bool = False,
    ) -> ProjectSettings:
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
        from tracker.projects.project import find_project
        from tracker.projects.settings import set_project

        with self._ledger.database.write(keep=not dry_run) as connection:
            changed = set_project(
                connection,
                find_project(connection, project),
                wanted=wanted,
                scale=scale,
                categories=categories,
                opened=opened,
            )
            return ProjectSettings(changed, tuple(category_names(connection, changed).values()))

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
