"""What each annotator's answers come to, before any test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tracker.audit.evidence import Evidence
from tracker.audit.statistics.majority import kappa
from tracker.core.tally_columns import TallyColumns


@dataclass(frozen=True)
class AnnotatorFigures:
    """One annotator's figures.

    Attributes:
        answers: answers given, one an item.
        items_shared: items among them that others answered too.
        agreement_with_peers: mean over the shared items of the share of co-annotators who gave
            exactly the same answer; None where no item is shared.
        agreement_interval: its 95 % interval over items, within 0 to 1; None below two.
        agreement_of_peers: the co-annotators' agreement with each other on the same items; None
            where none has three answers.
        kappa_with_majority: Cohen's kappa with what most of the others gave, answers equally
            common sharing an item; None where undefined.
        category_shares: for each category the annotator used, the share of all their answers that
            hold it; the shares exceed 1 together where an answer holds several.
        peer_shares: for each category of the shared items, the mean over these of the share of
            co-annotators who gave it.
    """

    answers: int
    items_shared: int
    agreement_with_peers: float | None
    agreement_interval: tuple[float, float] | None
    agreement_of_peers: float | None
    kappa_with_majority: float | None
    category_shares: Mapping[int, float]
    peer_shares: Mapping[int, float]


def annotator_figures(evidence: Evidence) -> dict[int, AnnotatorFigures]:
    """The figures of every annotator in the tallies, by id, in the order given there."""
    majority = evidence.majorities
    peers: dict[int, dict[int, float]] = {}
    for usage in evidence.usages:
        peers.setdefault(usage.annotator, {})[usage.category] = usage.peer_share
    found = {}
    annotators, own = evidence.columns.annotators.tolist(), _own_shares(evidence.columns)
    for place, (annotator, (answers, shares)) in enumerate(zip(annotators, own, strict=True)):
        alignment = evidence.alignments.get(annotator)
        found[annotator] = AnnotatorFigures(
            answers=answers,
            items_shared=alignment.n if alignment else 0,
            agreement_with_peers=alignment.observed if alignment else None,
            agreement_interval=alignment.observed_interval if alignment else None,
            agreement_of_peers=alignment.peers if alignment else None,
            kappa_with_majority=kappa(majority[place]),
            category_shares=shares,
            peer_shares=peers.get(annotator, {}),
        )
    return found


def _own_shares(columns: TallyColumns) -> Iterator[tuple[int, dict[int, float]]]:
    """Of each annotator the answers, and the share of them that hold each category used."""
    shape = len(columns.annotators), len(columns.answers)
    cell = columns.owner * shape[1] + columns.own
    given = np.bincount(cell, columns.number, shape[0] * shape[1]).reshape(shape).astype(np.int64)
    for row in given.tolist():
        held: Counter[int] = Counter()
        for own, items in zip(columns.answers, row, strict=True):
            if items:
                held.update(dict.fromkeys(own, items))
        answers = sum(row)
        yield answers, {category: held[category] / answers for category in sorted(held)}
