"""The items of a project: searched, chosen, a part of them at a time."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from tracker.web.identity import Role, needs
from tracker.web.request import AskedLedger, At
from tracker.web.templating import page

router = APIRouter(include_in_schema=False)
_ORDERS = {
    "": "as imported",
    "disagreement": "most disputed first",
    "answers": "fewest answers first",
    "recent": "last answered first",
}


class Asked(BaseModel):
    """Which items to show; an empty text is none.

    Attributes:
        question: whose answers are counted.
        q: a text in an item's name or text.
        category: somebody gave each of these.
        annotator: each of these answered.
        differ: whether two answers differ.
        fewer: than so many answers.
        order: by which they are sorted; see `ORDERS`.
        after: the ``next`` of the page before.
    """

    question: str = ""
    q: str = Field("", max_length=500)
    category: list[str] = Field(default_factory=list, max_length=5)
    annotator: list[str] = Field(default_factory=list, max_length=5)
    differ: bool = False
    fewer: Annotated[int | None, Field(ge=0, le=10**6)] = None
    order: Literal["", "disagreement", "answers", "recent"] = ""
    after: int = Field(0, ge=0, lt=2**31)

    def query(self) -> dict[str, Any]:
        """Return what is asked for as a part of an address."""
        return {name: value or None for name, value in self.model_dump().items()}


@router.get("/projects/{project:name}/items", dependencies=[needs(Role.VIEWER)])
def items_page(
    request: Request, place: At, asked: AskedLedger, choice: Annotated[Asked, Query()]
) -> HTMLResponse:
    """Show some items."""
    settings = asked.ledger.projects.settings(place.project).questions
    names = [setting.question.name for setting in settings]
    question = choice.question or names[0]
    categories = [name for name in choice.category if name]
    found = asked.figure(
        place.project, "items", place.key, choice.model_dump_json(),
        compute=lambda it: it.items.page(
            place.project, search=choice.q, categories=categories, differ=choice.differ,
            answered_by=[name for name in choice.annotator if name], fewer_than=choice.fewer,
            order=choice.order or "import", after=choice.after, **place.of(question),
        ),
    )  # fmt: skip
    shown = next(
        (setting for setting in settings if setting.question.name == question), settings[0]
    )
    return page(
        request, "items.html", place=place, tab="items", choice=choice, found=found,
        questions=names, numbers=shown.many_numbers, categories=shown.categories,
        orders=_ORDERS, wanted=shown.question.target_answers or 2,
    )  # fmt: skip
