"""Questions that an import made: gone after its undo, unless something else uses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from tracker.projects.project import ProjectInfo
from tracker.projects.question import (
    ONLY_QUESTION,
    QuestionInfo,
    every_question,
    name_question,
    update_question,
    vacant_questions,
)
from tracker.storage.facts import inherit_order, question_uses, record_question_use
from tracker.storage.schema import ANSWERS, OFFSETS, SCALES, FlagRow, Snapshot

UNDO = "undo"
"""The kind of change that undoes an import."""
_UNNAMED = {
    "answers": ANSWERS[0],
    "scale": SCALES[0],
    "offsets": OFFSETS[0],
    "categories_fixed": False,
    "target_answers": None,
}


class UsedQuestions(NamedTuple):
    """What becomes of the questions that an import made or used, if it is undone."""

    vacant: list[QuestionInfo]
    kept: list[QuestionInfo]  # for a snapshot or a finding of them
    heirs: dict[QuestionInfo, int]  # the next change that uses them

    def to_log(self) -> dict[str, Any]:
        """Return the settings of those that become vacant, for the change log."""
        told = [
            {"question": one.id, "name": one.name} | {name: getattr(one, name) for name in _UNNAMED}
            for one in self.vacant
        ]
        return {"questions": told} if told else {}


def questions_used(connection: Connection, project: ProjectInfo, change: int) -> UsedQuestions:
    """Return the questions that an import made or used, by what their undo leaves of them."""
    every = every_question(connection, project)
    uses = question_uses(connection, project.id)
    recorded = {
        number
        for table in (Snapshot, FlagRow)
        for number in connection.scalars(
            select(table.question_id).where(table.project_id == project.id).distinct()
        )
    }
    used = UsedQuestions([], [], {})
    for number, changes in uses.items():
        if change not in changes:
            continue
        others = [one for one in changes if one != change]
        if others:
            used.heirs[every[number]] = others[0]
        else:
            (used.kept if number in recorded else used.vacant).append(every[number])
    return used


def leave_questions(connection: Connection, used: UsedQuestions, change: int, undo: int) -> None:
    """Leave questions to what else uses them, while the change that is undone still stands.

    The order of categories that it declared stays with a question that stays.
    """
    for question in used.kept:
        record_question_use(connection, question.key, undo)
    for question, heir in (used.heirs | dict.fromkeys(used.kept, undo)).items():
        inherit_order(connection, question.key, change, heir)


def reset_empty_project(connection: Connection, project: ProjectInfo) -> None:
    """Make the first question of a project in which all are vacant one that nobody named."""
    every, vacant = every_question(connection, project), vacant_questions(connection, project)
    if len(vacant) == len(every):
        first = name_question(connection, vacant[0], ONLY_QUESTION)
        update_question(connection, first.key, _UNNAMED)


def settings_before_undo(detail: Mapping[str, Any], question: int) -> dict[str, Any]:
    """Return the settings that a question had before an undo left it vacant, if it did."""
    for told in detail.get("questions", ()):
        if told["question"] == question:
            return {name: told[name] for name in ("name", *_UNNAMED)}
    return {}
