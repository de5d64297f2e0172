"""A project's audit: the annotators' tallies counted, findings named, flags recorded."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, insert, select, update

from tracker import clock, counting
from tracker.audit import KINDS, AnnotatorFigures, Flag, annotator_figures, audit
from tracker.catalogue.annotators import annotator_names
from tracker.catalogue.categories import category_names
from tracker.catalogue.changes import lock_project
from tracker.catalogue.projects import ProjectInfo
from tracker.errors import InvalidOption
from tracker.schema import NONE_APPLIES, FlagRow
from tracker.tally import AnnotatorTallies, Answer

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Audit", "AuditedAnnotator", "audit_project", "open_flags", "record_flags"]


@dataclass(frozen=True)
class AuditedAnnotator:
    """One annotator: figures against the co-annotators of the same items, and findings."""

    id: int
    name: str
    figures: AnnotatorFigures
    gold_accuracy: float | None
    flags: tuple[Flag, ...]

    def to_dict(self, categories: Mapping[int, str]) -> dict[str, Any]:
        """The annotator's figures as JSON, without the findings."""
        figures = self.figures
        return {
            "annotator": self.name,
            "answers": figures.answers,
            "items_shared": figures.items_shared,
            "agreement_with_peers": figures.agreement_with_peers,
            "self_agreement": None,
            "gold_accuracy": self.gold_accuracy,
            "category_shares": {
                name: figures.category_shares.get(category, 0.0)
                for category, name in categories.items()
            },
        }


@dataclass(frozen=True)
class Audit:
    """The findings on a project's annotators, by name."""

    project: str
    annotators: tuple[AuditedAnnotator, ...]
    categories: Mapping[int, str]

    def flagged(self) -> list[tuple[AuditedAnnotator, Flag]]:
        """Every finding that stands up, with its annotator."""
        return [
            (annotator, flag)
            for annotator in self.annotators
            for flag in annotator.flags
            if flag.state == "flagged"
        ]

    def to_dict(self, *, clear: bool = False) -> dict[str, Any]:
        """The contract's JSON of ``tracker audit``; ``clear`` findings only on request."""
        return {
            "project": self.project,
            "annotators": [
                self._annotator_dict(annotator, clear=clear) for annotator in self.annotators
            ],
        }

    def _annotator_dict(self, annotator: AuditedAnnotator, *, clear: bool) -> dict[str, Any]:
        return annotator.to_dict(self.categories) | {
            "flags": [
                flag.to_dict(annotator.name, self.category_name(flag))
                for flag in annotator.flags
                if clear or flag.state != "clear"
            ],
        }

    def category_name(self, flag: Flag) -> str | None:
        """The name of the category that a finding is about."""
        return None if flag.category is None else self.categories[flag.category]

    def to_frame(self) -> pd.DataFrame:
        """One row per annotator; ``flags`` holds the kinds of the findings that stand up."""
        import pandas as pd

        rows = self.to_dict()["annotators"]
        for row in rows:
            row["flags"] = [flag["kind"] for flag in row["flags"] if flag["state"] == "flagged"]
            shares = row.pop("category_shares")
            row |= {f"share of {name}": share for name, share in shares.items()}
        return pd.DataFrame(rows)


def audit_project(connection: Connection, project: ProjectInfo, *, alpha: float = 0.05) -> Audit:
    """Audit every annotator of a project against the co-annotators of the same items.

    Raises InvalidOption for an alpha outside (0, 1) and for a project of spans.
    """
    selection = _selection(connection, project)
    tallies = counting.annotator_tallies(connection, selection)
    findings = audit(
        tallies,
        several=project.answers == "several",
        alpha=alpha,
        recount=lambda excluded: counting.recount(connection, selection, excluded),
    )
    return Audit(
        project.name,
        tuple(_annotators(connection, selection, tallies, findings)),
        category_names(connection, project),
    )


def annotator_rows(connection: Connection, project: ProjectInfo) -> list[dict[str, Any]]:
    """Each annotator's figures as JSON, by name, without any test."""
    selection = _selection(connection, project)
    tallies = counting.annotator_tallies(connection, selection)
    categories = category_names(connection, project)
    found = _annotators(connection, selection, tallies, ())
    return [annotator.to_dict(categories) for annotator in found]


