"""The spans of one answer, and what two answers to a document have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from tracker.measures.spans.overlap import (
    Interval,
    common_span_length,
    covered_span_length,
    disjoint_spans,
    most_matches,
)

Span: TypeAlias = tuple[int, int, int]
Five: TypeAlias = tuple[int, int, int, int, int]
"""One number for each of `spans.SPAN_MEASURES`, in their order."""


class Marked:
    """The spans of one answer, in the forms in which they are compared.

    Attributes:
        spans: in ascending order.
        by_category: where the spans of each category are, in ascending order.
        labelled_positions: what they cover by category, disjoint within each.
        positions: what they cover together, disjoint.
        exact: the spans as a set, further copies of one numbered.
        unlabeled: where they are, likewise.
        numbers: what each measure counts: spans three times, positions by category, positions.
    """

    __slots__ = (
        "by_category",
        "exact",
        "labelled_positions",
        "numbers",
        "positions",
        "spans",
        "unlabelled",
    )

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = sorted(spans)
        self.by_category: dict[int, list[Interval]] = {}
        for category, start, end in self.spans:
            self.by_category.setdefault(category, []).append((start, end))
        self.labelled_positions = {
            category: disjoint_spans(places) if len(places) > 1 else places
            for category, places in self.by_category.items()
        }
        places = sorted([(start, end) for _, start, end in self.spans])
        self.positions = disjoint_spans(places)
        self.exact = _numbered(self.spans)
        self.unlabelled = _numbered(places)
        labelled = sum(
            [covered_span_length(disjoint) for disjoint in self.labelled_positions.values()]
        )
        spans_marked = len(self.spans)
        self.numbers: Five = (
            spans_marked,
            spans_marked,
            spans_marked,
            labelled,
            covered_span_length(self.positions),
        )


def _numbered(values: Sequence[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """Return a multiset as a set of numbered copies, so that an intersection counts copies."""
    copies = set(values)
    if len(copies) < len(values):
        seen: Counter[tuple[int, ...]] = Counter()
        for value in values:
            if seen[value]:
                copies.add((*value, seen[value]))
            seen[value] += 1
    return copies


def mark_span_sets(answers: Mapping[str, Sequence[Span]]) -> dict[str, Marked]:
    """Return the answers to a document by annotator, in order of name.

    Equal ones are one object.
    """
    made: dict[tuple[Span, ...], Marked] = {}
    marked = {}
    for annotator in sorted(answers):
        key = tuple(answers[annotator])
        found = made.get(key)
        if found is None:
            found = made[key] = Marked(key)
        marked[annotator] = found
    return marked


class Common(NamedTuple):
    """What two answers to a document have in common.

    Attributes:
        numbers: what both marked, by each measure.
        exact: the spans of equal start, end and category; the category comes first in each.
    """

    numbers: Five
    exact: Collection[tuple[int, ...]]


_NOTHING = Common((0, 0, 0, 0, 0), ())


def common_spans(first: Marked, second: Marked) -> Common:
    """Return what both answers marked."""
    if first is second:
        return Common(first.numbers, first.spans)
    if not (first.spans and second.spans):
        return _NOTHING
    overlapping = labelled = 0
    other, other_positions = second.by_category, second.labelled_positions
    for category, places in first.by_category.items():
        if category in other:
            overlapping += most_matches(places, other[category])
            labelled += common_span_length(
                first.labelled_positions[category], other_positions[category]
            )
    exact = first.exact & second.exact
    unlabelled = len(first.unlabelled & second.unlabelled)
    positions = common_span_length(first.positions, second.positions)
    return Common((len(exact), unlabelled, overlapping, labelled, positions), exact)
