"""Small projects as plain rows, the other way to look at what the tallies count."""

from __future__ import annotations

from collections import Counter

from hypothesis import strategies as st

from tracker.tally import Answer, ItemPatterns, make_pattern

Rows = list[list[Answer]]  # per item, the answers it got

one_category = st.integers(0, 3).map(lambda category: (category,))
several_categories = st.sets(st.integers(0, 3)).map(lambda held: tuple(sorted(held)))


def projects(
    answer: st.SearchStrategy[Answer], least: int = 0, items: int = 8
) -> st.SearchStrategy[Rows]:
    """Up to ``items`` items of ``least`` to five answers."""
    return st.lists(st.lists(answer, min_size=least, max_size=5), max_size=items)


def tally(rows: Rows) -> ItemPatterns:
    return ItemPatterns(Counter(make_pattern(given) for given in rows if given))
