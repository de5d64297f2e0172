"""Which categories stand in for each other where two annotators of an item differ.

A *disagreement* is an unordered pair of annotators and an item to which they gave different
answers. It confuses two categories if one of the two gave the first and not the second, and the
other the second and not the first; if what one gave is all part of what the other gave, it
confuses each further category with none. Among answers of one category each disagreement is one
confusion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Final

from tracker.core.tallies import Answer, ItemPatterns, Pattern

NOTHING: Final = 0
"""What stands for no category; the ids of categories are greater."""


@dataclass(frozen=True)
class Confusion:
    """Two categories that were confused.

    Attributes:
        first: a category's id; `NOTHING` for none.
        second: the other one's, which is greater.
        disagreements: pairs of annotators and items that confuse the two.
        items: the items on which somebody did.
        share: of all confusions of a project.
    """

    first: int
    second: int
    disagreements: int
    items: int
    share: float


def category_confusions(patterns: ItemPatterns) -> list[Confusion]:
    """Return every two categories that were confused, the most frequent first, then by id."""
    pairs: Counter[tuple[int, int]] = Counter()
    on_items: Counter[tuple[int, int]] = Counter()
    for pattern, items in patterns:
        confused = pattern_confusions(pattern)
        for key, number in confused.items():
            pairs[key] += number * items
            on_items[key] += items
    total = sum(pairs.values())
    ranked = sorted(pairs, key=lambda key: (-pairs[key], key))
    return [Confusion(*key, pairs[key], on_items[key], pairs[key] / total) for key in ranked]


def pattern_confusions(pattern: Pattern) -> dict[tuple[int, int], int]:
    """Return how many pairs of an item's annotators confuse each two categories."""
    found: Counter[tuple[int, int]] = Counter()
    for (one, of_one), (other, of_other) in combinations(pattern, 2):
        for key in _between(one, other):
            found[key] += of_one * of_other
    return found


def _between(one: Answer, other: Answer) -> Iterator[tuple[int, int]]:
    """Yield the categories that two different answers confuse, the lesser id first."""
    mine, theirs = set(one) - set(other), set(other) - set(one)
    for first, second in product(mine or {NOTHING}, theirs or {NOTHING}):
        yield min(first, second), max(first, second)
