"""A question with all its figures, and one of its categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tracker.core.errors import NotFound
from tracker.ledger.audits import advice_as_json
from tracker.report.words import formula
from tracker.web import known
from tracker.web.identity import Role, needs
from tracker.web.pages.pairs import pair_links, pairs_in_short
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page, page_links, render_charts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracker.ledger import Ledger

router = APIRouter(include_in_schema=False)
_PAIRS, _EXAMPLES = 12, 12


@router.get("/projects/{project:name}/questions/{question:name}", dependencies=[needs(Role.VIEWER)])
def question_page(request: Request, place: At, question: str, asked: AskedLedger) -> HTMLResponse:
    found = _figures(asked, place, question)
    numbers = question in known.questions_of_numbers(asked, place)
    about = asked.ledger.questions.show(place.project, question).question
    spans = about.answers == "spans"
    pairs = pairs_in_short(asked, place, question)
    return page(
        request, "question.html", place=place, found=found, spans=spans, numbers=numbers,
        links=_links(page_links(request, place), found),
        formulas={row["measure"]: formula(row["measure"]) for row in found["measures"]},
        confusions=None if spans or numbers else _confusions(asked, place, question),
        compared=_compared(asked, place, question) if about.preference else None,
        pairs=[] if spans else [
            pair.to_dict() for pair in pairs.lowest[:_PAIRS] if pair.value is not None],
    )  # fmt: skip


@router.get("/projects/{project:name}/questions/{question:name}/categories/{category:name}",
            dependencies=[needs(Role.VIEWER)])  # fmt: skip
def category_page(
    request: Request, place: At, question: str, category: str, asked: AskedLedger, merged: str = ""
) -> HTMLResponse:
    found = _figures(asked, place, question)
    own = next((row for row in found["categories"] if row["category"] == category), None)
    if own is None:
        raise NotFound(f"there is no category {category!r} of {question!r}")
    spans = asked.ledger.questions.show(place.project, question).question.answers == "spans"
    examples = asked.ledger.items.page(
        place.project, categories=[category], differ=True, most=_EXAMPLES, **place.of(question)
    )
    return page(
        request, "category.html", place=place, found=found, own=own, spans=spans,
        links=_links(page_links(request, place), found),
        confusions=None if spans else _confusions(asked, place, question, category),
        examples=examples, merged=merged,
    )  # fmt: skip


def _figures(asked: Asked, place: Place, question: str) -> dict[str, Any]:
    for one in known.agreement_of(asked, place).questions:
        if one.question.name == question:
            return one.to_dict() | {"question": question}
    raise NotFound(f"there is no question {question!r} in {place.project!r}")


def _links(here: Callable[..., str], figures: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """Return where the cells of a question's tables lead.

    An answer that holds no category has no page.
    """
    question = figures["question"]
    paged = {row["category"] for row in figures["categories"]}

    def category(name: str) -> str | None:
        return here("questions", question, "categories", name) if name in paged else None

    def confused_items(row: dict[str, Any]) -> str | None:
        if not paged.issuperset(row["categories"]):
            return None
        return here("items", question=question, category=row["categories"], differ="true")

    return {
        "category": lambda row: category(row["category"]),
        "items": lambda row: here("items", question=question, category=row["category"]),
        "categories": lambda row: [category(name) for name in row["categories"]],
        "confused items": confused_items,
        **pair_links(here, question),
    }


def _compared(asked: Asked, place: Place, question: str) -> dict[str, Any]:
    """Return the strengths of what a question of preferences compares, drawn and as tables."""

    def compared(ledger: Ledger) -> dict[str, Any]:
        from tracker.agreement.preference_tables import strength_lines
        from tracker.report.charts import draw_strengths
        from tracker.report.sizes import NARROW, WIDE, WIDE_CURVE

        found = ledger.strengths(place.project, **place.of(question))
        payload = found.to_dict()
        charts = {
            name: draw_strengths("Strengths", payload["strengths"], width=width)
            for name, width in (("broad", WIDE_CURVE), ("chart", WIDE), ("narrow", NARROW))
        }
        drawn = None if found.undefined else render_charts("strengths", charts)
        return payload | {"lines": strength_lines(found), "drawn": drawn}

    return asked.figure(place.project, "strengths", place.key, question, compute=compared)


def _confusions(
    asked: Asked, place: Place, question: str, category: str | None = None
) -> dict[str, Any]:
    flagged = known.flagged_of(asked, place, question)

    def both_ways(ledger: Ledger) -> dict[str, Any]:
        selecting = place.of(question)
        confusions = ledger.confusions(place.project, category=category, **selecting)
        advice = ledger.advice(place.project, flagged=flagged, category=category, **selecting)
        return confusions.to_dict() | advice_as_json(advice)

    return asked.figure(
        place.project, "confusions", place.key, question, category, compute=both_ways
    )
