"""Items, a page at a time, and all that was said of one."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response

from tracker.ledger.items import Items
from tracker.web.api.operations import add_routes
from tracker.web.api.parameters import AskedMoment
from tracker.web.api.routing import Answer, Cursor, Limit, next_page, page_start, reads, resource
from tracker.web.api.schema import model_of

router = add_routes(resource("records"), Items)


@router.get("/projects/{project:segment}/items", **reads("listItems", model_of(Items.list)))
def list_items(
    request: Request,
    answer: Answer,
    project: str,
    moment: AskedMoment,
    limit: Limit = 100,
    cursor: Cursor = None,
    q: Annotated[str | None, Query(description="Only items whose key or text holds this.")] = None,
) -> Response:
    """Return items in import order, with the number of their annotators; `tracker item list P`.

    `Link` has the address of the next page, unless this is the last.
    """
    after = page_start(cursor)
    links: dict[str, str] = {}

    def compute(ledger: object) -> object:
        page = answer.ledger.items.list_page(project, limit, after=after, search=q or "", **moment)
        links.update(next_page(request, page.next))
        return {"project": project, "items": [item.to_dict() for item in page.items]}

    response = answer.rows(project, compute)
    response.headers.update(links)
    return response
