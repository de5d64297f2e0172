"""A category that two parts of the annotators read in two ways.

Nobody is bad, then: half of the people read an ambiguous item as one category, half as another. A
consensus of all answers settles on one of the two schools and holds it against the other, so
that findings about people only repeat what is about the definition.

A category is divided if at least a fifth of the annotators, and two or more, give it more often
than the others of their items do, and as many less often: each with p at most .05 and odds of 2.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias

from tracker.audit.evidence import Evidence
from tracker.audit.kind import MINIMUM_INFORMATIVE, ProjectFinding
from tracker.core.tallies import Pattern, answers_in_pattern

KIND: Final = "divided_definition"
BLIND: Final = frozenset({"constant_category", "random_answers"})
"""Findings about people whose answers do not depend on the items: they have no reading."""
MOST_DIVIDED: Final = 2
ITEMS_SHOWN: Final = 5
_SHARE: Final = 0.2
_LEAST: Final = 2
_SURE: Final = 0.05
_ODDS: Final = 2.0
_ALIKE: Final = 0.63
_LEAST_PAIRS: Final = 20

SideTallies: TypeAlias = Mapping[tuple[int, int, int, int], int]
"""``{(gave the category, of those who give it more, gave it, of those who do less): items}``."""


@dataclass(frozen=True)
class DividedDefinition(ProjectFinding):
    """A category, and the annotators of both sides by id.

    Attributes:
        category: its id.
        more: who give it more often than the others of their items, the most telling first.
        less: who give it less often.
        p_value: how likely as many stand out by chance, on the side with fewer.
        items: names of items on which about half gave it.
        certain: whether enough items could tell if each side reads it alike.
        informative: items that both sides answered.
    """

    kind: ClassVar[str] = KIND
    category: int = field()
    more: tuple[int, ...]
    less: tuple[int, ...]
    p_value: float
    items: tuple[str, ...] = ()
    certain: bool = True
    informative: int = 0

    def values(self, names: Mapping[int, Any], categories: Mapping[int, str]) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "category": categories[self.category],
            "more": sorted(names[annotator] for annotator in self.more),
            "less": sorted(names[annotator] for annotator in self.less),
            "p_value": self.p_value,
            "evidence": list(self.items),
        }


def divided_definitions(
    evidence: Evidence, blind: Collection[int] = ()
) -> Iterator[DividedDefinition]:
    """Yield the categories that are read in two ways, the clearest first.

    Annotators who are ``blind`` to the items, answering at random or always alike, have no
    reading, and are not counted. If an annotator gives a category more often, another one is
    given less often: of two categories whose sides are each other's the clearer one is told.
    """
    sides: defaultdict[int, tuple[dict[int, float], dict[int, float]]] = defaultdict(
        lambda: ({}, {})
    )
    annotators: defaultdict[int, int] = defaultdict(int)
    for usage in evidence.usages:
        if usage.informative < MINIMUM_INFORMATIVE or usage.annotator in blind:
            continue
        annotators[usage.category] += 1
        odds, p_value = usage.odds_ratio, 2 * min(usage.tails)
        if odds is None or p_value > _SURE:
            continue
        if odds >= _ODDS:
            sides[usage.category][0][usage.annotator] = p_value
        elif odds <= 1 / _ODDS:
            sides[usage.category][1][usage.annotator] = p_value
    candidates = []
    for category, (more, less) in sides.items():
        number, fewer = annotators[category], min(len(more), len(less))
        if fewer >= max(_LEAST, _SHARE * number):
            p_value = _binomial_tail(fewer, number)
            telling = math.fsum(map(math.log, [*more.values(), *less.values()]))
            first, second = (tuple(sorted(side, key=side.__getitem__)) for side in (more, less))
            candidates.append((telling, DividedDefinition(category, first, second, p_value)))
    definitions: list[DividedDefinition] = []
    for _, definition in sorted(candidates, key=lambda pair: pair[0]):
        if not any(_mirrors(definition, other) for other in definitions):
            definitions.append(definition)
    yield from definitions


def _mirrors(definition: DividedDefinition, other: DividedDefinition) -> bool:
    """Return whether most of those who give one category more often give the other less often."""
    more, less = set(definition.more) & set(other.less), set(definition.less) & set(other.more)
    return 2 * len(more) >= len(definition.more) and 2 * len(less) >= len(definition.less)


def sides_read_alike(sides: SideTallies) -> bool | None:
    """Return whether each side reads the category alike; None if too few items can tell.

    People who answer carelessly lean to a category, too, and everybody else then stands out on
    the other side; but they do not lean on the same items. So of the items on which one of a side
    differs from one of the other side, it is asked how often a second one of the side gave the
    same. In simulated crowds of two schools it is 64% and more (24 of 25), in those of which a
    quarter answer carelessly at most 60% (20 of 21).
    """
    alike, pairs = [0, 0], [0, 0]
    for (more, of_more, less, of_less), items in sides.items():
        without = of_less - less
        if more and without:
            for side, (same, of) in enumerate(((more, of_more), (without, of_less))):
                alike[side] += items * same * (same - 1)
                pairs[side] += items * same * (of - 1)
    if min(pairs) < _LEAST_PAIRS:
        return None
    return all(same >= _ALIKE * of for same, of in zip(alike, pairs, strict=True))


def _binomial_tail(number: int, of: int) -> float:
    """Return how likely so many of these, or more, have a p-value of that on one side."""
    chance = _SURE / 2
    return min(
        math.fsum(
            math.comb(of, n) * chance**n * (1 - chance) ** (of - n) for n in range(number, of + 1)
        ),
        1.0,
    )


def patterns_that_show(category: int, patterns: Collection[Pattern], most: int) -> list[Pattern]:
    """Return the patterns in which a category is given by about half, the most telling first."""

    def split(pattern: Pattern) -> float:
        held = sum(count for answer, count in pattern if category in answer)
        number = answers_in_pattern(pattern)
        return min(held, number - held) / number

    telling = [pattern for pattern in patterns if split(pattern) > 0]
    return sorted(telling, key=lambda pattern: (-split(pattern), -answers_in_pattern(pattern)))[
        :most
    ]
