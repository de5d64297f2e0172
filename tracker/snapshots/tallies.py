"""The tallies of a snapshot: counted in full, or from those of an earlier one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from tracker.agreement.coefficients import Study
from tracker.agreement.result import Assessment
from tracker.agreement.run import assessment_of
from tracker.core.tallies import AnnotatorTallies, ItemPatterns, Pattern, answers_in_pattern
from tracker.core.tally_columns import tally_columns_of
from tracker.counts.annotator_patterns import count_annotator_marginals
from tracker.counts.selection import Selection
from tracker.counts.tallies import count_annotator_tallies, count_item_patterns

MOST_PATTERNS = 20_000
"""Of more patterns than that, annotators' tallies would come near the labels in number."""


@dataclass(frozen=True)
class Tallied:
    """The tallies of a snapshot.

    Attributes:
        patterns: the item patterns, whole.
        answers: how many answers of each annotator count, none with 0.
        tallies: of the annotators, whole or the difference to another snapshot; None if
            patterns were too many.
        read: the items whose labels were read; None for all.
    """

    patterns: ItemPatterns
    answers: Mapping[int, int]
    tallies: AnnotatorTallies | None
    read: int | None = None

    @property
    def annotators(self) -> list[int]:
        """The ids of those with an answer that counts, ascending."""
        return sorted(self.answers)


def count_snapshot_tallies(connection: Connection, selection: Selection) -> Tallied:
    """Return the tallies of every item."""
    patterns = count_item_patterns(connection, selection)
    if len(patterns.counts) > MOST_PATTERNS:
        own = count_annotator_marginals(connection, selection)
        return Tallied(patterns, {who: sum(given.values()) for who, given in own.items()}, None)
    tallies = count_annotator_tallies(connection, selection)
    return Tallied(patterns, snapshot_answers_by_annotator(tallies), tallies)


def snapshot_answers_by_annotator(tallies: AnnotatorTallies) -> dict[int, int]:
    """Return how many answers of each annotator are in some tallies.

    Differences may be negative.
    """
    columns = tally_columns_of(tallies)
    answers = zip(columns.annotators.tolist(), columns.total(1.0).tolist(), strict=True)
    return {who: int(number) for who, number in answers}


def patterns_in_snapshot_tallies(tallies: AnnotatorTallies) -> ItemPatterns:
    """Return the item patterns of some tallies or of a difference, in their order.

    Each annotator of an item has met its pattern once, so that it is there as often as it has
    answers.
    """
    met: Counter[Pattern] = Counter()
    for counts in tallies.counts.values():
        for (_, pattern), items in counts.items():
            met[pattern] += items
    counted = {
        pattern: times // answers_in_pattern(pattern) for pattern, times in met.items() if times
    }
    return ItemPatterns(dict(sorted(counted.items())))


def snapshot_assessment(counted: Study) -> Assessment:
    """Return the figures that a snapshot records."""
    return assessment_of(
        counted.question,
        counted.sample,
        counted.patterns,
        counted.names,
        counted.figures(),
        counted.query,
        binary=False,
    )
