"""Goals of questions: which figure is to be known how well, and by when."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

from sqlalchemy import Connection

from tracker.core.errors import InvalidOption
from tracker.projects.categories import find_category
from tracker.projects.names import near_names
from tracker.projects.projects import record_change
from tracker.projects.questions import QuestionInfo, update_question

SET_GOAL = "set goal"
_OF_CATEGORY = ("rate", "share")
_FORM = re.compile(r"\s*(?P<name>.+?)\s*(?:\+-|\+/-|±)\s*(?P<half>\S+)\s*")
_MEND = "such as: 'alpha +-0.05', 'rate:positive +-0.05', 'share:positive +-0.03'"


class Want(NamedTuple):
    """How well a figure is to be known.

    Attributes:
        measure: a measure's name, "rate" or "share".
        category: of a rate or a share.
        half_width: half the width of the interval.
    """

    measure: str
    category: str | None
    half_width: float

    @property
    def name(self) -> str:
        """What the figure is called."""
        return self.measure if self.category is None else f"{self.measure}:{self.category}"

    def __str__(self) -> str:
        return f"{self.name} +-{self.half_width:g}"


def read_want(text: str, option: str = "--want") -> Want:
    """Return what a text wants to be known; raises InvalidOption."""
    from tracker.measures.citations import full_measure_name

    match = _FORM.fullmatch(text)
    if match is None:
        raise InvalidOption(f"{option} {text!r} is not a figure and its half-width", _MEND)
    try:
        half_width = float(match["half"])
    except ValueError:
        raise InvalidOption(f"{option}: {match['half']!r} is not a number", _MEND) from None
    if not 0 < half_width < 1:
        raise InvalidOption(f"{option} {text!r}: a half-width is between 0 and 1", _MEND)
    kind, _, category = match["name"].partition(":")
    if category:
        if kind not in _OF_CATEGORY:
            raise InvalidOption(f"{option} {text!r}: no figure of a category is {kind!r}", _MEND)
        return Want(kind, category.strip(), half_width)
    return Want(full_measure_name(match["name"]), None, half_width)


def set_goal(
    connection: Connection, question: QuestionInfo, goal: str | None, deadline: str | None
) -> QuestionInfo:
    """Set how well a figure is to be known, and by when; "" is none, None leaves it as it is.

    Raises InvalidOption for a goal or a date that is none, NotFound for a category that is none.
    """
    columns: dict[str, Any] = {}
    if goal is not None:
        columns["goal"] = _checked_goal(connection, question, goal) if goal.strip() else None
        if columns["goal"] is None:
            columns["deadline"] = None
    if deadline is not None:
        columns["deadline"] = _checked_date(deadline) if deadline.strip() else None
    changed = replace(question, **columns)
    if changed.deadline is not None and changed.goal is None:
        raise InvalidOption("--deadline is of a goal, and there is none", "set --goal, too")
    if changed != question:
        before, after = goal_in_words(question), goal_in_words(changed)
        detail = {"question": question.id, "from": before, "to": after}
        record_change(connection, question.project_id, SET_GOAL, detail)
        update_question(connection, question.key, columns)
    return changed


def _checked_goal(connection: Connection, question: QuestionInfo, text: str) -> str:
    want = read_want(text, "--goal")
    if want.category is not None:
        find_category(connection, question, want.category)
    else:
        from tracker.measures.citations import SHORT_NAMES
        from tracker.measures.registry import MEASURES

        if want.measure not in MEASURES or question.answers not in MEASURES[want.measure].answers:
            short = [name for name, full in SHORT_NAMES.items() if full in MEASURES]
            fitting = [name for name in MEASURES if question.answers in MEASURES[name].answers]
            mend = (
                near_names(want.measure, [*fitting, *short]) or f"these fit: {', '.join(fitting)}"
            )
            raise InvalidOption(f"--goal: {want.measure!r} is no measure of this question", mend)
    return str(want)


def _checked_date(text: str) -> str:
    try:
        return str(date.fromisoformat(text.strip()))
    except ValueError:
        raise InvalidOption(f"--deadline {text!r} is not a date", "such as: 2026-12-31") from None


def goal_in_words(question: QuestionInfo) -> str:
    """Return the goal of a question with its day."""
    by = "" if question.deadline is None else f" by {question.deadline}"
    return "none" if question.goal is None else f"{question.goal}{by}"
