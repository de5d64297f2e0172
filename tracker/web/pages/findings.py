"""The findings that were recorded: a queue to work through."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from tracker.audit.columns import FLAG_ACTS_OF_ONE, SIGHTINGS
from tracker.web import known
from tracker.web.identity import Role, needs
from tracker.web.jobs import Outcome, Step
from tracker.web.pages.jobs import see_job
from tracker.web.request import AskedLedger, At
from tracker.web.templating import page, see

router = APIRouter(include_in_schema=False)
STATES = {
    "": "to do", "open": "open", "acknowledged": "acknowledged", "dismissed": "dismissed",
    "resolved": "resolved", "all": "all",
}  # fmt: skip
Number = Annotated[int, Path(ge=1, lt=2**31)]


class Asked(BaseModel):
    """Which findings to show.

    Attributes:
        state: that of `STATES`.
        annotator: about whom; empty for all.
        kind: of this kind; empty for all.
        done: the numbers of findings about which something was done just now.
        action: what that was.
    """

    state: Literal["", "open", "acknowledged", "dismissed", "resolved", "all"] = ""
    annotator: str = ""
    kind: str = ""
    done: list[int] = Field(default_factory=list, max_length=1000)
    action: str = ""


class Acting(BaseModel):
    """What to do about some findings, and where the form was.

    Attributes:
        flag: their numbers.
        action: what to do.
        note: why.
        state: the list that was shown.
    """

    flag: list[int] = Field(default_factory=list)
    action: Literal["acknowledge", "dismiss", "resolve", "reopen", "uphold", "reject"]
    note: str = ""
    state: str = ""


@router.get("/projects/{project:name}/findings", dependencies=[needs(Role.VIEWER)])
def findings_page(
    request: Request, place: At, asked: AskedLedger, choice: Annotated[Asked, Query()]
) -> HTMLResponse:
    """Show the findings that somebody has to do something about, or others."""
    found = asked.ledger.flags.list(
        place.project, states=[choice.state] if choice.state else None,
        annotator=choice.annotator or None, kind=choice.kind or None,
    )  # fmt: skip
    rows = [flag.to_dict() for flag in found.flags]
    return page(
        request, "findings.html", place=place, tab="findings", rows=rows, choice=choice,
        states=STATES, any_recorded=found.any_recorded,
        standing=None if choice.done else _standing(asked, place),
    )  # fmt: skip


def _standing(asked: AskedLedger, place: At) -> int:
    """Return how many findings an audit would record now."""
    return sum(
        len(audit.flagged()) + len(audit.project_findings())
        for audit in known.audit_of(asked, place).audits
    )


@router.post("/projects/{project:name}/findings", dependencies=[needs(Role.MANAGER)])
def act(
    request: Request, place: At, asked: AskedLedger, form: Annotated[Acting, Form()]
) -> RedirectResponse:
    """Do something about findings, and show the list again."""
    who = request.state.identity.name
    does = getattr(asked.ledger.flags, form.action)
    done = does(place.project, form.flag, by=who, note=form.note.strip() or None)
    return see(request, place, "findings", state=form.state or None, done=done.changed,
               action=form.action)  # fmt: skip


@router.post("/projects/{project:name}/findings/record", dependencies=[needs(Role.MANAGER)])
def record(request: Request, place: At, asked: AskedLedger) -> RedirectResponse:
    """Record what an audit finds now."""
    ledger = asked.ledger

    def work(step: Step) -> Outcome:
        step(0, None)
        ledger.record_audit_by_question(place.project)
        return Outcome("The audit was recorded.", ("projects", place.project, "findings"))

    who = request.state.identity.name
    return see_job(request, request.app.state.jobs.start("Audit", place.project, who, work))


@router.get("/projects/{project:name}/findings/{number}", dependencies=[needs(Role.VIEWER)])
def finding_page(request: Request, place: At, number: Number, asked: AskedLedger) -> HTMLResponse:
    """Show a finding: its evidence, what was done about it, each time it was seen."""
    found = asked.ledger.flags.show(place.project, number).to_dict()
    return page(request, "finding.html", place=place, tab="findings", found=found,
                acts=FLAG_ACTS_OF_ONE, sightings=SIGHTINGS)  # fmt: skip
