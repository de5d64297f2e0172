"""The items of a project: searched, chosen, a part of them at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse
from pydantic import BaseModel, Field, Json

from tracker.counts.choosing import values_by_attribute
from tracker.ledger.items import NONE
from tracker.render.formats import csv_lines, defused
from tracker.web import request as requests
from tracker.web.identity import Role, needs
from tracker.web.request import AskedLedger, At, Place
from tracker.web.templating import page, see

if TYPE_CHECKING:
    from tracker.ledger import Ledger
    from tracker.ledger.items import ItemsPage

router = APIRouter(include_in_schema=False)
_ORDERS = {
    "": "as imported",
    "disagreement": "most disputed first",
    "answers": "fewest answers first",
    "recent": "last answered first",
}
_AT_ONCE = 10_000  # items of a part of a file


class Choice(BaseModel):
    """Which items to show; an empty text is none.

    Attributes:
        question: whose answers are counted.
        q: a text in an item's name or text.
        category: somebody gave each of these.
        annotator: each of these answered; if a category is asked for, gave it.
        others: somebody else gave each of these categories.
        where: attributes that it has, such as language=nl.
        differ: whether two answers differ.
        fewer: than so many answers.
        order: by which they are sorted; see `ORDERS`.
        after: the ``next`` of the page before.
    """

    question: str = ""
    q: str = Field("", max_length=500)
    category: list[str] = Field(default_factory=list, max_length=5)
    annotator: list[str] = Field(default_factory=list, max_length=5)
    others: list[str] = Field(default_factory=list, max_length=5)
    where: list[str] = Field(default_factory=list, max_length=5)
    differ: bool = False
    fewer: Annotated[int | None, Field(ge=0, le=10**6)] = None
    order: Literal["", "disagreement", "answers", "recent"] = ""
    after: int = Field(0, ge=0, lt=2**31)

    def query(self) -> dict[str, Any]:
        return {name: value or None for name, value in self.model_dump().items()}

    @property
    def any(self) -> bool:
        return any(self.query().values())

    @property
    def kept(self) -> dict[str, Any]:
        """What a saved view keeps: all that is asked for, but the place in the list."""
        fields = self.query() | {"after": None}
        lists = {name: [*filter(None, value)] for name, value in fields.items()
                 if isinstance(value, list)}  # fmt: skip
        return {name: value for name, value in (fields | lists).items() if value}


def chosen_items(asked: requests.Asked, place: Place, choice: Choice) -> ItemsPage:
    """Return the items of a page of the list; raises InvalidOption, NotFound."""
    return asked.figure(
        place.project, "items", place.key, choice.model_dump_json(),
        compute=lambda ledger: _items(ledger, place, choice),
    )  # fmt: skip


def _items(ledger: Ledger, place: Place, choice: Choice, **part: int) -> ItemsPage:
    question = choice.question or ledger.questions.list(place.project)[0].name
    return ledger.items.page(
        place.project, search=choice.q, categories=[name for name in choice.category if name],
        answered_by=[name for name in choice.annotator if name],
        of_others=[name for name in choice.others if name], differ=choice.differ,
        fewer_than=choice.fewer, order=choice.order or "import",
        with_attributes=values_by_attribute(pair for pair in choice.where if pair),
        **{"after": choice.after, **part}, **place.of(question),
    )  # fmt: skip


@router.get("/projects/{project:name}/items", dependencies=[needs(Role.VIEWER)])
def items_page(
    request: Request, place: At, asked: AskedLedger, choice: Annotated[Choice, Query()]
) -> HTMLResponse:
    settings = asked.ledger.projects.settings(place.project).questions
    found = chosen_items(asked, place, choice)
    shown = next(setting for setting in settings if setting.question.name == found.question)
    return page(
        request, "items.html", place=place, tab="items", choice=choice, found=found,
        questions=[setting.question.name for setting in settings], numbers=shown.many_numbers,
        categories=shown.categories, orders=_ORDERS, wanted=shown.question.target_answers or 2,
        views=asked.ledger.items.views(place.project),
    )  # fmt: skip


@router.post("/projects/{project:name}/items/views", dependencies=[needs(Role.MANAGER)])
def save_view(
    request: Request, place: At, asked: AskedLedger, name: Annotated[str, Form()] = "",
    query: Annotated[Json[Choice] | None, Form()] = None, forget: Annotated[bool, Form()] = False,
) -> RedirectResponse:  # fmt: skip
    """Keep what the page is asked for under a name, or forget it."""
    if forget or query is None:
        asked.ledger.items.forget_view(place.project, name)
        return see(request, place, "items")
    asked.ledger.items.save_view(place.project, name, query.kept)
    return see(request, place, "items", **query.kept)


@router.get("/projects/{project:name}/items.csv", dependencies=[needs(Role.VIEWER)])
def items_file(
    place: At, asked: AskedLedger, choice: Annotated[Choice, Query()]
) -> StreamingResponse:
    """Return all items that are chosen as a file: a column of votes for each category."""
    first = _items(asked.ledger, place, choice, after=0, most=_AT_ONCE)
    setting = asked.ledger.questions.show(place.project, first.question)
    names = () if setting.many_numbers else (*setting.categories, NONE)

    def rows() -> Iterator[list[Any]]:
        part = first
        while True:
            for row in part.items:
                votes: list[Any] = [row.votes.get(name, 0) for name in names]
                if not names:
                    votes = ["; ".join(f"{name}: {votes}" for name, votes in row.votes.items())]
                yield [defused(cell) for cell in (row.name, row.text, row.answers, *votes)]
            if part.next is None:
                return
            part = _items(asked.ledger, place, choice, after=part.next, most=_AT_ONCE)

    columns = [defused(name) for name in ("item", "text", "answers", *(names or ["votes"]))]
    headers = {"content-disposition": 'attachment; filename="items.csv"'}
    lines = (f"{line}\n" for line in csv_lines(columns, rows()))
    return StreamingResponse(lines, media_type="text/csv", headers=headers)
