"""Audits with the findings that a test wants, recorded as any other."""

from dataclasses import dataclass, fields

from tracker.audit.findings import Finding
from tracker.audit.flag_list import list_flags, show_flag
from tracker.audit.flags import act_on_flags, record_flags
from tracker.audit.kind import Effect
from tracker.audit.result import Audit, AuditedAnnotator
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names


@dataclass(frozen=True)
class Seen:
    """A finding about the annotator of that number."""

    annotator: int
    kind: str = "category_bias"
    category: int | None = 1
    informative: int = 40
    other: int | None = None
    observed: float | None = 0.9


DETAILS = {"runs": 3, "shared_minority_answers": 30, "expected_minority_answers": 4.0}


def _made(of, **given):
    """Return a value of a dataclass, unknown where nothing is given."""
    return of(**{field.name: None for field in fields(of)} | given)


def audit_of(names, categories, seen, selection=None):
    """Return an audit that found this; a finding about a pair stands under both."""
    flags = {number: [] for number in names}
    for one in seen:
        told = {"severity": "low", "state": "flagged", "expected": 0.5, "n": 2 * one.informative}
        told |= vars(one)
        told |= {"effect": Effect("ratio", 2.0), "also": ("k", "l"), "details": DETAILS}
        flag = _made(Finding, **told)
        for number in {one.annotator, one.other} - {None}:
            flags[number].append(flag)
    annotators = [
        _made(AuditedAnnotator, id=number, name=name, flags=tuple(flags[number]))
        for number, name in names.items()
    ]
    annotators.sort(key=lambda annotator: annotator.name, reverse=True)
    empty = {"definitions": (), "design": (), "models": {}, "settled": {}, "shown": {}}
    return _made(
        Audit,
        project="p",
        annotators=tuple(annotators),
        categories=categories,
        selection=selection,
        not_applicable={},
        **empty,
    )


def record(ledger, *seen, closes=True, selection=None):
    """Record an audit of the project p that found this."""
    with ledger.changing("p") as (connection, question):
        return record_in(connection, question, *seen, closes=closes, selection=selection)


def record_in(connection, question, *seen, closes=True, selection=None):
    """Record it in a transaction that goes on."""
    names = annotator_names(connection, question.project)
    found = audit_of(names, category_names(connection, question), seen, selection)
    return record_flags(connection, question, found, closes=closes)


def acted(ledger, action, *flags, by="ann", note=None):
    """Act on flags of the project p."""
    with ledger.writing("p") as (connection, project):
        return act_on_flags(connection, project, flags, action, by=by, note=note)


def listed(ledger, **chosen):
    """Return the flags of the project p, of all states unless others are chosen."""
    with ledger.reading("p") as (connection, project):
        return [one.to_dict() for one in list_flags(connection, project, **chosen)]


def shown(ledger, number):
    with ledger.reading("p") as (connection, project):
        return show_flag(connection, project, number).to_dict()


def states(ledger):
    return {row["flag"]: row["state"] for row in listed(ledger)}


def history(ledger, number):
    """Return each change of a flag: action, state, by whom, note."""
    changes = shown(ledger, number)["changes"]
    return [(row["action"], row["state"], row["by"], row["note"]) for row in changes]
