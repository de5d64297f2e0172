"""A tally under a reading: which answers there are, in which order, and what cannot be compared."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.measures.strategies import answered, one_category, several_categories, tally
from tracker.core.errors import InvalidOption
from tracker.core.tallies import ItemPatterns
from tracker.measures.chance_corrected import brennan_prediger
from tracker.measures.sample import sample_for_measures

THREE = tally([[(1,), (2,)], [(2,), (2,)], [(5,), (1,), (2,)]])


def test_answers_stand_in_the_order_of_the_categories_and_others_follow():
    assert sample_for_measures(THREE, 3).table.answers == ((1,), (2,), (5,))
    assert sample_for_measures(THREE, 3, categories=[5, 9, 1]).table.answers == (
        (5,),
        (9,),
        (1,),
        (2,),
    )


def test_the_order_is_that_of_ranks():
    # In the order 5, 1, 2 the neighbours are 1 of 3 ranks apart, 5 and 2 are the ends.
    for first, second, agreement in ((5, 1, 2 / 3), (1, 2, 2 / 3), (5, 2, 0)):
        patterns = tally([[(first,), (second,)], [(2,)]])
        sample = sample_for_measures(patterns, 2, categories=[5, 1], weighting="ordinal")
        assert sample.observed == pytest.approx(agreement)


def test_categories_that_are_not_declared_are_only_those_used():
    declared = sample_for_measures(THREE, 3, categories=[1, 2, 3, 4, 5])
    used = sample_for_measures(THREE, 3, categories=[1, 2, 3, 4, 5], declared=False)
    assert used.table.answers == ((1,), (2,), (5,))
    assert brennan_prediger(declared).parts.expected == pytest.approx(1 / 5)
    assert brennan_prediger(used).parts.expected == pytest.approx(1 / 3)
    assert used.shares == pytest.approx(declared.shares[[0, 1, 4]])


@given(answered(one_category | several_categories))
def test_counts_are_those_of_the_tally(answers):
    sample = answers.sample(several=True)
    assert sample.items == answers.patterns.items
    assert sample.compared == answers.patterns.items_compared
    assert sample.shares.sum() == pytest.approx(1)
    assert sample.table.sizes @ sample.table.items == answers.patterns.answers


@pytest.mark.parametrize(
    ("patterns", "annotators", "reason"),
    [
        (ItemPatterns(), 3, "too_few_items"),
        (ItemPatterns({((), 1): 0}), 3, "too_few_items"),
        (tally([[(1,)], [(2,)]]), 1, "too_few_annotators"),
        (tally([[(1,)], [(2,)]]), 2, "no_overlap"),
        (THREE, 3, None),
    ],
)
def test_why_nothing_can_be_compared(patterns, annotators, reason):
    assert sample_for_measures(patterns, annotators).why_not == reason


def test_weights_by_number_need_numbers_and_by_rank_none():
    with pytest.raises(InvalidOption, match="numeric"):
        sample_for_measures(THREE, 3, weighting="linear")
    assert sample_for_measures(THREE, 3, weighting="linear", by_rank=True).reading == {
        "weights": "linear"
    }
