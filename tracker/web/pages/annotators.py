"""The annotators of a project: each beside the others on the same items."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from tracker.audit.columns import (
    COURSE,
    DIFFERS,
    PEOPLE,
    PEOPLE_OF_NUMBERS,
    SHARES,
    course_figures,
    share_rows,
)
from tracker.audit.sentences import is_accusation
from tracker.core.errors import NotFound
from tracker.web import known
from tracker.web.identity import Role, needs
from tracker.web.pages.pairs import pairs_of
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page, page_links, see

router = APIRouter(include_in_schema=False)
_UNKNOWN: dict[str, Any] = {
    "agreement_low": None, "agreement_high": None, "agreement_of_peers": None, "peer_shares": {},
    "gold_answers": 0, "repeats": 0, "median_seconds": None,
}  # fmt: skip
"""What is not known of annotators of spans."""
_NEWCOMER = 300  # labels up to which a page says whether somebody is ready
_NOT_PAUSED = {"paused_since": None, "paused_note": None}


@router.get("/projects/{project:name}/annotators", dependencies=[needs(Role.VIEWER)])
def annotators_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    audits = _audits(asked, place)
    people = {row["annotator"]: row for row in (
        _NOT_PAUSED | person.to_dict()
        for person in asked.ledger.annotators.list(place.project))}  # fmt: skip
    numbers = known.questions_of_numbers(asked, place)
    here = page_links(request, place)
    links = {question: {
        "annotator": lambda row: here("annotators", row["annotator"]),
        "items": partial(_items_of, here, question),
    } for question in audits}  # fmt: skip
    measured = known.questions_with_scale(asked, place, "interval", "ratio")
    for rows in audits.values():
        for row in rows:
            row |= {key: people.get(row["annotator"], {}).get(key)
                    for key in ("kind", "left_on", "paused_since")}  # fmt: skip
    counted = {row["annotator"] for rows in audits.values() for row in rows}
    return page(
        request, "annotators.html", place=place, tab="annotators", audits=audits, links=links,
        columns=PEOPLE, columns_of_numbers=PEOPLE_OF_NUMBERS,
        matrix=_matrix(audits, measured), measured=measured, course_figures=course_figures,
        others=[person for name, person in people.items() if name not in counted],
        numbers=numbers,
        duplicates=known.duplicates_of(asked, place) if request.state.identity.role >= Role.MANAGER
        else (),
    )  # fmt: skip


class _Row(NamedTuple):
    """A person in the matrix of people and questions.

    Attributes:
        annotator: the figures of the first question that they answered.
        findings: the number of findings that stand up, on all questions.
        cells: the figures by question; None for one that they did not answer.
    """

    annotator: Mapping[str, Any]
    findings: int
    answers: int
    cells: Mapping[str, Mapping[str, Any] | None]


def _matrix(audits: Mapping[str, list[dict[str, Any]]], measured: Collection[str]) -> list[_Row]:
    """Return the people with their figures of each question, those with most findings first.

    A cell's ``apart`` is by how much the person differs from the others: by their agreement with
    each other or, on a ``measured`` scale of numbers, in standard deviations of the differences.
    """
    people: dict[str, dict[str, dict[str, Any]]] = {}
    for question, rows in audits.items():
        for row in rows:
            people.setdefault(row["annotator"], {})[question] = row | {
                "apart": _apart(row, measured=question in measured)
            }
    matrix = [
        _Row(
            next(iter(cells.values())),
            sum(len(row["standing"]) for row in cells.values()),
            sum(row["answers"] for row in cells.values()),
            {question: cells.get(question) for question in audits},
        )
        for cells in people.values()
    ]
    return sorted(matrix, key=lambda row: (-row.findings, row.annotator["annotator"]))


def _apart(row: Mapping[str, Any], *, measured: bool) -> float | None:
    if measured:
        mean, spread = row.get("mean_difference"), row.get("spread_of_difference")
        return mean / spread if mean is not None and spread else None
    own, others = row["agreement_with_peers"], row.get("agreement_of_peers")
    return None if own is None or others is None else own - others


def _items_of(here: Callable[..., str], question: str, row: Mapping[str, Any]) -> str:
    """Return the address of an annotator's items, of one category if the row is about one."""
    return here("items", question=question, annotator=row["annotator"],
                category=row.get("category"))  # fmt: skip


@router.get("/projects/{project:name}/annotators/{annotator:name}",
            dependencies=[needs(Role.VIEWER)])  # fmt: skip
