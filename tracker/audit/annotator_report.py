"""One annotator: a page for whoever runs the project, and a report for the annotator."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from tracker.agreement import Query, study
from tracker.agreement.sensitivity import influence
from tracker.audit.anonymize import suppressed_figures
from tracker.audit.gather import audit_query
from tracker.audit.result import Audit, AuditedAnnotator
from tracker.audit.whole import audit_project
from tracker.projects.annotators import AnnotatorInfo
from tracker.projects.project import ProjectInfo

__all__ = ["annotator_page", "own_report"]

_COMPARED = (
    "answers",
    "agreement_with_peers",
    "kappa_with_majority",
    "self_agreement",
    "gold_accuracy",
    "median_seconds",
)
"""What a report shows the others' spread of."""

_ITEMS = 5
_OF_OTHERS = {"others", "others_seconds"}


def annotator_page(
    connection: Connection, project: ProjectInfo, annotator: AnnotatorInfo
) -> dict[str, Any]:
    """Who it is, the figures, the findings with their items, as JSON.

    ``influence`` is what the project's Krippendorff's alpha becomes without the annotator. Of an
    annotator with no answer that counts there is only who it is.
    """
    found = audit_project(connection, project, audit_query(evidence=_ITEMS))
    told = annotator.to_dict() | {"project": project.name}
    rows = {row["annotator"]: row for row in found.to_dict()["annotators"]}
    if annotator.name not in rows:
        return told
    told |= rows[annotator.name]
    return told | {"influence": _influence(connection, project, annotator)}


def _influence(
    connection: Connection, project: ProjectInfo, annotator: AnnotatorInfo
) -> dict[str, Any] | None:
    if project.answers == "spans":
        return None
    measure, value, rows = influence(study(connection, project, Query()), "annotator")
    mine = next((row for row in rows if row.name == annotator.name), None)
    if mine is None:
        return None
    return {"measure": measure, "value": value, "without": mine.without, "change": mine.change}


def own_report(found: Audit, annotator: AuditedAnnotator, least: int) -> dict[str, Any]:
    """What an annotator may see: the own figures and findings, and the rest without names.

    Of the others the quartiles of each figure, where as many as ``least`` have it; figures of
    fewer answers are left out. A finding about a pair does not say who the other is, and items
    show the own answer alone.
    """
    others = [
        suppressed_figures(one.figures, least) for one in found.annotators if one.id != annotator.id
    ]
    anonymous = {
        one.id: one.name if one.id == annotator.id else "another annotator"
        for one in found.annotators
    }
    return {
        "project": found.project,
        "annotator": annotator.name,
        "figures": suppressed_figures(annotator.figures, least),
        "others": {"annotators": len(others)}
        | {name: _quartiles([row.get(name) for row in others], least) for name in _COMPARED},
        "findings": [
            {
                "kind": flag.kind,
                "category": found.category_name(flag),
                "state": flag.state,
                "why": flag.to_dict(anonymous, found.category_name(flag), annotator.id)["why"],
                "items": [
                    {key: value for key, value in row.items() if key not in _OF_OTHERS}
                    for row in found.shown.get(flag.key, ())
                ],
            }
            for flag in annotator.flags
            if flag.state != "clear" and flag.n >= least
        ],
    }


def _quartiles(values: Sequence[float | None], least: int) -> Mapping[str, float] | None:
    known = [value for value in values if value is not None]
    if len(known) < max(least, 2):
        return None
    low, middle, high = statistics.quantiles(known, n=4, method="inclusive")
    return {"lower_quartile": low, "median": middle, "upper_quartile": high}
