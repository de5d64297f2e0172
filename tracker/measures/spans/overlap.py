"""Half-open intervals ``(start, end)`` of one document: which match, and what they cover."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

Interval: TypeAlias = tuple[int, int]


def most_matches(first: Sequence[Interval], second: Sequence[Interval]) -> int:
    """Return the greatest number of pairs of overlapping intervals, no interval in two pairs.

    Touching intervals share nothing and do not overlap. Both sides are sorted.

    What ends first is paired with the overlapping one of the other side that ends first. That is
    a maximum matching, nesting or not: be ``x`` the interval that ends first of all that are
    left. All that overlap it hold its last position, so they overlap each other and end no
    earlier. Let ``y`` be the first of them to end. If a maximum matching has ``x`` with ``v`` and
    ``y`` with ``u``, then ``u`` begins before ``y`` ends, hence before ``v`` ends, and it ends
    no earlier than ``x``, hence after ``v`` begins: ``u`` and ``v`` overlap, and ``x`` with
    ``y``, ``u`` with ``v`` is as large. Where one of the two is free it is swapped in.
    """
    if len(first) == 1 == len(second):
        return int(first[0][0] < second[0][1] and second[0][0] < first[0][1])
    if _in_step(first) and _in_step(second):
        return _most_in_step(first, second)
    return _most_nested((first, second))


def _in_step(intervals: Sequence[Interval]) -> bool:
    """Return whether they end in the order in which they start, as they do unless they nest."""
    last = 0
    for _, end in intervals:
        if end < last:
            return False
        last = end
    return True


def _most_in_step(first: Sequence[Interval], second: Sequence[Interval]) -> int:
    """Return the matching of `most_matches` if the next to end is always the next in the list."""
    matched = place = other_place = 0
    while place < len(first) and other_place < len(second):
        if first[place][1] <= second[other_place][0]:
            place += 1
        elif second[other_place][1] <= first[place][0]:
            other_place += 1
        else:
            matched += 1
            place += 1
            other_place += 1
    return matched


def _most_nested(sides: tuple[Sequence[Interval], Sequence[Interval]]) -> int:
    """Return the matching of `most_matches` in general, in the time of a sort."""
    ends = sorted(
        (end, side, index)
        for side, intervals in enumerate(sides)
        for index, (_, end) in enumerate(intervals)
    )
    gone = [[False] * len(intervals) for intervals in sides]
    begun = [0, 0]  # how many of each side start before the end that is looked at
    candidates: tuple[list[tuple[int, int]], ...] = ([], [])  # those of them by their ends
    matched = 0
    for end, side, index in ends:
        if gone[side][index]:
            continue
        gone[side][index] = True
        other = 1 - side
        intervals, waiting = sides[other], candidates[other]
        while begun[other] < len(intervals) and intervals[begun[other]][0] < end:
            heappush(waiting, (intervals[begun[other]][1], begun[other]))
            begun[other] += 1
        while waiting and gone[other][waiting[0][1]]:
            heappop(waiting)
        if waiting:
            gone[other][heappop(waiting)[1]] = True
            matched += 1
    return matched


def disjoint_spans(intervals: Sequence[Interval]) -> Sequence[Interval]:
    """Return sorted intervals made disjoint, covering the same positions."""
    last = 0
    for start, end in intervals:
        if start < last:
            break
        last = end
    else:
        return intervals
    disjoint = [intervals[0]]
    for start, end in intervals[1:]:
        last_start, last_end = disjoint[-1]
        if start < last_end:
            disjoint[-1] = last_start, max(last_end, end)
        else:
            disjoint.append((start, end))
    return disjoint


def covered_span_length(disjoint: Sequence[Interval]) -> int:
    return sum([end - start for start, end in disjoint])


def common_span_length(first: Sequence[Interval], second: Sequence[Interval]) -> int:
    """Return how many positions both sides cover, each of them sorted and disjoint."""
    if not second:
        return 0
    common, others = 0, iter(second)
    start_other, end_other = next(others)
    for start, end in first:
        while end_other <= end:  # what ends first meets nothing further
            if end_other > start:
                common += end_other - max(start, start_other)
            following = next(others, None)
            if following is None:
                return common
            start_other, end_other = following
        if start_other < end:
            common += end - max(start, start_other)
    return common


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
        labelled = sum([covered_span_length(spans) for spans in self.labelled_positions.values()])
        number, positions = len(self.spans), covered_span_length(self.positions)
        self.numbers: Five = (number, number, number, labelled, positions)


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
    """Return the answers to a document by annotator, by name; equal ones are one object."""
    distinct: dict[tuple[Span, ...], Marked] = {}
    marked = {}
    for annotator in sorted(answers):
        spans = tuple(answers[annotator])
        if spans not in distinct:
            distinct[spans] = Marked(spans)
        marked[annotator] = distinct[spans]
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
