"""A project's audit from its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from tracker import queries
from tracker.agreement import Query
from tracker.agreement.overall import count_spans
from tracker.agreement.spans import AnnotatorSpans
from tracker.audit.copy_direction import in_order
from tracker.audit.examples import show_items
from tracker.audit.figures_json import figure_rows
from tracker.audit.finding import Flag
from tracker.audit.findings import audit, not_applicable
from tracker.audit.gather import AuditQuery, gather, second_opinion
from tracker.audit.result import Audit, AuditedAnnotator
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.projects.project import ProjectInfo
from tracker.queries import EVERYTHING, AnswerFilter

_FIGURES = ("gold", "repeats", "times")


def audit_project(
    connection: Connection, project: ProjectInfo, query: AuditQuery | None = None
) -> Audit:
    """Audit every annotator of a project, or those chosen, against the co-annotators.

    They are the others who answered the same items, chosen likewise. Raises InvalidOption for
    an alpha outside (0, 1).
    """
    query = query or AuditQuery()
    selection = queries.select_answers(connection, project, query.filter)
    there = queries.present(connection, selection)
    evidence = gather(connection, selection, query, there)
    found = audit(
        evidence,
        query.kinds,
        lambda findings: second_opinion(connection, selection, evidence, findings),
    )
    found = in_order(connection, selection, found)
    categories = category_names(connection, project)
    if project.answers == "spans":
        rows = _span_rows(connection, project, query.filter)
    else:
        rows = figure_rows(connection, selection, evidence, categories, timed=there.times)
    names = annotator_names(connection, project)
    flags: dict[int, list[Flag]] = {}
    for flag in found:
        for annotator in (flag.annotator, flag.other):
            if annotator is not None:
                flags.setdefault(annotator, []).append(flag)
    audited = (
        AuditedAnnotator(number, names[number], figures, tuple(flags.get(number, ())))
        for number, figures in rows.items()
    )
    shown = {}
    if query.evidence:
        flagged = [flag for flag in found if flag.state == "flagged"]
        shown = show_items(connection, selection, evidence, flagged, query.evidence)
    return Audit(
        project.name,
        tuple(sorted(audited, key=lambda annotator: annotator.name)),
        categories,
        selection.told,
        not_applicable(evidence, query.kinds),
        shown,
    )


def annotator_rows(
    connection: Connection, project: ProjectInfo, *, choice: AnswerFilter = EVERYTHING
) -> list[dict[str, Any]]:
    """Each annotator's figures as JSON, by name, without any test."""
    if project.answers == "spans":
        rows = _span_rows(connection, project, choice)
    else:
        selection = queries.select_answers(connection, project, choice)
        there = queries.present(connection, selection)
        evidence = gather(connection, selection, AuditQuery(filter=choice), there, needs=_FIGURES)
        categories = category_names(connection, project)
        rows = figure_rows(connection, selection, evidence, categories, timed=there.times)
    names = annotator_names(connection, project)
    told = [{"annotator": names[number], **figures} for number, figures in rows.items()]
    return sorted(told, key=lambda row: str(row["annotator"]))


def _span_rows(
    connection: Connection, project: ProjectInfo, choice: AnswerFilter
) -> dict[int, dict[str, Any]]:
    found, _ = count_spans(connection, project, Query(filter=choice))
    numbers = {name: number for number, name in annotator_names(connection, project).items()}
    return {
        numbers[annotator.annotator]: _span_row(annotator, list(found.names))
        for annotator in found.annotators
    }


def _span_row(annotator: AnnotatorSpans, categories: Sequence[str]) -> dict[str, Any]:
    """An annotator of spans in the columns of all others; agreement is exact F1 with the rest."""
    return {
        "answers": annotator.answers,
        "items_shared": annotator.exact.documents,
        "agreement_with_peers": annotator.exact.value,
        "self_agreement": None,
        "gold_accuracy": None,
        "category_shares": {name: annotator.shares.get(name, 0.0) for name in categories},
        "peer_shares": {},
        "spans": annotator.spans,
    }
