"""The findings that were recorded: an inbox, the list beside the finding that is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from tracker.audit.columns import FLAG_ACTS_OF_ONE, SIGHTINGS
from tracker.audit.sentences import without_test
from tracker.core.errors import InvalidOption
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
_SEVERITIES = ("high", "medium", "low", "remark")
Number = Annotated[int, Path(ge=1, lt=2**31)]


class Listed(BaseModel):
    """Which findings are on the list."""

    state: str = ""
    annotator: str = ""
    kind: str = ""
    question: str = ""

    @property
    def choice(self) -> dict[str, str | None]:
        return {name: getattr(self, name) or None for name in Listed.model_fields}


class Asked(Listed):
    """Which findings to show.

    Attributes:
        done: the numbers of findings about which something was done just now.
        action: what that was.
    """

    state: Literal["", "open", "acknowledged", "dismissed", "resolved", "all"] = ""
    done: list[int] = Field(default_factory=list, max_length=1000)
    action: str = ""


class Acting(Listed):
    """What to do about some findings, and where the form was."""

    flag: list[int] = Field(default_factory=list)
    action: Literal["acknowledge", "dismiss", "resolve", "reopen", "uphold", "reject"]
    note: str = ""
    next: int | None = None


Choice = Annotated[Asked, Query()]


@router.get("/projects/{project:name}/findings", dependencies=[needs(Role.VIEWER)])
def findings_page(request: Request, place: At, asked: AskedLedger, choice: Choice) -> HTMLResponse:
    return _inbox(request, place, asked, choice, None)


@router.get("/projects/{project:name}/findings/{number}", dependencies=[needs(Role.VIEWER)])
def finding_page(
    request: Request, place: At, number: Number, asked: AskedLedger, choice: Choice
) -> HTMLResponse:
    return _inbox(request, place, asked, choice, number)


def _inbox(
    request: Request, place: At, asked: AskedLedger, choice: Asked, number: int | None
) -> HTMLResponse:
    listed = asked.ledger.flags.list(
        place.project, states=[choice.state] if choice.state else None,
        annotator=choice.annotator or None, kind=choice.kind or None,
        questions=[choice.question] if choice.question else (),
    )  # fmt: skip
    groups = _by_subject([flag.to_dict() for flag in listed.flags])
    order = [row["flag"] for _, rows in groups for row in rows]
    shown = number if number is not None else next(iter(order), None)
    finding = None if shown is None else asked.ledger.flags.show(place.project, shown).to_dict()
    at = order.index(shown) if shown in order else None
    return page(
        request, "findings.html", place=place, tab="findings", groups=groups, choice=choice,
        states=STATES, any_recorded=listed.any_recorded, finding=finding, alone=number is not None,
        previous=order[at - 1] if at else None,
        following=None if at is None else next(iter(order[at + 1 :]), None),
        plain="" if finding is None else without_test(finding),
        items=[] if finding is None else _items(asked, place, finding),
        acts=FLAG_ACTS_OF_ONE, sightings=SIGHTINGS,
        standing=None if choice.done or order else _standing(asked, place),
    )  # fmt: skip


def _by_subject(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Return findings by what they are about, the gravest first."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: (_SEVERITIES.index(row["severity"]), row["flag"])):
        groups.setdefault(_subject_of(row), []).append(row)
    return [*groups.items()]


def _subject_of(finding: Mapping[str, Any]) -> str:
    """Return what a finding is about: an annotator, a pair, a category, a slice, the project."""
    people = [finding[key] for key in ("annotator", "with") if finding.get(key)]
    if people:
        return " and ".join(people)
    return str(finding.get("subject") or finding.get("category") or "the project")


def _items(asked: AskedLedger, place: At, finding: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the items that show a finding, with their texts, as the answers are now."""
    audits = known.audit_of(asked, place).audits
    of_question = [
        audit for audit in audits if finding.get("question", audit.question) == audit.question
    ]
    rows: Iterable[Mapping[str, Any]] = chain.from_iterable(
        flag.get("evidence", ())
        for audit in of_question
        for person in audit.to_dict()["annotators"] if person["annotator"] == finding["annotator"]
        for flag in person["flags"]
        if all(flag[key] == finding[key] for key in ("kind", "category", "with"))
    )  # fmt: skip
    items = [dict(row) for row in rows if "item" in row]
    texts = asked.ledger.items.texts(place.project, [row["item"] for row in items])
    return [row | {"text": texts.get(row["item"])} for row in items]


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
    note = form.note.strip()
    if not form.flag:
        raise InvalidOption("no finding is chosen", "tick those that it is about, and try again")
    if form.action == "dismiss" and not note:
        raise InvalidOption(
            "a finding is dismissed with a reason", "say why it is harmless, and try again"
        )
    does = getattr(asked.ledger.flags, form.action)
    done = does(place.project, form.flag, by=request.state.identity.name, note=note or None)
    then = () if form.next is None else (str(form.next),)
    return see(
        request, place, "findings", *then, **form.choice, done=done.changed, action=form.action
    )


@router.post("/projects/{project:name}/findings/record", dependencies=[needs(Role.MANAGER)])
def record(request: Request, place: At, asked: AskedLedger) -> RedirectResponse:
    ledger = asked.ledger
    ledger.database.wait = None

    def work(step: Step) -> Outcome:
        step(0, None)
        ledger.record_audit_by_question(place.project)
        return Outcome("The audit was recorded.", ("projects", place.project, "findings"))

    who = request.state.identity.name
    return see_job(request, request.app.state.jobs.start("Audit", place.project, who, work))
