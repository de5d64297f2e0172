"""Items, a page at a time, and all that was said of one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response

from tracker.ledger import Ledger
from tracker.ledger.items import Items
from tracker.web.api.operations import add_routes
from tracker.web.api.parameters import AskedMoment
from tracker.web.api.routing import Answer, Cursor, Limit, page_start, reads, resource
from tracker.web.api.schema import model_of

router = add_routes(resource("records"), Items)


@router.get("/projects/{project:segment}/items", **reads("listItems", model_of(Items.list)))
def list_items(
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

    def compute(ledger: Ledger) -> tuple[Any, int | None]:
        page = ledger.items.list_page(project, limit, after=after, search=q or "", **moment)
        items = [item.to_dict() for item in page.items]
        return {"project": project, "items": items}, page.next

    return answer.page(project, compute)
