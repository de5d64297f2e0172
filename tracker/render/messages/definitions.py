"""Sentences about what is wrong with a definition, some of the items, or the design."""

from __future__ import annotations

from collections.abc import Sequence

from tracker.render.cells import figure_cell
from tracker.render.messages.findings import percent_text
from tracker.render.messages.report import listed
from tracker.render.nouns import count_noun


def divided(
    category: str, more: Sequence[str], less: Sequence[str], *, certain: bool = True
) -> str:
    """Return that a category is read in two ways, by whom, and what settles it."""
    if not certain:
        return (
            f"“{category}” may be read in two ways: {listed(more)} give it more often than the "
            f"others on the same items, {listed(less)} less often, but on too few items of three "
            "answers to tell whether each side agrees with itself."
        )
    return (
        f"“{category}” is read in two ways: {listed(more)} give it more often than the others on "
        f"the same items, {listed(less)} less often, and each side agrees with itself. The answers "
        f"cannot say who is right: settle the definition of “{category}”, or give the truth for "
        "30% of the items."
    )


def weak_slice(
    attribute: str, value: str, items: int, figure: float, elsewhere: float, explained: float
) -> str:
    """Return on which items the annotators agree less than on the rest."""
    return (
        f"Where {attribute} is {value}, alpha is {figure_cell(figure)} "
        f"({count_noun(items, 'item')}); elsewhere it is {figure_cell(elsewhere)}. "
        f"That explains {percent_text(explained)} of all disagreement."
    )


def first_clause(sentence: str) -> str:
    """Return what a sentence about a definition or a slice says first."""
    head, _, _ = sentence.partition(", and each side")
    return head if head.endswith(".") else f"{head}."
