"""A difference shared out among those who answered, or the answers given.

A coefficient is a mean: of the agreement of every answer with the others of its item, corrected
for chance. A group's share of a difference is what its own mean changed, and what it changed to
weigh more or less than a group of another mean (Kitagawa 1955, J. Am. Stat. Assoc. 50, 1168).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Group:
    """A group's part in a figure.

    Attributes:
        weight: its share of all answers that are compared, in [0, 1].
        value: the figure of its answers alone, in the figure's unit.
        answers: how many there are.
    """

    weight: float
    value: float
    answers: int


@dataclass(frozen=True)
class Part:
    """What a group contributed to a difference, and its own figures; None where not there."""

    contribution: float
    before: Group | None
    after: Group | None

    def to_dict(self) -> dict[str, Any]:
        """The part as JSON."""
        return {
            "contribution": self.contribution,
            "a": None if self.before is None else self.before.value,
            "b": None if self.after is None else self.after.value,
            "answers_a": 0 if self.before is None else self.before.answers,
            "answers_b": 0 if self.after is None else self.after.answers,
        }


def contributions(before: Mapping[Key, Group], after: Mapping[Key, Group]) -> dict[Key, Part]:
    """Each group's part in the difference of two figures, the greatest first.

    The parts add up to the second figure less the first, each of which is the sum over its
    groups of weight times value. A group that is new or gone counts by how far its value lies
    from the mean of both figures.
    """
    level = (_mean(before) + _mean(after)) / 2
    parts = {}
    for key in dict.fromkeys([*before, *after]):
        one, other = before.get(key), after.get(key)
        first, second = one or other, other or one
        assert first is not None
        assert second is not None
        weights = (0.0 if one is None else one.weight, 0.0 if other is None else other.weight)
        changed = (second.value - first.value) * sum(weights) / 2
        moved = ((first.value + second.value) / 2 - level) * (weights[1] - weights[0])
        parts[key] = Part(changed + moved, one, other)
    return dict(sorted(parts.items(), key=lambda part: -abs(part[1].contribution)))


def _mean(groups: Mapping[Key, Group]) -> float:
    return sum(group.weight * group.value for group in groups.values())
