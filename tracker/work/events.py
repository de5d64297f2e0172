"""What webhooks are told of the work: who is paused, what is late, done or known well enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from tracker.core import clock
from tracker.projects.projects import ProjectInfo, list_projects
from tracker.projects.questions import QuestionInfo
from tracker.storage.database import Database
from tracker.sync.events import KEPT, REACHED, is_heard, tell_webhooks, untold_webhooks
from tracker.work.assignments_sql import (
    BatchCount,
    ended_batches,
    late_batches,
    rounds_closed,
)

_PAUSED, _LATE, _DONE = "annotator_paused", "assignments_late", "round_done"


def tell_of_pauses(
    connection: Connection, project: ProjectInfo, rules: Sequence[str | None]
) -> None:
    """Tell webhooks that people were paused, each by a rule, or by somebody."""
    by_rules = list(dict.fromkeys(rule for rule in rules if rule is not None))
    data = {"project": project.name, "paused": len(rules), "rules": by_rules}
    tell_webhooks(connection, project.id, _PAUSED, data)


def tell_of_goals(connection: Connection, questions: Sequence[QuestionInfo], snapshot: int) -> None:
    """Tell webhooks of the goals that are reached at a snapshot, once of each goal."""
    from tracker.plan.goal import goal_state

    for question in questions:
        about = {"question": question.name, "goal": question.goal}
        project = question.project
        if question.goal is None or not untold_webhooks(connection, project.id, REACHED, about):
            continue
        state = goal_state(connection, question)
        if state is not None and state.reached:
            figures = {"value": state.value, "half_width": state.half_width}
            data = {"project": project.name, "snapshot": snapshot, **about, **figures}
            tell_webhooks(connection, project.id, REACHED, data)


def tell_of_rounds(connection: Connection, project: ProjectInfo, change: int) -> None:
    """Tell webhooks of the rounds of which a change recorded the last answers."""
    if is_heard(connection, _DONE, project.id):
        for closed in rounds_closed(connection, project.id, change):
            tell_webhooks(connection, project.id, _DONE, _data(project, closed))


def tell_of_late(database: Database) -> None:
    """Tell webhooks of assignments that have become late of late, once of each batch."""
    now = clock.now()
    since = now - KEPT  # who was told is known as long
    with database.read() as connection:
        if not is_heard(connection, _LATE):
            return
        ended = ended_batches(connection, since, now)
        news: list[tuple[int, dict[str, Any]]] = []
        for project in list_projects(connection) if ended else ():
            untold = [
                batch for batch in ended.get(project.id, ())
                if untold_webhooks(connection, project.id, _LATE, {"batch": batch})
            ]  # fmt: skip
            late = late_batches(connection, project.id, untold) if untold else ()
            news += [(project.id, _data(project, batch)) for batch in late]
    if news:
        with database.write() as connection:
            for project_id, data in news:
                tell_webhooks(connection, project_id, _LATE, data, once=("batch",))


def _data(project: ProjectInfo, batch: BatchCount) -> dict[str, Any]:
    """Return what a message has of a batch: of people their number alone."""
    return {
        "project": project.name,
        "batch": batch.batch,
        "round": batch.round,
        "until": None if batch.until is None else clock.iso(batch.until),
        "annotators": batch.annotators,
        "assignments": batch.assignments,
    }
