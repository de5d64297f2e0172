"""Who is to answer which items, and how far they are."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from tracker.compare.tables import compared_columns, compared_rows
from tracker.core.errors import InvalidOption, TrackerError
from tracker.judge.asking import ESTIMATE
from tracker.ledger.assignments import PROGRESS, assigned_sentences
from tracker.ledger.rounds import ROUNDS
from tracker.web.errors import error_status
from tracker.web.identity import Role, needs
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page, page_links, see
from tracker.work.choosing import OVERLAP, PREFER

router = APIRouter(include_in_schema=False)
_ALL = "/projects/{project:name}/assignments"
_PREFER = [word for word in PREFER if word != ESTIMATE]  # the form has no model to name


class NewAssignments(BaseModel):
    """What a form says of items to assign; see `tracker.work.choosing.Assigning`."""

    to: list[str] = Field(default_factory=list, max_length=10_000)
    others: str = ""
    question: str = ""
    answers: Annotated[int, Field(ge=1, le=100)] | None = None
    per_annotator: Annotated[int, Field(ge=1, le=10**6)] | None = None
    percent_gold: Annotated[float, Field(ge=0, le=50)] = 0
    percent_repeated: Annotated[float, Field(ge=0, le=50)] = 0
    prefer: str = PREFER[0]
    overlap: str = OVERLAP[0]
    until: str = ""
    exclude_flagged: bool = False
    withdraw: bool = False

    @property
    def asked(self) -> dict[str, Any]:
        return self.model_dump(exclude={"others", "percent_gold", "percent_repeated"}) | {
            "to": [*self.to, *self.others.split(",")], "question": self.question or None,
            "gold": self.percent_gold / 100, "repeat": self.percent_repeated / 100,
            "until": self.until or None,
        }  # fmt: skip


@router.get(_ALL, dependencies=[needs(Role.VIEWER)])
def assignments_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    return _assignments(request, place, asked)


def _assignments(
    request: Request,
    place: Place,
    asked: Asked,
    *,
    form: NewAssignments | None = None,
    problem: TrackerError | None = None,
    sentences: tuple[str, ...] = (),
) -> HTMLResponse:
    """Return the page; ``problem`` is why a form was refused, ``sentences`` what was assigned."""
    ledger = asked.ledger
    questions = [question.name for question in ledger.questions.list(place.project)]
    people = [
        person.name for person in (row.annotator for row in ledger.annotators.list(place.project))
        if person.kind == "human" and person.left_on is None
    ]  # fmt: skip
    open_flags = ledger.flags.list(place.project).flags
    here = page_links(request, place)
    return page(
        request, "assignments.html", place=place, tab="assignments", columns=PROGRESS,
        round_links={"round": lambda row: here("rounds", row["round"])},
        rows=[row.to_dict() for row in ledger.assignments.progress(place.project)],
        rounds=[row.to_dict() for row in ledger.rounds.list(place.project)], round_columns=ROUNDS,
        people=people, questions=questions, prefer=_PREFER, overlap=OVERLAP,
        findings=Counter(name for flag in open_flags for name in (flag.annotator, flag.with_)),
        form=form or NewAssignments(), problem=problem, sentences=sentences,
        status=200 if problem is None else error_status(problem),
    )  # fmt: skip


@router.post(_ALL, dependencies=[needs(Role.MANAGER)])
def assign(
    request: Request, place: At, asked: AskedLedger, form: Annotated[NewAssignments, Form()]
) -> HTMLResponse:
    """Give items to people; the page that answers says what was given."""
    try:
        if not any(name.strip() for name in form.asked["to"]):
            raise InvalidOption("choose at least one annotator, or enter the names of new ones")
        assigned = asked.ledger.assignments.assign(place.project, **form.asked)
    except TrackerError as problem:
        return _assignments(request, place, asked, form=form, problem=problem)
    sentences = tuple(assigned_sentences(assigned))
    form = form.model_copy(update={"to": [], "others": ""})
    return _assignments(request, place, asked, form=form, sentences=sentences)


@router.post(f"{_ALL}/withdraw", dependencies=[needs(Role.MANAGER)])
def withdraw(
    request: Request,
    place: At,
    asked: AskedLedger,
    annotator: Annotated[str, Form()] = "",
    late: Annotated[bool, Form()] = False,
) -> Response:
    whom = [annotator] if annotator else []
    try:
        asked.ledger.assignments.withdraw(place.project, whom, late=late)
    except TrackerError as problem:
        return _assignments(request, place, asked, problem=problem)
    return see(request, place, "assignments")


@router.post("/projects/{project:name}/rounds", dependencies=[needs(Role.MANAGER)])
def start_round(
    request: Request,
    place: At,
    asked: AskedLedger,
    guideline: Annotated[str, Form()] = "",
    items: Annotated[int, Form(ge=1, le=10**6)] = 100,
) -> Response:
    try:
        asked.ledger.rounds.start(place.project, guideline=guideline.strip() or None, items=items)
    except TrackerError as problem:
        return _assignments(request, place, asked, problem=problem)
    return see(request, place, "assignments")


@router.get("/projects/{project:name}/rounds/{name:name}", dependencies=[needs(Role.VIEWER)])
def round_page(request: Request, place: At, asked: AskedLedger, name: str) -> HTMLResponse:
    shown = asked.ledger.rounds.show(place.project, name).json()
    tables: dict[str, Any] = {
        part: {
            question["question"]: compared_rows(question, part) if shown["before"] else []
            for question in shown["questions"]
        }
        for part in ("measures", "categories")
    }
    return page(
        request, "round.html", place=place, tab="assignments", shown=shown,
        columns=compared_columns("figure", "this round", "before", "difference"), **tables,
    )  # fmt: skip


@router.get(f"{_ALL}/lists", dependencies=[needs(Role.VIEWER)])
def assigned_lists(place: At, asked: AskedLedger, annotator: str = "") -> Response:
    """Return what is still to be answered, as a file of rows."""
    from tracker.render.formats import csv_lines

    tasks = asked.ledger.assignments.tasks(place.project, [annotator] if annotator else [])
    lines = csv_lines(*asked.ledger.assignments.task_rows(tasks))
    text = "".join(f"{line}\n" for line in lines)
    headers = {"content-disposition": 'attachment; filename="assigned.csv"'}
    return Response(text, media_type="text/csv", headers=headers)
