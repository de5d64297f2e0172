"""A project's audit: the annotators' tallies counted, findings named, flags recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from tracker import counting
from tracker.assess import Question
from tracker.assess.spans import AnnotatorSpans
from tracker.assess.whole import count_spans
from tracker.audit import KINDS, AnnotatorFigures, Flag, annotator_figures, audit
from tracker.catalogue.annotators import annotator_names
from tracker.catalogue.categories import category_names
from tracker.catalogue.projects import ProjectInfo
from tracker.counting import EVERYTHING, Choice
from tracker.errors import InvalidOption
from tracker.tally import AnnotatorTallies, Answer

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Audit", "AuditedAnnotator", "annotator_rows", "audit_project", "failing"]


@dataclass(frozen=True)
class AuditedAnnotator:
    """One annotator: figures against the co-annotators of the same items, and findings.

    ``self_agreement`` is the share of answers given again on a later pass that were the same.
    """

    id: int
    name: str
    figures: AnnotatorFigures
    gold_accuracy: float | None
    flags: tuple[Flag, ...]
    self_agreement: float | None = None

    def to_dict(self, categories: Mapping[int, str]) -> dict[str, Any]:
        """The annotator's figures as JSON, without the findings."""
        figures = self.figures
        return {
            "annotator": self.name,
            "answers": figures.answers,
            "items_shared": figures.items_shared,
            "agreement_with_peers": figures.agreement_with_peers,
            "self_agreement": self.self_agreement,
            "gold_accuracy": self.gold_accuracy,
            "category_shares": {
                name: figures.category_shares.get(category, 0.0)
                for category, name in categories.items()
            },
        }


@dataclass(frozen=True)
class Audit:
    """The findings on a project's annotators, by name.

    ``selection`` says which answers they rest on, as JSON; None for all.
    """

    project: str
    annotators: tuple[AuditedAnnotator, ...]
    categories: Mapping[int, str]
    selection: Mapping[str, Any] | None = None

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
            "selection": None if self.selection is None else dict(self.selection),
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


def audit_project(
    connection: Connection,
    project: ProjectInfo,
    *,
    alpha: float = 0.05,
    choice: Choice = EVERYTHING,
) -> Audit:
    """Audit every annotator of a project, or those chosen, against the co-annotators.

    They are the others who answered the same items, chosen likewise. Raises InvalidOption for
    an alpha outside (0, 1) and for a project of spans.
    """
    selection = _selection(connection, project, choice)
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
        selection.told,
    )


def annotator_rows(
    connection: Connection, project: ProjectInfo, *, choice: Choice = EVERYTHING
) -> list[dict[str, Any]]:
    """Each annotator's figures as JSON, by name, without any test."""
    if project.answers == "spans":
        found, _ = count_spans(connection, project, Question(choice=choice))
        return [_span_row(annotator, list(found.names)) for annotator in found.annotators]
    selection = _selection(connection, project, choice)
    tallies = counting.annotator_tallies(connection, selection)
    categories = category_names(connection, project)
    audited = _annotators(connection, selection, tallies, ())
    return [annotator.to_dict(categories) for annotator in audited]


def _span_row(annotator: AnnotatorSpans, categories: Sequence[str]) -> dict[str, Any]:
    """An annotator of spans in the columns of all others; agreement is exact F1 with the rest."""
    return {
        "annotator": annotator.annotator,
        "answers": annotator.answers,
        "items_shared": annotator.exact.documents,
        "agreement_with_peers": annotator.exact.value,
        "self_agreement": None,
        "gold_accuracy": None,
        "category_shares": {name: annotator.shares.get(name, 0.0) for name in categories},
        "spans": annotator.spans,
    }


def _selection(connection: Connection, project: ProjectInfo, choice: Choice) -> counting.Selection:
    if project.answers == "spans":
        raise InvalidOption(
            f"{project.name!r} is a project of spans",
            "figures of annotators need answers to whole items",
        )
    return counting.select_answers(connection, project, choice)


def _annotators(
    connection: Connection,
    selection: counting.Selection,
    tallies: AnnotatorTallies,
    findings: Iterable[Flag],
) -> list[AuditedAnnotator]:
    names = annotator_names(connection, selection.project)
    accuracies = _gold_accuracies(connection, selection)
    consistency = _self_agreement(connection, selection)
    flags: dict[int, list[Flag]] = {}
    for flag in findings:
        flags.setdefault(flag.annotator, []).append(flag)
    audited = [
        AuditedAnnotator(
            number,
            names[number],
            figures,
            accuracies.get(number),
            tuple(flags.get(number, ())),
            consistency.get(number),
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


def _self_agreement(connection: Connection, selection: counting.Selection) -> dict[int, float]:
    if not counting.has_repeats(connection, selection):
        return {}
    same: Counter[int] = Counter()
    times: Counter[int] = Counter()
    for row in counting.repeated_answers(connection, selection):
        times[row.annotator] += row.times
        same[row.annotator] += row.times * (row.earlier == row.later)
    return {annotator: same[annotator] / number for annotator, number in times.items()}


def _gold_accuracies(connection: Connection, selection: counting.Selection) -> dict[int, float]:
    tables, _ = counting.confusions(connection, selection)
    return {annotator: _accuracy(table) for annotator, table in tables.items()}


def _accuracy(table: Mapping[tuple[Answer, Answer], int]) -> float:
    right = Counter({truth == answer: 0 for truth, answer in table})
    for (truth, answer), number in table.items():
        right[truth == answer] += number
    return right[True] / right.total()
