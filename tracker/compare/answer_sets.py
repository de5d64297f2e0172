"""Two sets of answers compared: other annotators, another time, another project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from tracker import queries
from tracker.agreement.study import Study
from tracker.audit.evidence import Evidence
from tracker.core.shown import Message, as_json
from tracker.core.tallies import Pattern
from tracker.measures.coefficient import NOT_APPLICABLE, TOO_FEW_ANNOTATORS, Coefficient
from tracker.measures.estimate import Estimate, Floats
from tracker.measures.significance import Comparison, dependent, independent
from tracker.measures.two_sample import two_columns
from tracker.projects.annotators import annotator_names


@dataclass(frozen=True)
class AgainstOther:
    """Each measure of two sets of answers, and the difference: the first less the second.

    ``shared`` items were answered in both. ``by_item`` compares the agreement of the items as
    two columns of figures, paired where the items are the same; ``by_annotator`` the mean
    agreement of the annotators with the others of their items, which has no test.
    """

    first: str
    second: str
    shared: int
    measures: tuple[tuple[Coefficient, Coefficient, Comparison], ...]
    by_item: Comparison
    by_annotator: Comparison

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON."""
        return {
            "project": self.first,
            "against": self.second,
            "shared_items": self.shared,
            "measures": [
                {"measure": one.measure, "a": one.value, "b": other.value} | as_json(found)
                for one, other, found in self.measures
            ],
            "items": as_json(self.by_item),
            "annotators": as_json(self.by_annotator),
        }


def compare_studies(first: Study, second: Study, told: str) -> AgainstOther:
    """Compare the measures that both have.

    Where items are shared, a coefficient's items are compared with themselves (paired t on their
    influences); items of one side only count there. Else the two are independent.
    """
    joint = queries.joint_codes(first.connection, first.selection, second.selection)
    shared = sum(items for *_, items in joint)
    figures, others = first.figures(), {one.measure: one for one in second.figures()}
    confidence = first.query.confidence
    compared = [
        (
            one,
            others[one.measure],
            _compared(first, second, one, others[one.measure], joint, confidence),
        )
        for one in figures
        if one.measure in others
    ]
    return AgainstOther(
        first.project.name,
        told,
        shared,
        tuple(compared),
        _by_item(first, second, joint, confidence),
        _by_annotator(first, second, confidence),
    )


Joint = Sequence[tuple[Pattern, Pattern, int]]


def _compared(
    first: Study,
    second: Study,
    one: Coefficient,
    other: Coefficient,
    joint: Joint,
    confidence: float,
) -> Comparison:
    if one.value is None or other.value is None:
        return independent(one, other, confidence)
    if one.measure == "light_kappa":
        return _untested(one.value - other.value, Message("comparisons.no_error"), confidence)
    if not joint:
        return independent(one, other, confidence)
    mine, theirs = _influences(first, one.measure), _influences(second, other.measure)
    if mine is None or theirs is None:
        return _untested(one.value - other.value, Message("comparisons.no_influence"), confidence)
    rows = [(mine[a], theirs[b], items) for a, b, items in joint]
    rows += [(mine[a], 0.0, items) for a, items in _rest(first, [(a, n) for a, _, n in joint])]
    rows += [(0.0, theirs[b], items) for b, items in _rest(second, [(b, n) for _, b, n in joint])]
    a, b, items = zip(*rows, strict=True)
    return dependent(a, b, items, one.value - other.value, confidence)


def _untested(difference: float, why: Message, confidence: float) -> Comparison:
    return Comparison(difference, confidence=confidence, why=why, undefined=NOT_APPLICABLE)


def _influences(counted: Study, measure: str) -> dict[Pattern, float] | None:
    found = counted.estimates[measure]
    if not isinstance(found, Estimate) or found.influence is None:
        return None
    patterns = [pattern for pattern, items in counted.patterns if items]
    return dict(zip(patterns, found.influence.tolist(), strict=True))


def _rest(counted: Study, shared: Sequence[tuple[Pattern, int]]) -> list[tuple[Pattern, int]]:
    """The items of one side only, by pattern."""
    left = dict(counted.patterns)
    for pattern, items in shared:
        left[pattern] -= items
    return [(pattern, items) for pattern, items in left.items() if items]


def _by_item(first: Study, second: Study, joint: Joint, confidence: float) -> Comparison:
    """The items' agreement, of those that can be compared, as two columns."""
    mine, theirs = _agreements(first), _agreements(second)
    both = [(mine[a], theirs[b], n) for a, b, n in joint if a in mine and b in theirs]
    if both:
        a, b, items = zip(*both, strict=True)
        return two_columns(a, b, paired=True, counts=(items, items), confidence=confidence)
    counts = [
        [items for pattern, items in side.patterns if pattern in values]
        for side, values in ((first, mine), (second, theirs))
    ]
    return two_columns(
        [*mine.values()],
        [*theirs.values()],
        paired=False,
        counts=(counts[0], counts[1]),
        confidence=confidence,
    )


def _agreements(counted: Study) -> dict[Pattern, float]:
    """The share of agreeing pairs of each pattern of two answers or more."""
    values: Floats = counted.sample.agreement
    patterns = [pattern for pattern, items in counted.patterns if items]
    return {
        pattern: float(value)
        for pattern, value, size in zip(patterns, values, counted.sample.table.sizes, strict=True)
        if size > 1
    }


def _by_annotator(first: Study, second: Study, confidence: float) -> Comparison:
    """The annotators' mean agreement with the others; of those in both, if two or more are.

    It has no test. An annotator's agreement rests on the answers of the others to the same items,
    so annotators are not independent of each other: a test that takes them for a sample of n finds
    a difference without a change in one comparison of five.
    """
    mine, theirs = _peers(first), _peers(second)
    both = sorted(mine.keys() & theirs.keys())
    if len(both) > 1:
        mine, theirs = ({name: one[name] for name in both} for one in (mine, theirs))
    known = bool(mine and theirs)
    return Comparison(
        fmean(mine.values()) - fmean(theirs.values()) if known else None,
        confidence=confidence,
        why=Message("comparisons.no_sample"),
        n_first=len(mine),
        n_second=len(theirs),
        undefined=NOT_APPLICABLE if known else TOO_FEW_ANNOTATORS,
    )


def _peers(counted: Study) -> dict[str, float]:
    """Each annotator's share of agreeing pairs, by name; none for who shares no item."""
    names = annotator_names(counted.connection, counted.project)
    tallies = queries.annotator_tallies(counted.connection, counted.selection)
    return {
        names[who]: alignment.observed for who, alignment in Evidence(tallies).alignments.items()
    }
