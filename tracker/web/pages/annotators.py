"""The annotators of a project: each beside the others on the same items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from tracker.audit.columns import PEOPLE, PEOPLE_OF_NUMBERS, SHARES, share_rows
from tracker.audit.sentences import is_accusation
from tracker.core.errors import NotFound
from tracker.web import known
from tracker.web.identity import Role, needs
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page, page_links, see

router = APIRouter(include_in_schema=False)
_PAIRS = 200
"""Pairs of one annotator, at most."""
_UNKNOWN: dict[str, Any] = {
    "agreement_low": None, "agreement_high": None, "agreement_of_peers": None, "peer_shares": {},
    "gold_answers": 0, "repeats": 0, "median_seconds": None,
}  # fmt: skip
"""What is not known of annotators of spans."""


@router.get("/projects/{project:name}/annotators", dependencies=[needs(Role.VIEWER)])
def annotators_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    """Show all annotators, question by question."""
    audits = _audits(asked, place)
    people = {row["annotator"]: row for row in (
        one.to_dict() for one in asked.ledger.annotators.list(place.project))}  # fmt: skip
    here = page_links(request, place)
    links = {question: {
        "annotator": lambda row: here("annotators", row["annotator"]),
        "items": partial(_items_of, here, question),
    } for question in audits}  # fmt: skip
    for rows in audits.values():
        for row in rows:
            row |= {key: people.get(row["annotator"], {}).get(key) for key in ("kind", "left_on")}
    counted = {row["annotator"] for rows in audits.values() for row in rows}
    return page(
        request, "annotators.html", place=place, tab="annotators", audits=audits, links=links,
        columns=PEOPLE, columns_of_numbers=PEOPLE_OF_NUMBERS,
        others=[person for name, person in people.items() if name not in counted],
        numbers=known.questions_of_numbers(asked, place),
        duplicates=known.duplicates_of(asked, place) if request.state.identity.role >= Role.MANAGER
        else (),
    )  # fmt: skip


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
    questions = [
        {"name": name, **rows[0], "shares": list(share_rows(rows[0])),
         "links": _links(here, name, who["annotator"]),
         "pairs": _pairs(asked, place, name, who["annotator"], numbers=name in numbers)}
        for name, rows in own.items()
        if rows
    ]  # fmt: skip
    recorded = [flag.to_dict() for flag in asked.ledger.flags.list(
        place.project, states=["all"], annotator=who["annotator"]).flags]  # fmt: skip
    return page(
        request, "annotator.html", place=place, tab="annotators", who=who, questions=questions,
        recorded=recorded, share_columns=SHARES, numbers=numbers, people=people, merged=merged,
    )  # fmt: skip


@router.post("/projects/{project:name}/annotators/{annotator:name}/presence",
             dependencies=[needs(Role.MANAGER)])  # fmt: skip
def set_presence(
    request: Request, place: At, annotator: str, asked: AskedLedger,
    on: Annotated[str, Form()] = "", back: Annotated[bool, Form()] = False,
) -> RedirectResponse:  # fmt: skip
    """Note on which day an annotator left, or that they are back."""
    people = asked.ledger.annotators
    if back:
        people.back(place.project, annotator)
    else:
        people.leave(place.project, annotator, on.strip() or None)
    return see(request, place, "annotators", annotator)


def _found(asked: Asked, place: Place, name: str) -> tuple[dict[str, Any], list[str]]:
    """Return an annotator by name or alias, and the others of the same kind, by name."""
    everybody = [one.to_dict() for one in asked.ledger.annotators.list(place.project)]
    for one in everybody:
        if name in {one["annotator"], *one["aliases"]}:
            others = [other["annotator"] for other in everybody
                      if other["kind"] == one["kind"] and other is not one]  # fmt: skip
            return one, others
    raise NotFound(f"there is no annotator {name!r} in {place.project!r}")


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
    for row in known.pairs_of(asked, place, question).to_dict()["pairs"]:
        if name not in row["annotators"]:
            continue
        pair = {**row, "other": next(one for one in row["annotators"] if one != name)}
        if "span_f1_exact" in row:
            exact = row["span_f1_exact"]
            pair |= {"measure": "span_f1_exact", "cohen_kappa": exact["value"], "ci_low": None,
                     "ci_high": None, "undefined": exact["undefined"]}  # fmt: skip
        if numbers:
            pair["observed"] = None
        pairs.append(pair)
    pairs.sort(key=lambda row: (row["cohen_kappa"] is None, row["cohen_kappa"] or 0.0))
    return pairs[:_PAIRS]


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
