"""Items about which annotators differ, one after the other: who decides, why, and what then."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from tracker.core.errors import InvalidOption, Refused, TrackerError
from tracker.web.errors import error_status
from tracker.web.identity import Role, needs
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page, see

router = APIRouter(include_in_schema=False)
_AHEAD = 20
"""Items that are looked for at once."""
_MOST_BUTTONS = 30
REASONS = {
    "ambiguous": "a", "guideline gap": "g", "annotator error": "e", "not in the scheme": "n",
}  # fmt: skip
"""Why answers differ, each with its key."""


class Choice(BaseModel):
    """Which item to show: the first of a question, or the one named."""

    question: str = ""
    item: str = ""
    done: str = ""


class Deciding(BaseModel):
    """What was decided, and which decision the form had shown."""

    question: str = ""
    item: str
    category: list[str] = Field(default_factory=list, max_length=100)
    reason: str = ""
    note: str = ""
    replaces: int | None = None
    action: Literal["decide", "undo"] = "decide"


@router.get("/projects/{project:name}/adjudicate", dependencies=[needs(Role.VIEWER)])
def adjudicate_page(
    request: Request, place: At, asked: AskedLedger, choice: Annotated[Choice, Query()]
) -> HTMLResponse:
    return _desk(request, place, asked, choice)


def _desk(
    request: Request, place: Place, asked: Asked, choice: Choice,
    form: Deciding | None = None, error: TrackerError | None = None,
) -> HTMLResponse:  # fmt: skip
    settings = asked.ledger.projects.settings(place.project).questions
    names = [setting.question.name for setting in settings]
    question = choice.question or names[0]
    of_question = asked.ledger.questions.show(place.project, question)
    listed = asked.figure(
        place.project, "contested", question,
        compute=lambda it: it.adjudication.list(place.project, question=question, limit=_AHEAD),
    )  # fmt: skip
    waiting = [one.item for one in listed.items if one.item != choice.done]
    name = choice.item or next(iter(waiting), "")
    shown = done = None
    if name:
        shown = asked.ledger.adjudication.show(place.project, name, question=question)
    if choice.done:
        done = asked.ledger.adjudication.show(place.project, choice.done, question=question)
    at = waiting.index(name) + 1 if name in waiting else 0
    return page(
        request, "adjudicate.html", place=place, tab="items", choice=choice, question=question,
        questions=names, item=shown, done=done, following=next(iter(waiting[at:]), None),
        categories=of_question.categories, answers=of_question.question.answers,
        as_buttons=len(of_question.categories) <= _MOST_BUTTONS,
        reasons=REASONS, form=form, error=error,
        status=200 if error is None else error_status(error),
    )  # fmt: skip


@router.post("/projects/{project:name}/adjudicate", dependencies=[needs(Role.MANAGER)])
def decide(
    request: Request, place: At, asked: AskedLedger, form: Annotated[Deciding, Form()]
) -> Response:
    """Decide about an item, or take that back, and show the next one."""
    choice, of = Choice(question=form.question, item=form.item), form.question or None
    adjudication = asked.ledger.adjudication
    if form.action == "undo":
        adjudication.undo(place.project, form.item, question=of)
        return see(request, place, "adjudicate", **choice.model_dump(exclude={"done"}))
    try:
        adjudication.decide(
            place.project, form.item, [name for name in form.category if name],
            reason=form.reason, note=form.note, question=of, replaces=form.replaces,
        )  # fmt: skip
    except (InvalidOption, Refused) as error:  # shown again, so that the note is not lost
        if isinstance(error, Refused):  # somebody else decided it meanwhile; now the form knows
            error.mend = "to decide it once more, send the form again"
        return _desk(request, place, asked, choice, form, error)
    return see(request, place, "adjudicate", question=of, done=form.item)
