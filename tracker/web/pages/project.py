"""One project: whether its labels can be trusted, what to do about it, and how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from tracker.web import known
from tracker.web.identity import Role, needs
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page, render_sections

if TYPE_CHECKING:
    from tracker.report.gathered import Gathered

router = APIRouter(include_in_schema=False)
_SHOWN = ("verdict", "history", "progress")
_OWN_STYLE = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


@router.get("/projects/{project:name}", dependencies=[needs(Role.VIEWER)])
def project_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    """Show a project."""
    agreement = known.agreement_of(asked, place)
    numbers = known.questions_of_numbers(asked, place)
    questions = [
        {"name": question.question.name, "main": question.main.to_dict(),
         "categories": _weakest_first(question.assessment.to_dict()["categories"])}
        for question in agreement.questions
    ]  # fmt: skip
    return page(
        request, "project.html", place=place, questions=questions,
        listed=[question for question in questions if question["name"] not in numbers],
        numbers=[question["name"] for question in questions if question["name"] in numbers],
        any_recorded=known.has_recorded_findings(asked, place),
        unfit=[one.to_dict() for one in agreement.unfit], sections=_sections(asked, place),
    )  # fmt: skip


def _weakest_first(categories: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the categories by their rates, those whose rate is undefined last."""
    return sorted(categories, key=lambda row: (row["rate"] is None, row["rate"] or 0.0))


def _gathered(asked: Asked, place: Place) -> Gathered:
    """Return what the project's report is made of: parts are shown here, the whole is sent."""
    from tracker.report.gather import gather_report
    from tracker.report.gathered import Asked as Reported

    of = Reported(place.project, selecting=place.selecting)
    return asked.figure(
        place.project, "gathered", place.key, compute=lambda it: gather_report(it, of)
    )


def _sections(asked: Asked, place: Place) -> dict[str, Markup]:
    """Return parts of the project's report, by name."""
    from tracker.report.report import SECTIONS

    found = _gathered(asked, place)
    return asked.figure(
        place.project, "sections", place.key,
        compute=lambda _: {name: render_sections([SECTIONS[name](found)]) for name in _SHOWN},
    )  # fmt: skip


@router.get("/projects/{project:name}/report", dependencies=[needs(Role.VIEWER)])
def report_page(place: At, asked: AskedLedger) -> Response:
    """Return a report to send, as a file."""
    from tracker.report.report import FORMATS, made_document

    found = _gathered(asked, place)
    made = asked.figure(
        place.project, "report", place.key,
        compute=lambda _: FORMATS["html"](made_document(found)),
    )  # fmt: skip
    headers = {"content-security-policy": _OWN_STYLE,
               "content-disposition": 'attachment; filename="report.html"'}  # fmt: skip
    return HTMLResponse(made, headers=headers)
