"""One item: who said what of it, when, and what they had said before; now, or then."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tracker.web.identity import Role, needs
from tracker.web.request import AskedLedger, At
from tracker.web.templating import page

router = APIRouter(include_in_schema=False)


@router.get("/projects/{project:name}/items/{item:name}", dependencies=[needs(Role.VIEWER)])
def item_page(request: Request, place: At, item: str, asked: AskedLedger) -> HTMLResponse:
    """Show an item."""
    found = asked.ledger.items.show(place.project, item, **place.then).to_dict()
    questions: dict[str, dict[str, list[object]]] = {}
    for one in found["labels"]:
        of = questions.setdefault(one.get("question", ""), {"now": [], "before": []})
        of["now" if one["state"] == "stands" else "before"].append(one)
    return page(request, "item.html", place=place, tab="items", found=found, questions=questions)
