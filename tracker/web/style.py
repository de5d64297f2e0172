"""The colours and the types of a report, which the pages share."""

from __future__ import annotations

from fastapi import APIRouter, Response

from tracker.report.html import page_environment
from tracker.web.identity import Role, needs

router = APIRouter(include_in_schema=False)


@router.get("/style.css", dependencies=[needs(Role.EVERYONE)])
def style_sheet() -> Response:
    text = page_environment().get_template("style.css").render()
    return Response(text, media_type="text/css")
