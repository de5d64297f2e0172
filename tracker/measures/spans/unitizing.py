"""Krippendorff's alpha for unitizing: nominal categories, any number of annotators.

Every annotator divides a continuum into units of a category and the gaps between them. Two units
of one category that overlap differ by the squares of the differences of their beginnings and of
their ends, a unit that lies in a gap of the other by the square of its length; what is expected
is what all units would differ by if they lay anywhere. The units of one annotator and category
must not overlap each other; touching ones are two.

Source:
    Krippendorff (1995), Sociological Methodology 25, 47; the formulas in the form of
    Krippendorff (2004), Content Analysis, 2nd edition, chapter 11, whose example (page 254) the
    tests hold.

Several documents are one continuum as long as all of them. No unit reaches across the end of a
document, so a gap ends there too, and their order does not matter. Where not everyone answered
every document, a document's observed differences are weighted by 1 / (m - 1) for its m answers,
and documents of one answer are left out, as in alpha for coding; with the same annotators
throughout it makes no difference. Both extensions are ours, not the source's.

Units that lie anywhere by chance come out somewhat below 0 where they are long against their
document: the expectation knows nothing of the places that the end of the continuum forbids.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import combinations

from tracker.measures.intervals import NOT_APPLICABLE, SINGLE_CATEGORY, Coefficient
from tracker.measures.spans.overlap import Interval, Marked


@dataclass
class _Category:
    """The sums for one category."""

    observed: Counter[int] = field(default_factory=Counter)  # over pairs, by answers to a document
    units: Counter[int] = field(default_factory=Counter)  # how many there are of each length
    gaps: Counter[int] = field(default_factory=Counter)  # likewise, less answers without a unit
    unmarked: Counter[int] = field(default_factory=Counter)


@dataclass
class UnitTally:
    """Sums over documents; they grow with the number of distinct lengths.

    Attributes:
        documents: documents of two answers or more.
        length: of these together.
        answered: the same, each times its answers.
        applicable: every length is known, and no units of one answer and category overlap.
        whole: how many answers there are to documents of each length.
        categories: the sums of each category that was marked.
    """

    documents: int = 0
    length: int = 0
    answered: int = 0
    applicable: bool = True
    whole: Counter[int] = field(default_factory=Counter)
    categories: defaultdict[int, _Category] = field(default_factory=lambda: defaultdict(_Category))

    def add(self, answers: Mapping[str, Marked], length: int | None) -> None:
        if len(answers) < 2:
            return
        self.documents += 1
        if length is None or not all(_fits(own, length) for own in answers.values()):
            self.applicable = False
        if not self.applicable or length is None:
            return
        self.length += length
        self.answered += length * len(answers)
        self.whole[length] += len(answers)
        for own in answers.values():
            for category, units in own.by_category.items():
                _add_lengths(self.categories[category], units, length)
        for first, second in combinations(answers.values(), 2):
            if first is not second:
                for category in first.by_category.keys() | second.by_category.keys():
                    self.categories[category].observed[len(answers)] += _difference(
                        first.by_category.get(category, ()), second.by_category.get(category, ())
                    )

    def disagreements(self, category: int) -> tuple[Fraction, Fraction]:
        """Return observed and expected disagreement of a category, in squared continuum shares."""
        sums = self.categories[category]
        observed = sum(
            (Fraction(2 * total, answers - 1) for answers, total in sums.observed.items()),
            Fraction(0),
        )
        units = sum(length * (length - 1) * number for length, number in sums.units.items())
        expected = Fraction(
            2 * _expected(sums.units, self.whole + sums.gaps - sums.unmarked),
            self.answered * (self.answered - 1) - units,
        )
        return observed / self.answered / self.length, expected / self.length


def unitizing_alpha(
    tally: UnitTally, *, undefined: str | None = None, confidence: float = 0.95
) -> Coefficient:
    """Return alpha of all categories together, at most 1; 0 is chance level.

    Its details hold D_o and D_e in squared shares of the continuum, the sums over categories. It
    has no standard error: the source has none. ``confidence`` is only named in the result.

    Undefined: as the caller says; not_applicable if the length of a document of two answers is not
    known, a span reaches past it, or spans of one answer and category overlap; single_category if
    nothing is marked or everything is one unit of one position.
    """
    coefficient = partial(
        Coefficient, "unitizing_alpha", confidence=confidence, items=tally.documents
    )
    if undefined is None and not tally.applicable:
        undefined = NOT_APPLICABLE
    if undefined is not None:
        return coefficient(None, undefined)
    parts = [tally.disagreements(category) for category in tally.categories]
    observed = sum((part[0] for part in parts), Fraction(0))
    expected = sum((part[1] for part in parts), Fraction(0))
    if not expected:
        return coefficient(None, SINGLE_CATEGORY)
    details = {"observed_disagreement": float(observed), "expected_disagreement": float(expected)}
    return coefficient(float(1 - observed / expected), details=details)


def _fits(own: Marked, length: int) -> bool:
    """Return whether no units of one category overlap, and none ends past the document."""
    for category, units in own.by_category.items():
        # Intervals that are disjoint already are returned as they came.
        if own.labelled_positions[category] is not units or units[-1][1] > length:
            return False
    return True


def _add_lengths(sums: _Category, units: Sequence[Interval], length: int) -> None:
    """Count the units of one answer, and the gaps between them."""
    sums.unmarked[length] += 1
    last = 0
    for start, end in units:
        sums.units[end - start] += 1
        if start > last:
            sums.gaps[start - last] += 1
        last = end
    if length > last:
        sums.gaps[length - last] += 1


def _difference(first: Sequence[Interval], second: Sequence[Interval]) -> int:
    """Return how much the units of two answers to one document differ, in squared positions."""
    total = place = other_place = 0
    met_one = met_other = False  # whether the unit that is looked at overlaps one of the other side
    while place < len(first) or other_place < len(second):
        start, end = first[place] if place < len(first) else _END
        start_other, end_other = second[other_place] if other_place < len(second) else _END
        if start < end_other and start_other < end:
            total += (start - start_other) ** 2 + (end - end_other) ** 2
            met_one = met_other = True
        if end <= end_other:
            total += 0 if met_one else (end - start) ** 2
            place, met_one = place + 1, False
        else:
            total += 0 if met_other else (end_other - start_other) ** 2
            other_place, met_other = other_place + 1, False
    return total


_END = (1 << 62, 1 << 62)
"""A unit after every other, which none overlaps."""


def _expected(units: Counter[int], gaps: Counter[int]) -> int:
    """Return how much units of these lengths differ over all places where they may meet.

    Of a unit of length l that is l (l - 1) (2 l - 1) / 3 for each other unit, and l squared for
    each place in a gap that holds it.
    """
    others = units.total() - 1
    rest = sorted(gaps)
    number = length_of_gaps = total = 0
    for length in sorted(units, reverse=True):
        while rest and rest[-1] >= length:
            gap = rest.pop()
            number += gaps[gap]
            length_of_gaps += gap * gaps[gap]
        places = length_of_gaps - (length - 1) * number
        meeting = length * (length - 1) * (2 * length - 1) // 3
        total += units[length] * (others * meeting + length * length * places)
    return total
