"""The settings of a project and of its questions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from tracker.agreement.readiness import THRESHOLDS, thresholds_of
from tracker.web.forms import filled_lines
from tracker.web.identity import Role, needs
from tracker.web.request import AskedLedger, At, Place
from tracker.web.templating import page, see

router = APIRouter(include_in_schema=False)
_SCALES = ("nominal", "ordinal", "interval", "ratio")


class Setting(BaseModel):
    """What a form changes of a question.

    Attributes:
        wanted: answers that each item should get; 0 for no number.
        categories: all of them in their order, a line each; None leaves them as they are.
        closed: whether no other category is accepted.
    """

    question: str
    scale: str
    wanted: Annotated[int, Field(ge=0, le=10**6)] = 0
    categories: str | None = None
    closed: bool = False
    goal: str = ""
    deadline: str = ""
    instructions: Annotated[str, Field(max_length=20_000)] = ""
    also_asks: list[str] = Field(default_factory=list, max_length=10)


@router.get("/projects/{project:name}/settings", dependencies=[needs(Role.VIEWER)])
def settings_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    found = asked.ledger.projects.settings(place.project)
    return page(
        request, "settings.html", place=place, tab="settings", questions=found.questions,
        scales=_SCALES, archived=found.project.archived_at is not None, project=found.project,
        own_thresholds=thresholds_of(found.project),
        notes=[one.to_dict() for one in asked.ledger.notes.list(place.project)],
    )  # fmt: skip


@router.post("/projects/{project:name}/settings", dependencies=[needs(Role.MANAGER)])
def set_question(
    request: Request, place: At, asked: AskedLedger, form: Annotated[Setting, Form()]
) -> RedirectResponse:
    ledger = asked.ledger
    now = ledger.questions.show(place.project, form.question)
    names = list(now.categories) if form.categories is None else filled_lines(form.categories)
    question, fixed = now.question, now.question.categories_fixed
    if (form.goal, form.deadline) != (question.goal or "", question.deadline or ""):
        deadline = form.deadline if form.goal else ""
        ledger.questions.set(place.project, form.question, goal=form.goal, deadline=deadline)
    ledger.questions.set(
        place.project, form.question,
        instructions=form.instructions.replace("\r\n", "\n"), also_asks=",".join(form.also_asks),
    )  # fmt: skip
    if form.closed:
        listed = names if not fixed or names != list(now.categories) else None
        ledger.questions.set(
            place.project, form.question, scale=form.scale, wanted=form.wanted, categories=listed
        )
    else:
        ledger.questions.set(
            place.project, form.question, scale=form.scale, wanted=form.wanted, opened=fixed
        )
        if names != list(now.categories):
            ledger.categories.order(place.project, names, question=form.question)
    return see(request, place, "settings")


class NewQuestion(BaseModel):
    """What a form says of a new question."""

    name: str = ""
    answers: str | None = None
    scale: str | None = None


@router.post("/projects/{project:name}/settings/questions", dependencies=[needs(Role.MANAGER)])
def add_question(
    request: Request, place: At, asked: AskedLedger, form: Annotated[NewQuestion, Form()]
) -> RedirectResponse:
    asked.ledger.questions.add(place.project, form.name, answers=form.answers, scale=form.scale)
    return see(request, place, "settings")


@router.post("/projects/{project:name}/settings/name", dependencies=[needs(Role.MANAGER)])
def rename_project(
    request: Request, place: At, asked: AskedLedger, name: Annotated[str, Form()] = ""
) -> RedirectResponse:
    made = asked.ledger.projects.rename(place.project, name)
    return see(request, Place(made.project.name), "settings")


class OfProject(BaseModel):
    """What a form changes of a project; see `choosing.OfProject`."""

    timezone: str = ""
    tentative_from: float = THRESHOLDS[0]
    good_from: float = THRESHOLDS[1]
    item_link: str = ""
    media_hosts: str = ""


@router.post("/projects/{project:name}/settings/project", dependencies=[needs(Role.MANAGER)])
def set_project(
    request: Request, place: At, asked: AskedLedger, form: Annotated[OfProject, Form()]
) -> RedirectResponse:
    asked.ledger.projects.set(
        place.project, timezone=form.timezone, tentative_from=form.tentative_from,
        good_from=form.good_from, item_link=form.item_link, media_hosts=form.media_hosts.split(),
    )  # fmt: skip
    return see(request, place, "settings")


@router.post("/projects/{project:name}/settings/archive", dependencies=[needs(Role.MANAGER)])
def archive_project(
    request: Request, place: At, asked: AskedLedger, restore: Annotated[bool, Form()] = False
) -> RedirectResponse:
    asked.ledger.projects.archive(place.project, restore=restore)
    return see(request, place, "settings")


@router.post("/projects/{project:name}/settings/notes", dependencies=[needs(Role.MANAGER)])
def add_note(
    request: Request,
    place: At,
    asked: AskedLedger,
    text: Annotated[str, Form()] = "",
    at: Annotated[str, Form()] = "",
) -> RedirectResponse:
    asked.ledger.notes.add(place.project, text, at.strip() or None)
    return see(request, place, "settings")