def _selection(connection: Connection, project: ProjectInfo) -> counting.Selection:
    if project.answers == "spans":
        raise InvalidOption(
            f"{project.name!r} is a project of spans",
            "figures of annotators need answers to whole items",
        )
    return counting.select_answers(connection, project)


def _annotators(
    connection: Connection,
    selection: counting.Selection,
    tallies: AnnotatorTallies,
    findings: Iterable[Flag],
) -> list[AuditedAnnotator]:
    names = annotator_names(connection, selection.project)
    accuracies = _gold_accuracies(connection, selection)
    flags: dict[int, list[Flag]] = {}
    for flag in findings:
        flags.setdefault(flag.annotator, []).append(flag)
    audited = [
        AuditedAnnotator(
            number, names[number], figures, accuracies.get(number), tuple(flags.get(number, ()))
        )
        for number, figures in annotator_figures(tallies).items()
    ]
    return sorted(audited, key=lambda annotator: annotator.name)


def failing(found: Audit, condition: str) -> list[Flag]:
    """The findings that ``--fail-on flagged[:kind]`` names; raises InvalidOption."""
    state, _, kind = condition.partition(":")
    kinds = [known.name for known in KINDS]
    if state != "flagged" or (kind and kind not in kinds):
        raise InvalidOption(
            f"--fail-on {condition!r} is not flagged or flagged:KIND",
            f"the kinds are: {', '.join(kinds)}",
        )
    return [flag for _, flag in found.flagged() if not kind or flag.kind == kind]


def _gold_accuracies(connection: Connection, selection: counting.Selection) -> dict[int, float]:
    tables, _ = counting.confusions(connection, selection)
    return {annotator: _accuracy(table) for annotator, table in tables.items()}


def _accuracy(table: Mapping[tuple[Answer, Answer], int]) -> float:
    right = Counter({truth == answer: 0 for truth, answer in table})
    for (truth, answer), number in table.items():
        right[truth == answer] += number
    return right[True] / right.total()


# -- recorded flags ------------------------------------------------------------------------


def record_flags(connection: Connection, project: ProjectInfo, found: Audit) -> tuple[int, int]:
    """Store the findings that stand up; returns how many are new and how many were seen again."""
    lock_project(connection, project.id)
    key = (FlagRow.annotator_id, FlagRow.kind, FlagRow.category_id)
    rows = connection.execute(
        select(FlagRow.id, *key).where(FlagRow.project_id == project.id)
    ).all()
    known = {(row.annotator_id, row.kind, row.category_id): row.id for row in rows}
    number = max(known.values(), default=0)
    moment = clock.now()
    new = []
    for annotator, flag in found.flagged():
        category = NONE_APPLIES if flag.category is None else flag.category
        evidence = json.dumps(flag.to_dict(annotator.name, found.category_name(flag)))
        told = {"severity": flag.severity, "last_seen_at": moment, "evidence": evidence}
        seen = known.get((annotator.id, flag.kind, category))
        if seen is None:
            number += 1
            new.append(
                told
                | {
                    "project_id": project.id,
                    "id": number,
                    "annotator_id": annotator.id,
                    "kind": flag.kind,
                    "category_id": category,
                    "found_at": moment,
                }
            )
        else:
            connection.execute(
                update(FlagRow)
                .where(FlagRow.project_id == project.id, FlagRow.id == seen)
                .values(told)
            )
    if new:
        connection.execute(insert(FlagRow), new)
    return len(new), len(found.flagged()) - len(new)


def open_flags(connection: Connection, project: ProjectInfo) -> list[dict[str, Any]]:
    """The recorded findings of a project as JSON, the first found first."""
    names = annotator_names(connection, project)
    categories = category_names(connection, project)
    rows = connection.execute(
        select(FlagRow.__table__).where(FlagRow.project_id == project.id).order_by(FlagRow.id)
    )
    return [
        {
            "flag": row.id,
            "annotator": names[row.annotator_id],
            "kind": row.kind,
            "category": categories.get(row.category_id),
            "severity": row.severity,
            "found_at": clock.iso(row.found_at),
            "last_seen_at": clock.iso(row.last_seen_at),
            "why": json.loads(row.evidence)["why"],
        }
        for row in rows
    ]


def count_flags(connection: Connection, project: ProjectInfo) -> int:
    """How many findings of a project are recorded."""
    statement = select(func.count()).where(FlagRow.project_id == project.id)
    return connection.scalar(statement) or 0
