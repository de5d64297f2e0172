"""Snapshots: taken, listed, one by one, and two of them compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup
from pydantic import BaseModel

from tracker.compare.tables import (
    cause_columns,
    cause_rows,
    compared_columns,
    compared_rows,
    part_columns,
)
from tracker.history.columns import POINTS
from tracker.web import known
from tracker.web.identity import Role, needs
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page, page_links, render_charts, see

router = APIRouter(include_in_schema=False)
State = Annotated[str, Query(max_length=200)]


class Taking(BaseModel):
    """A snapshot to take: its name and why, each empty for none."""

    name: str = ""
    note: str = ""


@router.get("/projects/{project:name}/snapshots", dependencies=[needs(Role.VIEWER)])
def snapshots_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    weakest = known.agreement_of(asked, Place(place.project)).questions[0]
    measure, question = weakest.main.measure, weakest.question.name
    rows, curve = asked.figure(
        place.project, "snapshots", question, measure,
        compute=lambda it: _drawn(it.history_by_question(
            place.project, questions=[question], measures=[measure]
        ).questions[question].to_dict(), measure, weakest.assessment.thresholds),
    )  # fmt: skip
    here = page_links(request, place)
    compares = len(rows) > 1 and question in _comparable(asked, place)
    return page(
        request, "snapshots.html", place=place, tab="snapshots", measure=measure,
        columns=[column for column in POINTS if compares or column.kind != "choice"],
        compares=compares,
        rows=[row | {"a": number == 1, "b": number == 0} for number, row in enumerate(rows[::-1])],
        curve=curve, links={"snapshot": lambda row: here("snapshots", str(row["snapshot"]))},
        question=question, several=len(asked.ledger.questions.list(place.project)) > 1,
    )  # fmt: skip


def _comparable(asked: Asked, place: Place) -> list[str]:
    """Return the names of the questions of which two states can be compared: not those of spans."""
    questions = asked.ledger.questions.list(place.project)
    return [question.name for question in questions if question.answers != "spans"]


def _drawn(
    payload: Mapping[str, Any], measure: str, thresholds: Sequence[float]
) -> tuple[list[dict[str, Any]], Markup | None]:
    """Return snapshots as the rows of a list and, of some with figures, as a curve."""
    from tracker.report.curves import course_of, curve_charts, known_points

    course = course_of(payload, measure, thresholds)
    drawn = len(known_points(course.rows)) > 1
    curve = render_charts("curve", curve_charts(course, broad=True)) if drawn else None
    return _told(payload["snapshots"], measure), curve


_NO_FIGURE = {"value": None, "ci_low": None, "ci_high": None, "undefined": None}


def _told(snapshots: list[dict[str, Any]], measure: str) -> list[dict[str, Any]]:
    """Return snapshots as the rows of a list, which shows one figure of each."""

    def main(one: dict[str, Any]) -> dict[str, Any]:
        rows = (row for row in one["measures"] if row["measure"] == measure)
        return next(rows, _NO_FIGURE)

    about = ("snapshot", "name", "note", "as_of")
    return [
        {key: snapshot[key] for key in about} | main(snapshot) | snapshot["counts"]
        for snapshot in snapshots
    ]


@router.post("/projects/{project:name}/snapshots", dependencies=[needs(Role.MANAGER)])
def take_snapshot(
    request: Request, place: At, asked: AskedLedger, form: Annotated[Taking, Form()]
) -> RedirectResponse:
    taken = asked.ledger.snapshot_by_question(
        place.project, name=form.name.strip() or None, note=form.note.strip() or None
    )
    return see(request, place, "snapshots", str(taken.first.snapshot.id))


@router.get("/projects/{project:name}/snapshots/{snapshot:name}", dependencies=[needs(Role.VIEWER)])
def snapshot_page(request: Request, place: At, snapshot: str, asked: AskedLedger) -> HTMLResponse:
    payload = asked.ledger.snapshot_pages(place.project, snapshot).to_dict()
    numbers = known.questions_of_numbers(asked, place)
    only = asked.ledger.questions.list(place.project)[0].name
    pages = [
        one | {"numbers": one.get("question", only) in numbers}
        for one in payload.get("questions") or [payload]
    ]
    return page(request, "snapshot.html", place=place, tab="snapshots", pages=pages, found=pages[0],
                compared=next(iter(_comparable(asked, place)), None),
                today=datetime.now(UTC).date().isoformat())  # fmt: skip


@router.get("/projects/{project:name}/compare", dependencies=[needs(Role.VIEWER)])
def compare_page(
    request: Request, place: At, asked: AskedLedger, a: State = "", b: State = "",
    question: State = "",
) -> HTMLResponse:  # fmt: skip
    names = _comparable(asked, place)
    about = question or (names[0] if names else "")
    found = _compared(asked, place, (a.strip(), b.strip()), about) if a and b else None
    here = page_links(request, place)
    tables: dict[str, Any] = {}
    if found is not None:
        tables = {
            "columns": compared_columns("figure", "from", "to", "difference"),
            "measures": compared_rows(found, "measures"),
            "categories": compared_rows(found, "categories"),
            "cause_columns": cause_columns(found),
            "causes": cause_rows(found) if found["because"] else [],
            "people_columns": part_columns("annotator"),
            "links": {"annotator": lambda row: here("annotators", row["annotator"])},
        }
    return page(
        request, "compare.html", place=place, tab="snapshots", a=a, b=b, question=about,
        questions=names, found=found,
        numbers=about in known.questions_of_numbers(asked, place), **tables,
    )  # fmt: skip


def _compared(asked: Asked, place: Place, two: tuple[str, str], question: str) -> dict[str, Any]:
    return asked.figure(
        place.project, "compared", two, question,
        compute=lambda it: it.compare(place.project, *two, question=question).to_dict(),
    )  # fmt: skip
