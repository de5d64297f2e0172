"""Audits with the findings that a test wants, recorded as any other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import Connection

from tracker.audit.findings import Finding
from tracker.audit.flag_list import list_flags, show_flag
from tracker.audit.flags import Acted, Recorded, act_on_flags, record_flags
from tracker.audit.kind import Effect
from tracker.audit.result import Audit, AuditedAnnotator
from tracker.ledger import Ledger
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.projects.questions import QuestionInfo

__all__ = [
    "Seen",
    "acted",
    "audit_of",
    "history",
    "listed",
    "record",
    "record_in",
    "shown",
    "states",
]


@dataclass(frozen=True)
class Seen:
    """A finding about the annotator of that number."""

    annotator: int
    kind: str = "category_bias"
    category: int | None = 1
    informative: int = 40
    other: int | None = None
    observed: float = 0.9


DETAILS = {"runs": 3, "shared_minority_answers": 30, "expected_minority_answers": 4.0}


def _made(of: type, **given: Any) -> Any:
    """A value of a dataclass, whatever was not given being unknown."""
    return of(**{field.name: None for field in fields(of)} | given)


def audit_of(
    names: Mapping[int, str],
    categories: Mapping[int, str],
    seen: Iterable[Seen],
    selection: Mapping[str, Any] | None = None,
) -> Audit:
    """An audit that found this; a finding about a pair stands under both, as audits tell it."""
    flags: dict[int, list[Finding]] = {number: [] for number in names}
    for one in seen:
        told = {"severity": "low", "state": "flagged", "expected": 0.5, "n": 2 * one.informative}
        told |= vars(one)
        told |= {"effect": Effect("ratio", 2.0), "also": ("k", "l"), "details": DETAILS}
        flags[one.annotator].append(_made(Finding, **told))
        if one.other is not None:
            flags[one.other].append(flags[one.annotator][-1])
    annotators = [
        _made(AuditedAnnotator, id=number, name=name, flags=tuple(flags[number]))
        for number, name in names.items()
    ]
    annotators.sort(key=lambda annotator: annotator.name, reverse=True)
    made: Audit = _made(
        Audit,
        definitions=(),
        design=(),
        models={},
        settled={},
        project="p",
        annotators=tuple(annotators),
        categories=categories,
        selection=selection,
        shown={},
        not_applicable={},
    )
    return made


def record(
    ledger: Ledger,
    *seen: Seen,
    closes: bool = True,
    selection: Mapping[str, Any] | None = None,
) -> Recorded:
    """Record an audit of the project p that found this."""
    with ledger.changing("p") as (connection, question):
        return record_in(connection, question, *seen, closes=closes, selection=selection)


def record_in(
    connection: Connection,
    question: QuestionInfo,
    *seen: Seen,
    closes: bool = True,
    selection: Mapping[str, Any] | None = None,
) -> Recorded:
    """The same in a transaction that goes on."""
    names = annotator_names(connection, question.project)
    found = audit_of(names, category_names(connection, question), seen, selection)
    return record_flags(connection, question, found, closes=closes)


def acted(
    ledger: Ledger, action: Any, *flags: int, by: str = "ann", note: str | None = None
) -> list[Acted]:
    """Do something about flags of the project p."""
    with ledger.writing("p") as (connection, project):
        return act_on_flags(connection, project, flags, action, by=by, note=note)


def listed(ledger: Ledger, **chosen: Any) -> list[dict[str, Any]]:
    """The flags of the project p, of all states unless others are chosen."""
    with ledger.reading("p") as (connection, project):
        return [one.to_dict() for one in list_flags(connection, project, **chosen)]


def shown(ledger: Ledger, number: int) -> dict[str, Any]:
    """One flag of the project p."""
    with ledger.reading("p") as (connection, project):
        return show_flag(connection, project, number).to_dict()


def states(ledger: Ledger) -> dict[int, str]:
    """The state of each flag of the project p."""
    return {row["flag"]: row["state"] for row in listed(ledger)}


def history(ledger: Ledger, number: int) -> list[tuple[Any, ...]]:
    """What was done about a flag of the project p: action, state, by whom, note."""
    told = shown(ledger, number)["changes"]
    return [(row["action"], row["state"], row["by"], row["note"]) for row in told]
