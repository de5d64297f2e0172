"""Figures that a server keeps as long as the answers stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from sqlalchemy import Connection

from tracker.core.kept import KEPT, MOMENT, KeptResults
from tracker.projects.projects import ProjectInfo, answers_revision

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def kept_with_answers(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Let a server keep what a function counts until a project's answers change.

    The function is of a connection and of a project, a question, several of one project, or a
    selection. What it returns depends on nothing beside them, its arguments and what
    `answers_revision` tells of, and nobody changes it. A command, which asks once, and a
    transaction that writes keep nothing.
    """

    @wraps(function)
    def keeping(*args: _Arguments.args, **keywords: _Arguments.kwargs) -> _Result:
        connection: Any
        about: Any
        connection, about, *more = args
        results: KeptResults | None = connection.info.get(KEPT)
        if results is None or any(map(_rests_on_flags, (*more, *keywords.values()))):
            return function(*args, **keywords)
        words = repr(
            (
                about,
                [*map(_without_question, more)],
                [(name, _without_question(keywords[name])) for name in sorted(keywords)],
            )
        )
        asked = (function.__qualname__, connection.info.get(MOMENT), words)
        revision = answers_revision(connection, _project_id_of(about))
        return results.get(asked, revision, lambda: function(*args, **keywords))

    return keeping


def keeps_results(connection: Connection) -> bool:
    """Return whether what is asked for is kept for others."""
    return connection.info.get(KEPT) is not None


def _project_id_of(about: Any) -> int:
    if isinstance(about, ProjectInfo):
        return about.id
    if isinstance(about, (list, tuple)):
        about = about[0]
    return int(getattr(about, "question", about).project_id)


def _without_question(argument: Any) -> Any:
    """Return a choice of answers, or what has one, without the question that it is about."""
    choice = getattr(argument, "filter", None)
    if choice is not None:
        return replace(argument, filter=_without_question(choice))
    return replace(argument, question=None) if hasattr(argument, "exclude_flagged") else argument


def _rests_on_flags(argument: Any) -> bool:
    """Return whether an argument is a choice that leaves out whom a finding is about."""
    return bool(getattr(getattr(argument, "filter", argument), "exclude_flagged", False))
