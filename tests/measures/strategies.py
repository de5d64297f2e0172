"""Small projects as plain rows, the other way to look at what the tallies count."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import strategies as st

from tests.measures.answered import Answered
from tracker.core.tallies import Answer, ItemPatterns, make_pattern

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


def answered(
    answer: st.SearchStrategy[Answer] = one_category, annotators: int = 4, items: int = 8
) -> st.SearchStrategy[Answered]:
    """Up to ``items`` items, each answered by some of the annotators."""
    given = st.dictionaries(st.integers(1, annotators), answer, min_size=1)
    return st.lists(given, min_size=1, max_size=items).map(Answered)


def complete(
    answer: st.SearchStrategy[Answer] = one_category, annotators: int = 2, items: int = 10
) -> st.SearchStrategy[Answered]:
    """Two items or more, each answered by all annotators."""
    given = st.tuples(*[answer] * annotators).map(lambda row: dict(enumerate(row, 1)))
    return st.lists(given, min_size=2, max_size=items).map(Answered)


def crowd(items: int, seed: int, *, answering: float = 1.0) -> Answered:
    """Answers of four annotators who know the truth with an accuracy of 0.7, and guess otherwise.

    Each of them answers a share ``answering`` of the items; every item has an answer.
    """
    random, shares = np.random.default_rng(seed), (0.4, 0.3, 0.2, 0.1)
    truth = random.choice(4, items, p=shares)
    guesses = random.choice(4, (items, 4), p=shares)
    right = random.random((items, 4)) < 0.7
    present = random.random((items, 4)) < answering
    present[np.arange(items), random.integers(4, size=items)] = True
    answers = np.where(right, truth[:, None], guesses).tolist()
    rows = [np.flatnonzero(row).tolist() for row in present]
    return Answered(
        [{name: (answers[item][name],) for name in row} for item, row in enumerate(rows)]
    )
