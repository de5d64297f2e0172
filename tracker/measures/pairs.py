"""Cohen's kappa of two annotators, from the cross-table of their answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from tracker.measures.coefficient import (
    NO_OVERLAP,
    Coefficient,
    estimate,
    single_category,
)
from tracker.tally import Answer

__all__ = ["cohen_kappa"]


def cohen_kappa(
    table: Mapping[tuple[Answer, Answer], int], confidence: float = 0.95
) -> Coefficient:
    """Cohen's kappa, at most 1; 0 is chance level under each annotator's own shares.

    Args:
        table: ``{(answer of the first, answer of the second): items}`` over the items that both
            answered. The first may be the truth and the second the pooled annotators, with one
            count per answer; the error then takes answers for items, which is too optimistic
            where several answers go to one item.
        confidence: the level of the bounds, in (0, 1); t with one degree of freedom less than
            there are items.

    Returns:
        The coefficient with its observed and expected agreement, or undefined: no_overlap (an
        empty table), single_category (both gave one and the same answer throughout).

    Raises:
        InvalidOption: the confidence level is not in (0, 1).

    Source:
        Cohen (1960), Educ. Psychol. Meas. 20, 37; error by Fleiss, Cohen and Everitt (1969),
        Psychol. Bull. 72, 323, equation 13.
    """
    items = sum(table.values())
    if items == 0:
        return Coefficient("cohen_kappa", None, NO_OVERLAP, confidence=confidence)
    first, second = _marginals(table)
    agreed = sum(count for (one, other), count in table.items() if one == other)
    chance = sum(total * second[answer] for answer, total in first.items())
    square = items * items
    if chance == square:
        return single_category("cohen_kappa", items, confidence)
    return estimate(
        "cohen_kappa",
        (agreed * items - chance) / (square - chance),
        _error(table, items, agreed, chance),
        observed=agreed / items,
        expected=chance / square,
        items=items,
        compared=items,
        confidence=confidence,
    )


def _marginals(
    table: Mapping[tuple[Answer, Answer], int],
) -> tuple[Counter[Answer], Counter[Answer]]:
    """How many items got each answer from the first annotator, and from the second."""
    first: Counter[Answer] = Counter()
    second: Counter[Answer] = Counter()
    for (one, other), count in table.items():
        first[one] += count
        second[other] += count
    return first, second


def _error(
    table: Mapping[tuple[Answer, Answer], int], items: int, agreed: int, chance: int
) -> float:
    """The large-sample standard error of Fleiss, Cohen and Everitt, from integers.

    Their equation multiplied out by powers of the number of items: a difference of large equal
    terms that is exactly 0 for perfect agreement, where floats would leave 1e-9.
    """
    first, second = _marginals(table)
    missed = items - agreed
    room = items * items - chance
    spread = 0
    for (one, other), count in table.items():
        if one == other:
            spread += count * (room - (first[one] + second[one]) * missed) ** 2
        else:
            spread += count * ((second[one] + first[other]) * missed) ** 2
    centre = agreed * chance - 2 * chance * items + agreed * items * items
    return math.sqrt(items * (items * spread - centre * centre)) / room**2
