"""Categories."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Response

from tracker.web.api.bodies.records import (
    Categories,
    CategoryOrder,
    MergedCategory,
    RenamedCategory,
    SplitCategory,
)
from tracker.web.api.bodies.requests import MergeCategory, NewName, Order
from tracker.web.api.parameters import Question
from tracker.web.api.routing import Answer, reads, resource, writes

router = resource("records")


@router.get("/projects/{project:segment}/categories", **reads("listCategories", Categories))
def list_categories(answer: Answer, project: str, question: Question = None) -> Response:
    """Return a question's categories with the number of labels; `tracker category list P`."""
    return answer.figure(
        project, lambda ledger: ledger.categories.list(project, question=question).to_dict()
    )


_ALL = "/projects/{project:segment}/categories"
_ONE = f"{_ALL}/{{category:segment}}"
Category = Annotated[str, Path(description="The category's name.")]


@router.post(f"{_ALL}/order", **writes("orderCategories", CategoryOrder))
def order_categories(
    answer: Answer, project: str, sent: Order, question: Question = None
) -> Response:
    """Set the order by which ordinal scales rank; `tracker category order P A,B,C`."""
    listed = answer.ledger.categories.order(project, sent.categories, question=question)
    return answer.done({"project": project, "categories": listed})


@router.post(f"{_ONE}/merge", **writes("mergeCategory", MergedCategory))
def merge_category(
    answer: Answer, project: str, category: Category, sent: MergeCategory, question: Question = None
) -> Response:
    """Merge a category into another; `tracker category merge P CATEGORY INTO`."""
    labels = answer.ledger.categories.merge(
        project, category, sent.into, question=question, dry_run=sent.dry_run
    )
    told = {"category": category.strip(), "into": sent.into.strip(), "labels": labels}
    return answer.done({"project": project, **told})


@router.post(f"{_ONE}/split", **writes("splitCategory", SplitCategory))
def split_category(
    answer: Answer, project: str, category: Category, question: Question = None
) -> Response:
    """Take a merge back: the category has its own answers again; `tracker category split`."""
    whose = answer.ledger.categories.split(project, category, question=question)
    return answer.done({"project": project, "category": category.strip(), "from": whose})


@router.post(f"{_ONE}/rename", **writes("renameCategory", RenamedCategory))
def rename_category(
    answer: Answer, project: str, category: Category, sent: NewName, question: Question = None
) -> Response:
    """Rename a category; its labels follow; `tracker category rename P CATEGORY NAME`."""
    answer.ledger.categories.rename(project, category, sent.name, question=question)
    return answer.done({"project": project, "category": sent.name.strip()})
