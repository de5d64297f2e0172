"""Which questions a project asked at an earlier time."""

from __future__ import annotations

import json
from typing import cast

from sqlalchemy import Connection, Table, and_, case, func, or_, select

from tracker.projects.project import ProjectInfo
from tracker.projects.question import FIRST, every_question
from tracker.storage.facts import CATEGORY
from tracker.storage.schema import NONE_APPLIES, CategoryFact, Change, Import

_facts = cast("Table", CategoryFact.__table__)


def questions_asked_then(connection: Connection, project: ProjectInfo, through: int) -> set[int]:
    """Return the numbers of the questions that a project asked after a change.

    A question is asked from the change that added it; one that an import made, while an import
    that speaks of it is not undone. The first is asked as long as there is a project.
    """
    questions = every_question(connection, project)
    project_id = project.id
    added = {
        json.loads(row.detail)["question"]: row.id
        for row in connection.execute(
            select(Change.id, Change.detail).where(
                Change.project_id == project_id, Change.kind == "add question"
            )
        )
    }
    stood = and_(
        _facts.c.change_id <= through,
        or_(Import.undone_by.is_(None), Import.undone_by > through),
    )
    imports = and_(Import.project_id == _facts.c.project_id, Import.change_id == _facts.c.change_id)
    spoken = {
        row.question_id: bool(row.stood)
        for row in connection.execute(
            select(_facts.c.question_id, func.max(case((stood, 1), else_=0)).label("stood"))
            .outerjoin(Import, imports)
            .where(
                _facts.c.project_id == project_id,
                _facts.c.category_id == NONE_APPLIES,
                _facts.c.role == CATEGORY,
            )
            .group_by(_facts.c.question_id)
        )
    }
    return {
        one
        for one in questions
        if one == FIRST or (added[one] <= through if one in added else spoken.get(one, True))
    }
