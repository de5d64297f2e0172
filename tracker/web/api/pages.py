"""Long lists in pages: where one begins, and where the next."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query, Request

from tracker.core.errors import InvalidOption
from tracker.web.place import LARGEST

_MOST = 10_000

Limit = Annotated[int, Query(description="The most rows of a page.", ge=1, le=_MOST)]
Cursor = Annotated[
    str | None, Query(description="Where the page begins; from the link of the one before.")
]


def page_start(cursor: str | None) -> int:
    """Return the number after which a page begins, 0 for the first; raises InvalidOption."""
    if cursor is None:
        return 0
    try:
        number = int(urlsafe_b64decode(cursor.encode("ascii")))
    except ValueError:
        number = -1
    if not 0 <= number <= LARGEST:
        raise InvalidOption(f"there is no page at cursor={cursor!r}", "take it from a Link")
    return number


def next_page(request: Request, after: int | None) -> dict[str, str]:
    """Return the header with the address of the page after a number; none after the last."""
    cursor = None if after is None else urlsafe_b64encode(str(after).encode()).decode()
    return next_link(request, cursor)


def next_link(request: Request, cursor: str | None) -> dict[str, str]:
    """Return the header with the address of the page that begins at a cursor, if there is one."""
    if cursor is None:
        return {}
    asked = [one for one in request.query_params.multi_items() if one[0] != "cursor"]
    # As it was asked for: what routes see is decoded.
    path = request.scope["raw_path"].decode("ascii")
    return {"link": f'<{path}?{urlencode([*asked, ("cursor", cursor)])}>; rel="next"'}
