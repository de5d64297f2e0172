"""Annotators' competence by a model of truths and errors, on request."""

from __future__ import annotations

from sqlalchemy import Connection

from tracker import queries
from tracker.audit.statistics.dawid_skene import competence
from tracker.core.errors import InvalidOption
from tracker.projects.project import ProjectInfo

MOST_ANSWERS = 500_000
"""The model is fitted to who answered what on each item, in memory; not to more than this."""


def competences(connection: Connection, project: ProjectInfo) -> dict[int, float]:
    """The probability of a right answer by annotator id (`dawid_skene`).

    Raises InvalidOption for a project of spans, and for one of too many answers.
    """
    if project.answers == "spans":
        raise InvalidOption(f"{project.name!r} is a project of spans", "leave out --competence")
    selection = queries.select_answers(connection, project)
    answers = sum(
        number * items for number, items in queries.answers_per_item(connection, selection).items()
    )
    if answers > MOST_ANSWERS:
        raise InvalidOption(
            f"a model of {answers:,} answers takes too long; {MOST_ANSWERS:,} are the most",
            "leave out --competence",
        )
    return competence(queries.joint_patterns(connection, selection))
