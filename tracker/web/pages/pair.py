"""Two annotators: their answers to the same items against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from tracker.web import known
from tracker.web.identity import Role, needs
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page

router = APIRouter(include_in_schema=False)
_EXAMPLES = 20


def pair_links(here: Callable[..., str], question: str) -> dict[str, Callable[..., str]]:
    """Return where a table of pairs leads: to their page, and to the items of both."""
    return {
        "pair": lambda row: here(
            "annotators", row["annotators"][0], "with", row["annotators"][1], question=question
        ),
        "items of both": lambda row: here("items", question=question, annotator=row["annotators"]),
    }


@router.get("/projects/{project:name}/annotators/{annotator:name}/with/{other:name}",
            dependencies=[needs(Role.VIEWER)])  # fmt: skip
def pair_page(
    request: Request,
    place: At,
    annotator: str,
    other: str,
    asked: AskedLedger,
    question: Annotated[str, Query()] = "",
) -> HTMLResponse:
    """Show two annotators."""
    names = [one.name for one in asked.ledger.questions.list(place.project)]
    about = question or names[0]
    numbers = about in known.questions_of_numbers(asked, place)
    spans = asked.ledger.questions.show(place.project, about).question.answers == "spans"
    differ = asked.ledger.items.page(
        place.project, answered_by=[annotator, other], differ=True, most=_EXAMPLES,
        **place.of(about),
    )  # fmt: skip
    return page(
        request, "pair.html", place=place, tab="annotators", two=(annotator, other),
        question=about, questions=names, differ=differ, numbers=numbers,
        table=None if spans or numbers else _table(asked, place, (annotator, other), about),
        figures=_figures(asked, place, about, {annotator, other}),
    )  # fmt: skip


def _table(asked: Asked, place: Place, two: tuple[str, str], question: str) -> dict[str, Any]:
    return asked.figure(
        place.project, "cross table", place.key, two, question,
        compute=lambda it: it.cross_table(place.project, *two, **place.of(question)).to_dict(),
    )  # fmt: skip


def _figures(asked: Asked, place: Place, question: str, two: set[str]) -> dict[str, Any] | None:
    told = known.pairs_of(asked, place, question).to_dict()["pairs"]
    return next((row for row in told if set(row["annotators"]) == two), None)
