"""`ledger.categories`: the categories of questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from tracker.core.operations import Option, operation
from tracker.counts.choosing import QuestionName
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project
from tracker.render.blocks import Column

if TYPE_CHECKING:
    from tracker.projects.categories import (
        CategoryLabels,
        CategoryOrder,
        MergedCategory,
        RenamedCategory,
        SplitCategory,
    )

_ONE = "/projects/{project}/categories/{category}"
Category = Annotated[str, Option("The category's name.")]


class Categories(Namespace):
    """The categories of questions, each known by its name; ``question`` may be left out for one.

    All methods raise NotFound for a category that the project does not have.
    """

    @operation(
        "category list", "GET /projects/{project}/categories", "listCategories",
        listing="categories",
        columns=(Column("category", kind="name"), Column("labels", kind="count")),
    )  # fmt: skip
    def list(self, project: Project, *, question: QuestionName = None) -> CategoryLabels:
        """List a project's categories in order, with the number of labels that stand.

        Example:
        - `tracker category list reviews`
        - `tracker category list rubric --question tone`

        Next: `tracker agreement reviews --best-merges`
        """
        from tracker.projects.categories import (
            CategoryLabels,
            LabelsOfCategory,
            project_labels_by_category,
        )

        with self._ledger.asking(project, question=question) as (connection, asked):
            labels = project_labels_by_category(connection, asked)
            rows = tuple(map(LabelsOfCategory, labels, labels.values()))
            return CategoryLabels(asked.project.name, asked.categories_fixed, rows)

    @operation("category order", "POST /projects/{project}/categories/order", "orderCategories")
    def order(
        self,
        project: Project,
        categories: Annotated[Sequence[str], Option("Every category, in order.", metavar="A,B,C")],
        *,
        question: QuestionName = None,
    ) -> CategoryOrder:
        """Set the order of the categories, by which ordinal scales rank them.

        Raises InvalidOption if one is left out.

        Example:
        - `tracker category order reviews negative,neutral,positive`

        Next: `tracker agreement reviews --scale ordinal`
        """
        from tracker.projects.categories import CategoryOrder
        from tracker.projects.settings import order_categories

        with self._ledger.changing(project, question) as (connection, asked):
            ordered = order_categories(connection, asked, categories)
            return CategoryOrder(asked.project.name, tuple(ordered))

    @operation(
        "category merge", f"POST {_ONE}/merge", "mergeCategory",
        question=lambda given: (
            None if given.dry_run else f"Merge {given.category!r} into {given.into!r}?"
        ),
    )  # fmt: skip
    def merge(
        self,
        project: Project,
        category: Category,
        into: Annotated[str, Option("The category that receives its answers.")],
        *,
        question: QuestionName = None,
        dry_run: Annotated[bool, Option("Say how many labels; store nothing.")] = False,
    ) -> MergedCategory:
        """Merge a category into another: its answers, past and to come, count as the other's.

        To undo: tracker category split. --known-at shows the state before.

        Example:
        - `tracker category merge reviews Positive positive`

        Next: `tracker agreement reviews`
        """
        from tracker.projects.categories import MergedCategory, merge_categories

        with self._ledger.changing(project, question, keep=not dry_run) as (connection, asked):
            labels = merge_categories(connection, asked, category, into)
            names = category.strip(), into.strip()
            return MergedCategory(asked.project.name, *names, labels, dry_run)

    @operation("category split", f"POST {_ONE}/split", "splitCategory")
    def split(
        self,
        project: Project,
        category: Annotated[str, Option("One that was merged.")],
        *,
        question: QuestionName = None,
    ) -> SplitCategory:
        """Take a merge back: the category has its own answers again.

        Example:
        - `tracker category split reviews Positive`

        Next: `tracker category list reviews`
        """
        from tracker.projects.categories import SplitCategory, split_category

        with self._ledger.changing(project, question) as (connection, asked):
            whose = split_category(connection, asked, category)
            return SplitCategory(asked.project.name, category.strip(), whose)

    @operation("category rename", f"POST {_ONE}/rename", "renameCategory")
    def rename(
        self,
        project: Project,
        category: Category,
        name: Annotated[str, Option("The new name.")],
        *,
        question: QuestionName = None,
    ) -> RenamedCategory:
        """Rename a category; its labels follow.

        Files that have the old name need --value OLD=NEW when they are imported.

        Raises InvalidOption for a name that is taken.

        Example:
        - `tracker category rename reviews pos positive`

        Next: `tracker category list reviews`
        """
        from tracker.projects.categories import RenamedCategory, rename_category

        with self._ledger.changing(project, question) as (connection, asked):
            rename_category(connection, asked, category, name)
            return RenamedCategory(asked.project.name, name.strip(), category.strip())
