"""Goals: how far a figure is from being as certain as is wanted, and whether it will be in time."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from tracker.agreement.query import Query
from tracker.core.errors import InvalidOption
from tracker.core.results import Record
from tracker.measures.words import measure_title_words
from tracker.plan.plan import Costs, half_width_text, make_plan
from tracker.projects.goals import read_want
from tracker.projects.questions import QuestionInfo


@dataclass(frozen=True)
class GoalState(Record):
    """How far a goal of a question is.

    Attributes:
        question: the question's name.
        measure: the figure.
        wanted: the half-width that its interval shall have.
        deadline: the day by which; None for no day.
        value: the figure now; None if it has no interval yet.
        half_width: half the width of its interval now, likewise.
        reached: whether it is as certain as is wanted.
        answers: those to collect by the cheapest way; None if there is no way.
        ready_on: the day on which they are there at the pace of today; None if nothing says so.
        on_track: whether that is in time; None without a deadline, or if nothing says so.
        why: all of this in a sentence.
    """

    question: str
    measure: str
    wanted: float
    deadline: str | None
    value: float | None
    half_width: float | None
    reached: bool
    answers: int | None
    ready_on: str | None
    on_track: bool | None
    why: str


def goal_state(connection: Connection, question: QuestionInfo) -> GoalState | None:
    """Return how far the goal of a question is; None if it has none."""
    if question.goal is None:
        return None
    want, deadline = read_want(question.goal), question.deadline
    title = plan_figure_title(want.name)
    wanted = f"{title} is to be known to ±{want.half_width:g}"
    if deadline is not None:
        wanted += f" by {deadline}"

    def state(
        *figures: float | None,
        reached: bool = False,
        answers: int | None = None,
        ready_on: str | None = None,
        on_track: bool | None = None,
        why: str,
    ) -> GoalState:
        value, half_width = figures or (None, None)
        return GoalState(question.name, want.name, want.half_width, deadline, value, half_width,
                         reached, answers, ready_on, on_track, f"{wanted}: {why}.")  # fmt: skip

    try:
        plan = make_plan(connection, question, Query(), want, Costs(None, 1))
    except InvalidOption as error:
        return state(why=error.message)
    now = plan.now.value, plan.now.half_width
    is_at = f"it is {half_width_text(plan.now.half_width)}"
    if plan.reached:
        return state(*now, reached=True, on_track=None if deadline is None else True,
                     why=f"{is_at}, so that is reached")  # fmt: skip
    if not plan.ways:
        return state(*now, on_track=None if deadline is None else False,
                     why=f"{is_at}, and no number of answers leads there")  # fmt: skip
    way = plan.ways[0]
    more = f"{is_at}, {way.answers:,} answers more are needed"
    if way.ready_on is None:
        return state(*now, answers=way.answers, why=f"{more}, and none came of late")
    more += f", there on {way.ready_on} at the pace of now"
    on_track = None if deadline is None else way.ready_on <= deadline
    verdict = "" if deadline is None else ", in time" if on_track else ", too late"
    return state(*now, answers=way.answers, ready_on=way.ready_on, on_track=on_track,
                 why=more + verdict)  # fmt: skip


def plan_figure_title(name: str) -> str:
    """Return what the figure of a plan is called: "Krippendorff's alpha", "share of positive"."""
    kind, _, category = name.partition(":")
    return f"{kind} of {category}" if category else measure_title_words(kind)
