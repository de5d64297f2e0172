"""Disagreement within items, and how much of it a part of the answers explains.

An item of n answers, n_c of them alike, holds sum_c n_c (n - n_c) / (n - 1) of disagreement: of
each answer, the share of the item's other answers that are different (Krippendorff 2011, observed
disagreement of nominal data). It adds up over items.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tracker.core.tallies import Answer, FloatArray, ItemPatterns, Pattern, answers_in_pattern
from tracker.core.tally_columns import TallyColumns


def item_disagreement(pattern: Pattern) -> tuple[float, int]:
    """Return the disagreement of an item, and its answers that can be compared."""
    number = answers_in_pattern(pattern)
    if number < 2:
        return 0.0, 0
    return sum(count * (number - count) for _, count in pattern) / (number - 1), number


def total_disagreement(patterns: Iterable[tuple[Pattern, int]]) -> tuple[float, int]:
    """Return the sums of both over items, given how many have each pattern."""
    within, answers = 0.0, 0
    for pattern, items in patterns:
        of_item, number = item_disagreement(pattern)
        within, answers = within + of_item * items, answers + number * items
    return within, answers


def explained_by_items(every: ItemPatterns, worse: ItemPatterns, better: ItemPatterns) -> float:
    """Return the share of all disagreement that would be gone if ``worse`` was like ``better``.

    Below 0 if it is better; 0 if there is nothing to compare.
    """
    total, _ = total_disagreement(every)
    (within, answers), (other, others) = map(total_disagreement, (worse, better))
    if not total or not answers or not others:
        return 0.0
    return (within - other / others * answers) / total


def explained_by_owners(columns: TallyColumns) -> dict[int, float]:
    """Return by how much the mean disagreement falls if the answers of an owner are left out.

    It is a share of the mean disagreement of all answers, below 0 if it rises; 0 if there is none,
    or if nothing is left to compare. An owner is an annotator, or one's answers of one file.
    """
    within, answers = total_disagreement(columns.item_patterns)
    met, place = columns.met
    if not within or not met:
        return dict.fromkeys(columns.annotators.tolist(), 0.0)
    lost: FloatArray = np.array([_lost(*pair) for pair in met])
    totals = [columns.total(lost[place, column]) for column in (0, 1)]
    rows = zip(columns.annotators.tolist(), *(total.tolist() for total in totals), strict=True)
    return {
        owner: 1 - (within - less) / (answers - fewer) * answers / within if fewer < answers else 0
        for owner, less, fewer in rows
    }


def _lost(own: Answer, pattern: Pattern) -> tuple[float, int]:
    """Return the disagreement and the compared answers that an item loses without an answer."""
    before, number = item_disagreement(pattern)
    if number < 3:
        return before, number
    apart = (number - 1) * before - 2 * (number - dict(pattern)[own])
    return before - apart / (number - 2), 1
