"""A project's settings, changed: wanted answers, scale, the list of categories and its order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any

from sqlalchemy import Connection, insert, select, update

from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.projects.categories import (
    all_category_names,
    category_names,
    project_labels_by_category,
)
from tracker.projects.change_log import lock_project, record_change
from tracker.projects.lookup import category_unfit_for_scale, check_entered_name, near_names
from tracker.projects.project import ProjectInfo
from tracker.storage.facts import categories_with_facts, record_category_facts
from tracker.storage.schema import SCALES, Category, Change, Project

_SET, _ORDER = "set project", "order categories"
MERGE_CATEGORIES, SPLIT_CATEGORY = "merge categories", "split category"
FIGURES_CHANGE = (_SET, _ORDER, MERGE_CATEGORIES, SPLIT_CATEGORY)
"""The kinds of changes after which the same answers may have other figures."""


def set_project(
    connection: Connection,
    project: ProjectInfo,
    *,
    wanted: int | None = None,
    scale: str | None = None,
    categories: Sequence[str] | None = None,
    opened: bool = False,
) -> ProjectInfo:
    """Change a project's settings; None leaves one as it is. Returns the project as it is then.

    Args:
        connection: in a transaction that writes.
        project: as it is.
        wanted: answers that each item should get; 0 for no number.
        scale: how categories compare.
        categories: the only ones, in this order.
        opened: whether new categories are accepted again.

    Raises InvalidOption for a setting that is none, Refused for one that the answers contradict.
    """
    lock_project(connection, project.id)
    asked = _asked(wanted, scale, opened, listed=categories is not None)
    changed = replace(project, **asked)
    known = category_names(connection, project)
    listed = list(known.values()) if categories is None else _checked(categories)
    _check_scale(changed, listed)
    if categories is not None:
        _check_complete(connection, project, listed)
    same = categories is None or (project.closed and listed == list(known.values()))
    if changed == project and same:
        return project
    differing = {name: value for name, value in asked.items() if getattr(project, name) != value}
    detail = {"from": {name: getattr(project, name) for name in differing}, "to": differing}
    change, _ = record_change(connection, project.id, _SET, detail)
    if differing:
        connection.execute(update(Project).where(Project.id == project.id).values(**differing))
    if categories is not None:
        record_category_facts(
            connection, project.id, change, order=_numbered(connection, project, listed)
        )
    return changed


def _asked(wanted: int | None, scale: str | None, opened: bool, *, listed: bool) -> dict[str, Any]:
    """Return the columns to change; raises InvalidOption as `set_project` does."""
    if opened and listed:
        raise InvalidOption("--open and --categories contradict each other", "leave one out")
    asked: dict[str, Any] = {}
    if wanted is not None:
        if wanted < 0:
            raise InvalidOption(f"--wanted {wanted} is not a number of answers")
        asked["wanted"] = wanted or None
    if scale is not None:
        if scale not in SCALES:
            raise InvalidOption(
                f"--scale {scale!r} is none of {', '.join(SCALES)}", near_names(scale, SCALES)
            )
        asked["scale"] = scale
    if opened or listed:
        asked["closed"] = listed
    if not asked:
        raise InvalidOption("there is nothing to set", "such as: --wanted 3")
    return asked


def order_categories(
    connection: Connection, project: ProjectInfo, names: Sequence[str]
) -> list[str]:
    """Put a project's categories in an order, which ordinal scales go by; returns their names.

    Raises NotFound for a category that is not there, InvalidOption if one is left out.
    """
    lock_project(connection, project.id)
    listed = _checked(names)
    known = category_names(connection, project)
    by_name = {name: number for number, name in known.items()}
    for name in listed:
        if name not in by_name:
            raise NotFound(f"there is no category {name!r}", near_names(name, by_name))
    missing = [name for name in by_name if name not in listed]
    if missing:
        raise InvalidOption(
            f"the order leaves out {', '.join(map(repr, missing[:8]))}", "name every category"
        )
    if not (known.ordered and listed == list(known.values())):
        change, _ = record_change(connection, project.id, _ORDER, {})
        order = [by_name[name] for name in listed]
        record_category_facts(connection, project.id, change, order=order)
    return listed


def project_settings_then(
    connection: Connection, project: ProjectInfo, through: int | None
) -> ProjectInfo:
    """Return the project with the settings it had after a change; None for now."""
    if through is None:
        return project
    details = connection.scalars(
        select(Change.detail)
        .where(Change.project_id == project.id, Change.id > through, Change.kind == _SET)
        .order_by(Change.id.desc())
    )
    before: dict[str, Any] = {}
    for detail in details:
        before |= json.loads(detail)["from"]
    return replace(project, **before)


def settings_changed_since(
    connection: Connection, project_id: int, through: int, kinds: Iterable[str] = FIGURES_CHANGE
) -> bool:
    """Return whether a change after one may have given the same answers other figures."""
    found = select(Change.id).where(
        Change.project_id == project_id, Change.id > through, Change.kind.in_(tuple(kinds))
    )
    return connection.scalar(found.limit(1)) is not None


def _checked(names: Sequence[str]) -> list[str]:
    listed = [check_entered_name(name, "category") for name in names]
    if len(set(listed)) < len(listed):
        raise InvalidOption("the list names a category twice")
    if not listed:
        raise InvalidOption("the list names no category")
    return listed


def _check_scale(project: ProjectInfo, names: Sequence[str]) -> None:
    for name in names:
        unfit = category_unfit_for_scale(project.scale, name)
        if unfit is not None:
            raise Refused(
                f"the category {name!r} {unfit}", "choose another scale, or rename the category"
            )


def _check_complete(connection: Connection, project: ProjectInfo, listed: Sequence[str]) -> None:
    """Refuse a list that leaves out a category with answers."""
    used = categories_with_facts(connection, project.id)
    current: Mapping[int, str] = category_names(connection, project)
    missing = [name for number, name in current.items() if number in used and name not in listed]
    if missing:
        labels = project_labels_by_category(connection, project)[missing[0]]
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise Refused(
            f"the list leaves out {missing[0]!r} ({labels:,} labels){more}",
            "name it, or first: tracker category merge "
            f"{quote(project.name)} {quote(missing[0])} OTHER",
        )


def _numbered(connection: Connection, project: ProjectInfo, listed: Sequence[str]) -> list[int]:
    """Return the number of each category, made if it is new."""
    known = all_category_names(connection, project.id)
    free = max(known.values(), default=0) + 1
    new = [name for name in listed if name not in known]
    made = {name: free + n for n, name in enumerate(new)}
    if made:
        connection.execute(
            insert(Category),
            [{"project_id": project.id, "id": n, "name": name} for name, n in made.items()],
        )
    return [(known | made)[name] for name in listed]
