"""What is wrong with who was given what, and with nobody's answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from sqlalchemy import Connection

from tracker.audit.evidence import Evidence
from tracker.audit.kind import ProjectFinding, Severity
from tracker.audit.shared_sql import LEAST_SHARED, count_links_of_annotators
from tracker.core.tallies import IntArray
from tracker.counts.selection import Selection
from tracker.projects.items import count_same_text

LEAST_ANSWERS = 10
"""Answers of a group of annotators below which it is not told of."""

LEAST_TEXTS = 5
"""Texts under several keys below which nothing is said: a few are said twice by chance."""


@dataclass(frozen=True)
class DisconnectedGroups(ProjectFinding):
    """Groups of annotators, by id, who share no item with each other; the largest first."""

    kind: ClassVar[str] = "disconnected_groups"
    severity: ClassVar[Severity] = "medium"
    groups: Sequence[Sequence[int]]

    @property
    def informative(self) -> int:
        """The annotators."""
        return sum(map(len, self.groups))

    def values(self, names: Mapping[int, Any], _categories: Mapping[int, str]) -> dict[str, Any]:
        """Return it as JSON; ``needed`` common items would link two groups."""
        groups = [sorted(names[annotator] for annotator in group) for group in self.groups]
        return {"groups": groups, "needed": LEAST_SHARED}


@dataclass(frozen=True)
class TextsUnderSeveralKeys(ProjectFinding):
    """Texts that several items have, and how many items these are."""

    kind: ClassVar[str] = "same_text"
    severity: ClassVar[Severity] = "medium"
    texts: int
    items: int

    @property
    def informative(self) -> int:
        """The items."""
        return self.items

    def values(self, _names: Mapping[int, Any], _categories: Mapping[int, str]) -> dict[str, Any]:
        """Return it as JSON."""
        return {"texts": self.texts, "items": self.items}


DesignFinding: TypeAlias = DisconnectedGroups | TextsUnderSeveralKeys


def design_findings(
    connection: Connection, selection: Selection, evidence: Evidence
) -> list[DesignFinding]:
    """Return what is wrong with the design; one statement, of spans two."""
    findings: list[DesignFinding] = []
    groups = _groups(connection, selection, evidence)
    if len(groups) > 1:
        findings.append(DisconnectedGroups(groups))
    same = count_same_text(connection, selection.question.project)
    if same.texts >= LEAST_TEXTS:
        findings.append(TextsUnderSeveralKeys(*same))
    return findings


def _groups(connection: Connection, selection: Selection, evidence: Evidence) -> list[list[int]]:
    answers: Counter[int] = Counter()
    if selection.question.answers == "spans":  # there no pairs are counted
        links = count_links_of_annotators(connection, selection)
        for who, _, items in links:
            answers[who] += items
        linked = np.array([row[:2] for row in links], dtype=np.int64).reshape(-1, 2)
    elif evidence.linked is not None:
        linked, columns = evidence.linked, evidence.columns
        numbers = np.bincount(columns.owner, columns.number, len(columns.annotators))
        answers.update(dict(zip(columns.annotators.tolist(), numbers.tolist(), strict=True)))
    else:
        return []
    groups = connected_annotators([*answers], linked)
    return [
        group for group in groups if sum(answers[annotator] for annotator in group) >= LEAST_ANSWERS
    ]


def connected_annotators(annotators: Sequence[int], linked: IntArray) -> list[list[int]]:
    """Return the annotators who are linked, directly or not, the largest group first."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ids = np.array(sorted(annotators), dtype=np.int64)
    first, second = np.searchsorted(ids, linked).T
    links = coo_array((np.ones(len(linked)), (first, second)), shape=(len(ids), len(ids)))
    number, group = connected_components(links, directed=False)
    groups = [ids[group == component].tolist() for component in range(number)]
    return sorted(groups, key=lambda members: (-len(members), members))
