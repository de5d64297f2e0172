"""Categories of a project: in order, counted, renamed."""

from __future__ import annotations

from sqlalchemy import Connection, func, select, update

from tracker.catalogue.changes import lock_project, record_change
from tracker.catalogue.names import check_name, is_numeric, near, unfit_for
from tracker.catalogue.projects import ProjectInfo
from tracker.errors import InvalidOption, NotFound, Refused
from tracker.schema import Category, Label

__all__ = ["category_names", "labels_by_category", "rename_category"]


def category_names(connection: Connection, project: ProjectInfo) -> dict[int, str]:
    """The project's categories, ``{id: name}``, in the declared or else the sorted order.

    A learnt list is sorted by number where every name is one, else by name.
    """
    rows = connection.execute(
        select(Category.id, Category.name)
        .where(Category.project_id == project.id, Category.id > 0)
        .order_by(Category.id)
    ).all()
    names = {row.id: str(row.name) for row in rows}
    if project.closed:
        return names
    numeric = all(is_numeric(name) for name in names.values())
    return dict(
        sorted(names.items(), key=lambda pair: (float(pair[1]) if numeric else 0.0, pair[1]))
    )


def rename_category(connection: Connection, project: ProjectInfo, old: str, new: str) -> None:
    """Give a category another name; its labels stay its labels.

    Raises NotFound for an unknown category, InvalidOption where the new name is taken.
    """
    new = check_name(new, "category")
    lock_project(connection, project.id)
    names = category_names(connection, project)
    number = next((n for n, name in names.items() if name == old.strip()), None)
    if number is None:
        raise NotFound(f"there is no category {old!r}", near(old, names.values()))
    if new in names.values():
        raise InvalidOption(f"the category {new!r} exists", "choose another name")
    unfit = unfit_for(project.scale, new)
    if unfit is not None:
        raise Refused(f"{new!r} {unfit}", "choose another name")
    connection.execute(
        update(Category)
        .where(Category.project_id == project.id, Category.id == number)
        .values(name=new)
    )
    record_change(
        connection, project.id, "rename category", {"category": number, "from": old, "to": new}
    )


def labels_by_category(connection: Connection, project: ProjectInfo) -> dict[str, int]:
    """How many labels of each category stand, whoever gave them, in the categories' order."""
    rows = connection.execute(
        select(Label.category_id, func.count().label("labels"))
        .where(Label.project_id == project.id)
        .group_by(Label.category_id)
    )
    labels = {row.category_id: row.labels for row in rows}
    return {
        name: labels.get(number, 0) for number, name in category_names(connection, project).items()
    }
