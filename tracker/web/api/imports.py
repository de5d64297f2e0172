"""Imports: what came into the projects."""

from __future__ import annotations

from typing import Annotated, Any, get_args

from fastapi import Query, Response

from tracker.core.operations import returned
from tracker.ledger import Ledger
from tracker.ledger.import_records import Imports
from tracker.web.api.operations import add_routes
from tracker.web.api.routing import Answer, Cursor, Limit, page_start, reads, resource
from tracker.web.api.schema import listing_model, model_of

router = add_routes(resource("imports"), Imports)
_FORMATS = listing_model("formats", *get_args(returned(Ledger.formats)))


@router.get("/imports", **reads("listImports", model_of(Imports.list)))
def list_imports(
    answer: Answer,
    project: Annotated[str | None, Query(description="Only into this project.")] = None,
    limit: Limit = 1000,
    cursor: Cursor = None,
) -> Response:
    """Return imports, oldest first; `tracker imports list`.

    `Link` has the address of the next page, unless this is the last.
    """
    after = page_start(cursor)

    def compute(ledger: Ledger) -> tuple[Any, int | None]:
        imports = ledger.imports.list(project, limit=limit + 1, after=after)
        last = imports[limit - 1].id if len(imports) > limit else None
        return {"imports": [one.to_dict() for one in imports[:limit]]}, last

    return answer.page(None, compute)


@router.get("/formats", **reads("listFormats", _FORMATS))
def list_formats(answer: Answer) -> Response:
    """Return the formats that can be imported; `tracker formats`."""
    return answer.done({"formats": [one.to_dict() for one in Ledger.formats()]})
