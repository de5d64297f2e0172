"""One project: whether its labels can be trusted, what to do about it, and how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from tracker.web import known
from tracker.web.identity import Role, needs
from tracker.web.pages.judges import with_pill
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page, render_sections

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tracker.history.by_question import QuestionAgreement
    from tracker.ledger import Ledger
    from tracker.report.document import Act
    from tracker.report.gathered import Gathered

router = APIRouter(include_in_schema=False)
_CARDS = 3
_OWN_STYLE = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


@router.get("/projects/{project:name}", dependencies=[needs(Role.VIEWER)])
def project_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    agreement = known.agreement_of(asked, place)
    numbers = known.questions_of_numbers(asked, place)
    questions = [_question_row(question) for question in agreement.questions]
    opening = _opening(asked, place)
    return page(
        request, "project.html", place=place, questions=questions, progress=opening.status,
        cards=opening.cards, judges=opening.judges, words=opening.words, sections=opening.sections,
        listed=[question for question in questions if question["name"] not in numbers],
        numbers=[question["name"] for question in questions if question["name"] in numbers],
        any_recorded=known.has_recorded_findings(asked, place),
        unfit=[one.to_dict() for one in agreement.unfit],
    )  # fmt: skip


def _question_row(question: QuestionAgreement) -> dict[str, Any]:
    """Return what the overview has of a question: its main figure, change, findings, categories."""
    payload = question.to_dict()
    return {
        "name": question.question.name, "main": question.main.to_dict(),
        "readiness": question.assessment.readiness,
        "since": payload["since_snapshot"], "findings": question.findings,
        "recent": question.assessment.recent_dict,
        "categories": sorted(
            payload["categories"], key=lambda row: (row["rate"] is None, row["rate"] or 0.0)
        ),
    }  # fmt: skip


def _gathered(asked: Asked, place: Place) -> Gathered:
    """Return what the project's report is made of: parts are shown here, the whole is sent."""
    from tracker.report.gather import gather_report
    from tracker.report.gathered import Asked as Reported

    of = Reported(place.project, selecting=place.selecting)
    return asked.figure(
        place.project, "gathered", place.key, compute=lambda it: gather_report(it, of)
    )


class _Opening(NamedTuple):
    """What the overview has of the project's report.

    Attributes:
        cards: what to do first.
        words: the verdict in sentences, rendered.
        sections: some of its parts, rendered, by name.
        status: how far each question is, as JSON, the weakest first.
        judges: each model as a judge of each question, with its verdict.
    """

    cards: list[Act]
    words: Markup
    sections: dict[str, Markup]
    status: list[Mapping[str, Any]]
    judges: list[Mapping[str, Any]]


def _opening(asked: Asked, place: Place) -> _Opening:
    from tracker.report.document import Section
    from tracker.report.history import history_section, progress_section
    from tracker.report.verdict import acts, verdict_paragraphs

    gathered = _gathered(asked, place)

    def opening(_: Ledger) -> _Opening:
        needed = [act for act in acts(gathered).acts if act.needed]
        words = Section("words", "In words", verdict_paragraphs(gathered))
        return _Opening(
            needed[:_CARDS],
            render_sections([words]),
            {
                "history": render_sections([history_section(gathered, broad=True)]),
                "progress": render_sections([progress_section(gathered)]),
            },
            [question.status for question in gathered.questions],
            [with_pill(judge) for question in gathered.questions for judge in question.judges],
        )

    return asked.figure(place.project, "opening", place.key, compute=opening)


@router.get("/projects/{project:name}/report", dependencies=[needs(Role.VIEWER)])
def report_page(place: At, asked: AskedLedger) -> Response:
    from tracker.report.report import stored_report

    found = _gathered(asked, place)
    made = asked.figure(
        place.project, "report", place.key, compute=lambda it: stored_report(it, found, "html")
    )
    headers = {"content-security-policy": _OWN_STYLE,
               "content-disposition": 'attachment; filename="report.html"'}  # fmt: skip
    return HTMLResponse(made, headers=headers)
