"""What models, a decision and people said of some items: cells of a tally, and how they are read.

A cell stands for all items of which the same was said. Its people are a pattern: who gave which
answer is not in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from tracker.core.tallies import Answer, Pattern, answers_in_pattern, most_given

NOT_DRAWN, AT_RANDOM, BY_MODEL, LATER = range(4)
"""How an item came to people: by no draw that is known of; by one from all items; by one within the
answers of a model; it came after the draw."""


class Cell(NamedTuple):
    """What was said of an item.

    Attributes:
        models: the answer of each model; None for a model that gave none.
        decision: what was decided; None if nothing was.
        people: the pattern of the people's answers; empty if nobody answered.
        drawn: how it came to people; `NOT_DRAWN` if that was not asked.
    """

    models: tuple[Answer | None, ...]
    decision: Answer | None
    people: Pattern
    drawn: int = NOT_DRAWN

    @property
    def is_answered(self) -> bool:
        """Whether people answered, or decided."""
        return bool(self.people) or self.decision is not None


Cells: TypeAlias = Mapping[Cell, int]
"""How many items each cell stands for."""


def label_of(truth: Answer | None, people: Pattern) -> Answer | None:
    """Return an item's label: its truth or, without one, what most people gave; None if neither."""
    return most_given(people) if truth is None else truth


def people_answer(cell: Cell) -> Answer | None:
    """Return what was decided, or else most people said; None for a tie, and if nobody did."""
    return label_of(cell.decision, cell.people)


def people_gave(cell: Cell, category: int) -> float | None:
    """Return 1 or 0: whether the category is the people's answer, or part of it.

    Of several categories an answer, one is that more than half of the people gave; None for a tie.
    """
    if cell.decision is not None:
        return float(category in cell.decision)
    if all(len(answer) == 1 for answer, _ in cell.people):
        answer = people_answer(cell)
        return None if answer is None else float(category in answer)
    gave = sum(number for answer, number in cell.people if category in answer)
    others = answers_in_pattern(cell.people) - gave
    return None if gave == others else float(gave > others)


def share_of_equal_pairs(people: Pattern) -> float | None:
    """Return the share of the pairs of an item's people who gave the same answer; None of one."""
    number = answers_in_pattern(people)
    if number < 2:
        return None
    return sum(n * (n - 1) for _, n in people) / (number * (number - 1))


def people_number(cell: Cell, numbers: Mapping[int, float]) -> float | None:
    """Return the number that was decided, or the mean of the people's; None if there is none."""
    if cell.decision is not None:
        return numbers[cell.decision[0]]
    if not cell.people:
        return None
    total = math.fsum(numbers[answer[0]] * number for answer, number in cell.people)
    return total / answers_in_pattern(cell.people)
