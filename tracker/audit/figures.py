"""What each annotator's answers come to, before any test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tracker.tally import AnnotatorTallies, Answer, Pattern, answers_in

__all__ = ["AnnotatorFigures", "annotator_figures"]

_UNKNOWN = -1.0


@dataclass(frozen=True)
class AnnotatorFigures:
    """One annotator's figures.

    Attributes:
        answers: answers given, one an item.
        items_shared: items among them that others answered too.
        agreement_with_peers: mean over the shared items of the share of co-annotators who gave
            exactly the same answer; None where no item is shared.
        category_shares: for each category the annotator used, the share of all their answers that
            hold it; the shares exceed 1 together where an answer holds several.
    """

    answers: int
    items_shared: int
    agreement_with_peers: float | None
    category_shares: Mapping[int, float]


def annotator_figures(tallies: AnnotatorTallies) -> dict[int, AnnotatorFigures]:
    """The figures of every annotator in ``tallies``, by id, in the order given there."""
    shares: dict[tuple[Answer, Pattern], float | None] = {}
    return {annotator: _figures(counts, shares) for annotator, counts in tallies.counts.items()}


def _figures(
    counts: Mapping[tuple[Answer, Pattern], int],
    shares: dict[tuple[Answer, Pattern], float | None],
) -> AnnotatorFigures:
    answers = shared = 0
    agreement = 0.0
    by_own: Counter[Answer] = Counter()
    for entry, items in counts.items():
        share = shares.get(entry, _UNKNOWN)
        if share is _UNKNOWN:
            share = shares[entry] = _same_share(*entry)
        answers += items
        by_own[entry[0]] += items
        if share is not None:
            shared += items
            agreement += items * share
    held: Counter[int] = Counter()
    for own, items in by_own.items():
        for category in own:
            held[category] += items
    return AnnotatorFigures(
        answers=answers,
        items_shared=shared,
        agreement_with_peers=agreement / shared if shared else None,
        category_shares={category: held[category] / answers for category in sorted(held)},
    )


def _same_share(own: Answer, pattern: Pattern) -> float | None:
    """Share of the co-annotators of an item whose answer is ``own``; None without any."""
    others = answers_in(pattern) - 1
    return (dict(pattern)[own] - 1) / others if others > 0 else None
