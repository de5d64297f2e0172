"""Who changed what in a project and when, a page at a time."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from tracker.counts.choosing import ACTS, ChosenActs
from tracker.counts.trail import change_sentence
from tracker.web.identity import Role, needs
from tracker.web.request import AskedLedger, At
from tracker.web.templating import page

router = APIRouter(include_in_schema=False)
_MOST = 50
_SETTINGS = ("note", "set", "rename", "archive", "restore", "order", "add question", "remove note")


@router.get("/projects/{project:name}/changes", dependencies=[needs(Role.VIEWER)])
def changes_page(
    request: Request,
    place: At,
    asked: AskedLedger,
    before: Annotated[str | None, Query(max_length=60)] = None,
    by: Annotated[str | None, Query(max_length=500)] = None,
    about: Annotated[str | None, Query(max_length=60)] = None,
) -> HTMLResponse:
    """Show the last changes, or those before a place; of somebody or about something, if asked."""
    which = ChosenActs(by=(by or "").strip() or None, about=about or None)
    trail = asked.ledger.projects.changes(place.project, _MOST, before=before or None, **which)
    rows = [
        {**act.to_dict(), "what": change_sentence(act), "link": _link(act.to_dict())}
        for act in trail.acts
    ]
    return page(
        request, "changes.html", place=place, tab="changes", rows=rows, next=trail.next,
        before=before, which=which, topics=ACTS,
    )  # fmt: skip


def _link(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the parts of the address of the page that shows what an act is about, if any."""
    if row["finding"]:
        return ("findings", str(row["finding"])) if row["findings"] == 1 else ("findings",)
    if row["snapshot"]:
        return ("snapshots", str(row["snapshot"]))
    if row["kind"] in {"import", "undo"}:
        return ("imports",)
    if "annotator" in row["kind"] or row["kind"] == "alias":
        return ("annotators",)
    if row["kind"] == "prune":
        return ("snapshots",)
    return ("settings",) if row["kind"].startswith(_SETTINGS) else ()
