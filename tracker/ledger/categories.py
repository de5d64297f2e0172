"""`ledger.categories`: what an answer can say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tracker.ledger.namespace import Namespace


class CategoryLabels(NamedTuple):
    """A project's categories in order, with the number of labels that stand: ``{name: labels}``.

    If the list is ``closed``, others are refused.
    """

    project: str
    closed: bool
    labels: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return the categories as JSON."""
        rows = [{"category": name, "labels": number} for name, number in self.labels.items()]
        return {"project": self.project, "closed": self.closed, "categories": rows}


class Categories(Namespace):
    """The categories of projects, each known by its name.

    All methods raise NotFound for a category that the project does not have.
    """

    def list(self, project: str) -> CategoryLabels:
        """Return a project's categories in order, with the number of their labels."""
        from tracker.projects.categories import labels_by_category

        with self._ledger.reading(project) as (connection, found):
            labels = labels_by_category(connection, found)
            return CategoryLabels(found.name, found.closed, labels)

    def order(self, project: str, names: Sequence[str]) -> Sequence[str]:
        """Set the order of all categories, by which ordinal scales rank them, and return it.

        Raises InvalidOption if one is left out.
        """
        from tracker.projects.settings import order_categories

        with self._ledger.writing(project) as (connection, found):
            return order_categories(connection, found, names)

    def merge(self, project: str, name: str, into: str, *, dry_run: bool = False) -> int:
        """Merge a category into another, and return how many labels that concerns.

        Its answers, past and to come, count as the other's.
        """
        from tracker.projects.category_merge import merge_categories
        from tracker.projects.project import find_project

        with self._ledger.database.write(keep=not dry_run) as connection:
            return merge_categories(connection, find_project(connection, project), name, into)

    def split(self, project: str, name: str) -> str:
        """Take a merge back: the category has its own answers again; return whose they were."""
        from tracker.projects.category_merge import split_category

        with self._ledger.writing(project) as (connection, found):
            return split_category(connection, found, name)

    def rename(self, project: str, name: str, new: str) -> None:
        """Rename a category; raises InvalidOption for a name that is taken."""
        from tracker.projects.categories import rename_category

        with self._ledger.writing(project) as (connection, found):
            rename_category(connection, found, name, new)
