"""Two periods that do not overlap: no answer is in both, so nothing was added or taken away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tracker.compare.states import State
from tracker.core.tallies import Pattern

OTHER_ITEMS, SAME_ITEMS = PERIOD_KINDS = ("other_items", "same_items")
"""What differs between them: items of one period alone, and items of both answered again."""


@dataclass(frozen=True)
class PeriodItem:
    """An item by its pattern in each period; ``()`` if it has no answer there."""

    before: Pattern
    after: Pattern

    def counts(self) -> dict[str, int]:
        """The kind of difference that the item is."""
        return {SAME_ITEMS if self.before and self.after else OTHER_ITEMS: 1}

    def pattern(self, kinds: frozenset[str]) -> Pattern:
        """The pattern of the item if only these kinds of difference had happened."""
        return self.after if self.counts().keys() <= kinds else self.before


@dataclass(frozen=True)
class PeriodItems:
    """How many items have answers in the first period alone, in the second alone, in both."""

    only_a: int
    only_b: int
    both: int

    @classmethod
    def of(cls, items: Mapping[PeriodItem, int]) -> PeriodItems:
        """Count them."""
        found = Counter[tuple[bool, bool]]()
        for item, number in items.items():
            found[bool(item.before), bool(item.after)] += number
        return cls(found[True, False], found[False, True], found[True, True])

    def to_dict(self) -> dict[str, int]:
        """The numbers as JSON."""
        return {
            "items_only_a": self.only_a,
            "items_only_b": self.only_b,
            "items_in_both": self.both,
        }


def are_disjoint(one: State, other: State) -> bool:
    """Whether one state's answers were all given before the first that the other may hold."""
    return _before(one, other) or _before(other, one)


def _before(one: State, other: State) -> bool:
    as_of = one.moment.as_of if one.snapshot is None else one.snapshot.moment
    ends = [end for end in (as_of, one.selection.until) if end is not None]
    since = other.selection.since
    return bool(ends) and since is not None and min(ends) < since


def items_of_periods(steps: Iterable[tuple[Pattern, Pattern, int]]) -> Counter[PeriodItem]:
    """How many items have each pair of patterns, before and after."""
    found: Counter[PeriodItem] = Counter()
    for before, after, items in steps:
        found[PeriodItem(before, after)] += items
    return found