def annotator_page(
    request: Request, place: At, annotator: str, asked: AskedLedger, merged: str = ""
) -> HTMLResponse:
    """Show an annotator; ``merged`` is one who was merged into them just now."""
    who, people = _found(asked, place, annotator)
    own = {
        name: [row for row in rows if row["annotator"] == who["annotator"]]
        for name, rows in _audits(asked, place).items()
    }
    numbers = known.questions_of_numbers(asked, place)
    here = page_links(request, place)
    is_new = place.key == (None, None) and who["labels"] <= _NEWCOMER
    questions = [
        {"name": name, **rows[0], "shares": list(share_rows(rows[0])),
         "links": _links(here, name, who["annotator"]),
         "ready": known.readiness_of(asked, place, name, who["annotator"]) if is_new else None,
         "pairs": _pairs(asked, place, name, who["annotator"], numbers=name in numbers)}
        for name, rows in own.items()
        if rows
    ]  # fmt: skip
    questions.sort(key=lambda part: -len(part["standing"]))
    recorded = [flag.to_dict() for flag in asked.ledger.flags.list(
        place.project, states=["all"], annotator=who["annotator"]).flags]  # fmt: skip
    return page(
        request, "annotator.html", place=place, tab="annotators", who=who, questions=questions,
        course_columns=COURSE, course_figures=course_figures,
        recorded=recorded, share_columns=SHARES, differ_columns=DIFFERS, numbers=numbers,
        people=people, merged=merged, alike=_lookalike(asked, place, who["annotator"]),
    )  # fmt: skip


@router.post("/projects/{project:name}/annotators/{annotator:name}/presence",
             dependencies=[needs(Role.MANAGER)])  # fmt: skip
def set_presence(
    request: Request, place: At, annotator: str, asked: AskedLedger,
    on: Annotated[str, Form()] = "", back: Annotated[bool, Form()] = False,
    pause: Annotated[bool, Form()] = False, resume: Annotated[bool, Form()] = False,
    note: Annotated[str, Form()] = "",
) -> RedirectResponse:  # fmt: skip
    """Note on which day an annotator left, that they are back, are paused, or may go on."""
    people = asked.ledger.annotators
    if back:
        people.back(place.project, annotator)
    elif pause:
        people.pause(place.project, annotator, note=note)
    elif resume:
        people.resume(place.project, annotator)
    else:
        people.leave(place.project, annotator, on.strip() or None)
    return see(request, place, "annotators", annotator)


@router.post("/projects/{project:name}/annotators/{annotator:name}/kind",
             dependencies=[needs(Role.MANAGER)])  # fmt: skip
def set_kind(
    request: Request, place: At, annotator: str, asked: AskedLedger,
    kind: Annotated[str, Form()] = "",
) -> RedirectResponse:  # fmt: skip
    person = asked.ledger.annotators.kind(place.project, annotator, kind)
    return see(request, place, "annotators", person.name)


def _found(asked: Asked, place: Place, name: str) -> tuple[dict[str, Any], list[str]]:
    """Return an annotator by name or alias, and the others of the same kind, by name."""
    everybody = [_NOT_PAUSED | person.to_dict()
                 for person in asked.ledger.annotators.list(place.project)]  # fmt: skip
    for person in everybody:
        if name in {person["annotator"], *person["aliases"]}:
            others = [other["annotator"] for other in everybody
                      if other["kind"] == person["kind"] and other is not person]  # fmt: skip
            return person, others
    raise NotFound(f"there is no annotator {name!r} in {place.project!r}")


def _lookalike(asked: Asked, place: Place, name: str) -> str | None:
    pairs = [{pair.name, pair.into} for pair in known.duplicates_of(asked, place)]
    return next((other for pair in pairs if name in pair for other in pair - {name}), None)


def _audits(asked: Asked, place: Place) -> dict[str, list[dict[str, Any]]]:
    """Return the figures of each annotator, by question; those with findings first."""
    found = {}
    for audit in known.audit_of(asked, place).audits:
        rows = [_UNKNOWN | row for row in audit.to_dict()["annotators"]]
        for row in rows:
            row["standing"] = [flag for flag in row["flags"] if is_accusation(flag)]
            row["remarks"] = [flag for flag in row["flags"] if flag["severity"] == "remark"]
        found[audit.question] = sorted(rows, key=lambda row: (-len(row["standing"]),
                                                            row["annotator"]))  # fmt: skip
    return found


def _pairs(
    asked: Asked, place: Place, question: str, name: str, *, numbers: bool
) -> list[dict[str, Any]]:
    """Return the pairs of an annotator with the others, those who agree least first.

    Spans have an F1 in the place of kappa; of ``numbers``, few are the very same.
    """
    pairs = []
    for row in pairs_of(asked, place, question, name):
        pair = {**row, "other": next(one for one in row["annotators"] if one != name)}
        if "span_f1_exact" in row:
            exact = row["span_f1_exact"]
            pair |= {"measure": "span_f1_exact", "cohen_kappa": exact["value"], "ci_low": None,
                     "ci_high": None, "undefined": exact["undefined"]}  # fmt: skip
        if numbers:
            pair["observed"] = None
        pairs.append(pair)
    return pairs


def _links(
    here: Callable[..., str], question: str, annotator: str
) -> dict[str, Callable[..., str]]:
    return {
        "items": partial(_items_of, here, question),
        "pair": lambda row: here("annotators", annotator, "with", row["other"], question=question),
        "items of both": lambda row: here(
            "items", question=question, annotator=[annotator, row["other"]]
        ),
    }
