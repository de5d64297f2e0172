"""JSON documents of several results, as commands and the interface for programs give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # A list of projects takes its document from here, and loads nothing that counts for it.
    from tracker.history.status import Status


def status_as_json(
    statuses: Sequence[Status], verdict: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the status of a project: of its one question, or of each of several.

    The ``verdict`` is there if it was asked for.
    """
    about = dict(verdict or {})
    if len(statuses) == 1:
        return statuses[0].to_dict() | about
    questions = [{"question": status.question.name, **status.to_dict()} for status in statuses]
    return {"project": statuses[0].question.project.name, **about, "questions": questions}


def statuses_as_json(statuses: Iterable[Status]) -> dict[str, Any]:
    """Return the status of each project; the questions of one stand together."""
    projects = groupby(statuses, lambda one: one.question.project.id)
    return {"projects": [status_as_json(list(questions)) for _, questions in projects]}
