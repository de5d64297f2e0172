"""What to know before a figure of agreement is used."""

from __future__ import annotations

from typing import Final

from tracker.render.nouns import count_noun

# By benchmarks/coverage_of_coefficients.py.
_HELD: Final = "83 to 98% of simulated samples of 50 items, and in 66 to 100% of those of 20"


def few_telling(items: int, compared: int) -> str:
    """Return that nearly all answers are one category, so that intervals are not to be trusted."""
    has = "has" if items == 1 else "have"
    told = (
        f"Only {count_noun(items, 'item')} could be compared."
        if items == compared
        else f"Only {items} of the {compared:,} items compared {has} anything but the most "
        "frequent answer."
    )
    return (
        f"{told} Where a category has 1% of the answers, 95% intervals of alpha and the kappas "
        f"held the truth in {_HELD}."
    )
